// The decoding of a large message on a worker, while its link goes on.
//
// Decoding 30 MB takes 23 ms, and freeing their block another 4. On an I/O thread all later
// messages would wait for that. So the link keeps the message's block, and a short-lived actor
// reads it on a worker. All workers may wait in handlers for credit that only this message's
// confirmation gives; then the link takes the message back, unless a worker has begun with it. The
// link also takes it back if no worker begins for a while. The actor stays in its queue then, but
// keeps no bytes.
//
// Invariants:
//   D1  The thread that makes the step from `waits` reads the message: a worker (`runs`), or the
//       link (`taken`). Until then no thread looks at its bytes.
//   D2  From `done` or `taken` on only the link touches it. In `done` there is a value or an error,
//       or `needs_link` is true and the bytes are still there.
//   D3  The actor keeps the bytes only in `waits` and `runs`, since it may stay in a worker's queue
//       for long. The link takes them out in `taken`.
//
// Thread safety: `run` and `give_back` on any thread, all else for the thread in the link.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/net/layer/internal/growing_bytes.hpp>
#include <garrick/net/node/handle_codec.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/wire/known_codecs.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace garrick::net::internal {

/// The first byte of a handle.
enum class handle_kind : std::uint8_t {
  empty,      ///< to no actor
  senders,    ///< to an actor that the writing end exports
  receivers,  ///< to an actor that the reading end exports: the handle comes home
};

/// Returns the value of a payload, or `decode_failed` from the reader or for a user's codec that
/// throws. If there is no memory for the error's text, it has its code alone. `names`: as in
/// `decode_limits`. `cost`, if not null, gets the bytes that the payload has expanded to, also if
/// there is no value.
[[nodiscard]] base::result<core::envelope*> read_payload(const content_codec& how,
                                                         std::span<const std::byte> payload,
                                                         handle_porter& handles,
                                                         foreign_names* names = nullptr,
                                                         std::size_t* cost = nullptr) noexcept;

/// A large message that a worker is to decode.
class decoding {
 public:
  /// `payload` must lie in `bytes`. The codec is a constant. `names`: as in `decode_limits`.
  decoding(growing_bytes bytes, std::span<const std::byte> payload, const content_codec& how,
           std::shared_ptr<foreign_names> names = nullptr) noexcept
      : how_(how), payload_(payload), bytes_(std::move(bytes)), names_(std::move(names)) {}

  /// Decodes the message, unless the link has taken it.
  void run() noexcept;
  /// Leaves the message to the link, since no worker will run this.
  void give_back() noexcept { static_cast<void>(take()); }

  /// Takes the message from a worker that has not begun. Returns true if the worker's part is over.
  [[nodiscard]] bool take() noexcept {
    stage now = stage::waits;
    // order: relaxed; the bytes are the link's, and no other thread has looked at them (D1).
    return stage_.compare_exchange_strong(now, stage::taken, std::memory_order_relaxed) ||
           now == stage::taken || is_done();
  }
  /// Returns the same without taking the message: false while a worker decodes it, or has yet to
  /// begin.
  [[nodiscard]] bool is_over() const noexcept {
    // order: relaxed; as in `take`.
    return stage_.load(std::memory_order_relaxed) == stage::taken || is_done();
  }
  /// Returns true while no worker has begun, and the link has not taken the message.
  [[nodiscard]] bool waits() const noexcept {
    return stage_.load(std::memory_order_relaxed) == stage::waits;  // order: relaxed; a hint
  }

  // ---- once `is_over` ---------------------------------------------------------------------------

  /// Returns true if there is a value or an error. False: no worker has read the message, or only
  /// the link can, and the bytes are still there.
  [[nodiscard]] bool has_result() const noexcept { return is_done() && !needs_link_; }
  /// Returns the value, which becomes the caller's, or the error. Requires that there is a result.
  [[nodiscard]] base::result<core::envelope*> result(const content_codec& as);
  /// Returns the bytes that the message has expanded to.
  [[nodiscard]] std::size_t cost() const noexcept { return cost_; }
  /// Returns true if the message has a handle that only the link can read.
  [[nodiscard]] bool needs_link() const noexcept { return needs_link_; }
  [[nodiscard]] const content_codec& how() const noexcept { return how_; }
  /// Returns the bytes, at the same addresses.
  [[nodiscard]] growing_bytes take_bytes() noexcept { return std::move(bytes_); }

 private:
  enum class stage : std::uint8_t { waits, runs, done, taken };
  [[nodiscard]] bool is_done() const noexcept {
    // order: acquire, pairs with the release in `run`: makes the result visible.
    return stage_.load(std::memory_order_acquire) == stage::done;
  }

  const content_codec& how_;
  const std::span<const std::byte> payload_;
  // The worker's while it runs, else the link's:
  growing_bytes bytes_;
  const std::shared_ptr<foreign_names> names_;  // may be null; a worker may outlive the link
  core::envelope_ptr value_;
  base::error why_;
  std::size_t cost_ = 0;
  bool needs_link_ = false;

  std::atomic<stage> stage_{stage::waits};
};

}  // namespace garrick::net::internal
