// The handles in one frame, on its way out or in.
//
// A handle is written as the number of an actor, which is exported by that; or, if the actor is the
// peer's, as the number that the peer has given, since it comes home there. What was exported for a
// frame that is not sent after all is taken back. Of the handles in a frame that comes each is read
// at most once, and the peer is told of those that were not, since it holds their actors until
// then.
//
// Invariants
// X1 A handle counts as sent exactly if `encode` has returned a packet with it.
// X2 Each number behind a frame's payload makes one proxy count one handle more, or is returned by
//    `next_unread`, and not both.
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

/// See above.
class handles final : public handle_porter {
 public:
  /// `most`: actors that the peer may know.
  handles(exports& from, proxies& to, std::size_t most) noexcept
      : exports_(from), proxies_(to), most_(most) {}
  handles(const handles&) = delete;
  handles& operator=(const handles&) = delete;

  // ---- out --------------------------------------------------------------------------------------

  /// Encodes a user's value behind `front` bytes of room, and says in `f` how many handles it has.
  /// Above `largest` bytes it fails, and so it does if the codec throws.
  [[nodiscard]] base::result<packet> encode(const content_codec& how, const void* value, frame& f,
                                            std::size_t front,
                                            std::size_t largest = writer_settings().largest);
  /// Returns true if what was encoded last has a handle that comes home: it names what must not be
  /// gone when it comes.
  [[nodiscard]] bool brings_home() const noexcept { return brings_home_; }

  // ---- in ---------------------------------------------------------------------------------------

  /// A frame without handles is read now, also if the last one has thrown.
  void expect_none() noexcept { in_.handles = 0; }
  /// A frame is read now. Its bytes stay until `next_unread` returns nothing.
  void expect(const frame& f) {
    in_ = f;
    unread_ = 0;
    was_read_.assign(f.handles, false);
  }
  /// Returns the number of a handle that was not read, each once.
  [[nodiscard]] std::optional<actor_id> next_unread() noexcept;

 private:
  void write(byte_writer& out, core::cell* who, const protocol_table& as) override;
  [[nodiscard]] core::cell* read(byte_reader& in, const protocol_table& as) override;

  exports& exports_;
  proxies& proxies_;
  const std::size_t most_;
  std::vector<actor_id> sent_;  // by the encoding that is under way
  bool brings_home_ = false;    // that has written a handle of the peer's
  frame in_;                    // whose handles are read now
  std::vector<bool> was_read_;  // which of them were
  std::uint32_t unread_ = 0;    // those before were read, or returned
};

}  // namespace garrick::net::internal
