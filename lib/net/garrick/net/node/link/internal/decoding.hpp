// A large message that is decoded on a worker, while its link goes on.
//
// To decode 30 MB takes 23 ms, and to free what they came in another 4. On an I/O thread everybody
// behind it would wait for that. So the link keeps the message's block, and a short-lived actor
// reads it on a worker. All workers may wait in handlers for credit that only this message's
// confirmation gives; then the link takes it back, unless one has begun with it. It does so, too,
// if no worker begins for a while. The actor stays in its queue then, but keeps no bytes.
//
// Invariants:
//   D1  The thread that makes the step from `waits` reads the message: a worker (`runs`), or the
//       link (`taken`). Until then no thread looks at its bytes.
//   D2  From `done` or `taken` on only the link touches it. If it says `done`, there is a value, or
//       an error, or the bytes are still there and `needs_link`.
//   D3  The actor keeps the bytes only in `waits` and `runs`, since it may stay in a worker's queue
//       for long. The link takes them out in `taken`.
//
// Thread safety: `run` and `give_back` on any thread, all else where the link is.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/net/layer/internal/growing_bytes.hpp>
#include <garrick/net/node/handle_codec.hpp>
#include <garrick/net/node/protocol_table.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace garrick::net::internal {

/// The first byte of a handle.
enum class handle_kind : std::uint8_t {
  empty,      ///< of no actor
  senders,    ///< the number was given by the writing end
  receivers,  ///< it comes home
};

/// The value of a payload; or `decode_failed`, from the reader or from a user's codec that throws.
/// Without memory for its text, that error has its code alone.
[[nodiscard]] base::result<core::envelope*> read_payload(const content_codec& how,
                                                         std::span<const std::byte> payload,
                                                         handle_porter& handles) noexcept;

/// A large message on its way to a worker.
class decoding {
 public:
  /// `payload` lies in `bytes`. The codec is a constant.
  decoding(growing_bytes bytes, std::span<const std::byte> payload,
           const content_codec& how) noexcept
      : how_(how), payload_(payload), bytes_(std::move(bytes)) {}

  /// Decodes, unless the link has taken it.
  void run() noexcept;
  /// No worker will run it; the link is to do so.
  void give_back() noexcept { static_cast<void>(take()); }

  /// Takes it from a worker that has not begun. Returns true if the worker's part is over.
  [[nodiscard]] bool take() noexcept {
    stage now = stage::waits;
    // order: relaxed; the bytes are the link's, and nobody else has looked at them (D1).
    return stage_.compare_exchange_strong(now, stage::taken, std::memory_order_relaxed) ||
           now == stage::taken || is_done();
  }
  /// The same without taking it: false while a worker has it, or is to have it.
  [[nodiscard]] bool is_over() const noexcept {
    // order: relaxed; as in `take`.
    return stage_.load(std::memory_order_relaxed) == stage::taken || is_done();
  }
  /// No worker has begun.
  [[nodiscard]] bool waits() const noexcept {
    return stage_.load(std::memory_order_relaxed) == stage::waits;  // order: relaxed; a hint
  }

  // Once it is over:
  /// Returns false if no worker has read it, or only the link can; the bytes are as they came.
  [[nodiscard]] bool has_result() const noexcept { return is_done() && !needs_link_; }
  /// The value, which becomes the caller's. Requires that there is a result.
  [[nodiscard]] base::result<core::envelope*> result(const content_codec& as);
  /// It has a handle that only the link can read.
  [[nodiscard]] bool needs_link() const noexcept { return needs_link_; }
  [[nodiscard]] const content_codec& how() const noexcept { return how_; }
  /// The bytes, at the same addresses. Requires that it is over.
  [[nodiscard]] growing_bytes take_bytes() noexcept { return std::move(bytes_); }

 private:
  enum class stage : std::uint8_t { waits, runs, done, taken };
  [[nodiscard]] bool is_done() const noexcept {
    // order: acquire, pairs with the release in `run`: what it has written is seen.
    return stage_.load(std::memory_order_acquire) == stage::done;
  }

  const content_codec& how_;
  const std::span<const std::byte> payload_;
  // the worker's while it runs, else the link's
  growing_bytes bytes_;
  core::envelope_ptr value_;
  base::error why_;
  bool needs_link_ = false;

  std::atomic<stage> stage_{stage::waits};
};

}  // namespace garrick::net::internal
