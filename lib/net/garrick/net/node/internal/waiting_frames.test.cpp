#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/internal/waiting_frames.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace waiting_frames_test {

using namespace garrick;
using net::packet;
using net::internal::waiting_frames;

class nobody : public actor<protocol<void(int)>> {
 public:
  void on(int) {}
};

struct fixture {
  actor_system system;
  ref<protocol<void(int)>> one = system.spawn<nobody>();
  core::cell* cell = core::handle_access::get(one);
  base::message_type const* type = &base::message_type_of<int>;

  core::envelope_ptr envelope(int n) const {
    return core::envelope_ptr(core::detail::make_envelope<int>(n));
  }
  packet frame(std::size_t size) const {
    packet p = packet::with_room(8, size);
    std::byte* const to = p.append(size);
    for (std::size_t i = 0; i != size; ++i) to[i] = static_cast<std::byte>(i % 251);
    return p;
  }
};

void nothing_is_left(waiting_frames::entry&) noexcept { FAIL_CHECK("an entry is left"); }

}  // namespace waiting_frames_test

using namespace waiting_frames_test;

TEST_CASE(
    "waiting frames: small ones, large ones, envelopes and signals are taken in their order") {
  const fixture f;
  waiting_frames all(1000, 1 << 20);
  const base::instant until = base::instant::at(base::duration::seconds(7));
  CHECK_FALSE(all.any());
  CHECK(all.add({.to = f.cell, .type = f.type, .sender = 3, .lane = 2}, f.frame(100)));
  CHECK_FALSE(all.add({.to = f.cell, .type = f.type}, f.frame(10'000)));
  core::envelope_ptr e = f.envelope(4);
  CHECK_FALSE(all.add({.to = f.cell, .until = until}, e, false));
  CHECK(e == nullptr);
  CHECK_FALSE(all.any_signals());
  e = f.envelope(5);
  CHECK(all.add({.to = f.cell}, e, true));  // a signal always brings a visit
  CHECK(all.any_signals());
  waiting_frames::batch taken(&nothing_is_left);
  REQUIRE(all.take(taken));
  CHECK_FALSE(all.any());
  CHECK_FALSE(all.any_signals());
  CHECK(taken.any_signals());
  waiting_frames::entry x;
  REQUIRE(taken.next(x));
  CHECK(x.bytes.size() == 100);
  CHECK(x.bytes[99] == std::byte{99});
  CHECK(x.what.sender == 3);
  CHECK(x.what.lane == 2);
  REQUIRE(taken.next(x));
  CHECK(x.whole.size() == 10'000);
  REQUIRE(taken.next(x));
  CHECK(*static_cast<const int*>(x.envelope->raw()) == 4);
  CHECK(x.what.until == until);
  CHECK_FALSE(x.is_signal);
  REQUIRE(taken.next(x));
  CHECK(x.is_signal);
  CHECK_FALSE(taken.any_signals());
  CHECK(taken.empty());
  CHECK_FALSE(taken.next(x));
  CHECK_FALSE(all.take(taken));
}

TEST_CASE("waiting frames: messages and bytes have a limit, signals none") {
  const fixture f;
  waiting_frames::batch taken(+[](waiting_frames::entry&) noexcept {});
  waiting_frames few(3, 1 << 20);
  for (int i = 0; i != 3; ++i) {
    CHECK(few.has_room());
    static_cast<void>(few.add({.to = f.cell}, f.frame(1)));
  }
  CHECK_FALSE(few.has_room());
  core::envelope_ptr e = f.envelope(1);
  static_cast<void>(few.add({.to = f.cell}, e, true));
  CHECK(few.take(taken));
  CHECK(few.has_room());

  waiting_frames::batch others(+[](waiting_frames::entry&) noexcept {});
  waiting_frames small(1000, 5000);
  static_cast<void>(small.add({.to = f.cell}, f.frame(4999)));
  CHECK(small.has_room());
  static_cast<void>(small.add({.to = f.cell}, f.frame(1)));
  CHECK_FALSE(small.has_room());
  CHECK(small.take(others));
  CHECK(small.has_room());
}
