// A stack that keeps the frames that it gets, for tests of the code above a stack.
//
// Thread safety: one thread's.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/stack/any_link.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace link_test {

using namespace garrick;

/// Returns a frame of this kind and number, with sixteen bytes of payload where it may have some.
inline net::outgoing frame_of(net::frame_kind kind, std::uint64_t number) {
  net::packet p = net::packet::with_room(net::frame_room, 16);
  const bool has_payload = kind == net::frame_kind::response || kind == net::frame_kind::error ||
                           kind == net::frame_kind::down;
  if (has_payload) static_cast<void>(p.append(16));
  return net::to_outgoing(
      {.kind = kind, .receiver = {1, 2}, .sender = {3, 4}, .number = number, .type = 5},
      std::move(p));
}

/// See above.
class stack_of_frames final : public net::any_link {
 public:
  bool has_room = true;
  std::size_t most = ~std::size_t{0};  ///< frames for which there is room, in all
  base::error refuses{};
  std::vector<net::outgoing> sent;

  /// Returns the numbers of the frames that were sent.
  [[nodiscard]] std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> all;
    for (const net::outgoing& m : sent) all.push_back(net::decode_frame(m.bytes.bytes())->number);
    return all;
  }

  base::error send(net::outgoing&& m, base::instant) override {
    if (!refuses) sent.push_back(std::move(m));
    return refuses;
  }
  bool writable() const override { return has_room && sent.size() < most; }
  void delivered(net::lane_number, base::instant) override {}
  std::size_t header_size() const override { return 0; }
  void leave(base::instant) override {}
  void connected(base::instant) override {}
  void disconnected(const base::error&, base::instant) override {}
  void receive(std::span<const std::byte>, base::instant) override {}
  void carrier_writable(base::instant) override {}
  void path_changed(std::size_t, base::instant) override {}
  void over(const base::error&, base::instant) override {}
  base::instant deadline() const override { return base::instant::never(); }
  void advance(base::instant) override {}
};

}  // namespace link_test
