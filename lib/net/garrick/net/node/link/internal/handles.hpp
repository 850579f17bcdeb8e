// The handles in one frame, on its way out or in.
//
// Writing a handle exports its actor, and writes the actor's number. A handle to an actor of the
// peer comes home there, and is written as the number that the peer has given. The exports of a
// frame that is not sent after all are taken back. Each handle of an incoming frame is read at most
// once. Handles that were not read are reported to the peer, which holds their actors until then.
//
// Invariants
// X1 A handle counts as sent exactly if `encode` has returned a packet with it.
// X2 Each number behind a frame's payload either makes one proxy count one handle more, or is
//    returned by `next_unread`.
//
// Thread safety: for the thread in the link.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/net/node/handle_codec.hpp>
#include <garrick/net/node/link/internal/exports.hpp>
#include <garrick/net/node/proxy/internal/proxies.hpp>
#include <garrick/net/packet.hpp>
#include <garrick/net/wire/byte_reader.hpp>
#include <garrick/net/wire/byte_writer.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace garrick::net::internal {

/// The handles of one link's frames.
class handles final : public handle_porter {
 public:
  /// `most`: the most actors that the peer may know.
  handles(exports& from, proxies& to, std::size_t most) noexcept
      : exports_(from), proxies_(to), most_(most) {}
  handles(const handles&) = delete;
  handles& operator=(const handles&) = delete;

  // ---- out --------------------------------------------------------------------------------------

  /// Encodes a user's value behind `front` bytes of room, and sets `f.handles`. Fails if the result
  /// has more than `largest` bytes, or if the codec throws.
  [[nodiscard]] base::result<packet> encode(const content_codec& how, const void* value, frame& f,
                                            std::size_t front,
                                            std::size_t largest = writer_settings().largest);
  /// Releases the handles of the last encoded value, which is not sent.
  void take_back() noexcept;
  /// Returns true if the last encoded value has a handle that comes home: its actor must still be
  /// held there when the frame arrives.
  [[nodiscard]] bool brings_home() const noexcept { return brings_home_; }

  // ---- in ---------------------------------------------------------------------------------------

  /// Begins to read a frame without handles, also if reading the last frame has thrown.
  void expect_none() noexcept { in_.handles = 0; }
  /// Begins to read a frame. Its bytes must stay until `next_unread` returns no value.
  void expect(const frame& f) {
    in_ = f;
    unread_ = 0;
    was_read_.assign(f.handles, false);
  }
  /// Returns the numbers of the handles that were not read, one at each call; then no value.
  [[nodiscard]] std::optional<actor_id> next_unread() noexcept;

 private:
  void write(byte_writer& out, core::cell* who, const protocol_table& as) override;
  [[nodiscard]] core::cell* read(byte_reader& in, const protocol_table& as) override;

  exports& exports_;
  proxies& proxies_;
  const std::size_t most_;
  std::vector<actor_id> sent_;  // exported by the current `encode`
  bool brings_home_ = false;    // the current `encode` has written a handle of the peer's
  frame in_;                    // the frame that is being read
  std::vector<bool> was_read_;  // for each of its handles
  std::uint32_t unread_ = 0;    // all handles before this one were read, or returned
};

}  // namespace garrick::net::internal
