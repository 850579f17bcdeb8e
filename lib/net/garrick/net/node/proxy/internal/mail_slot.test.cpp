#include <doctest/doctest.h>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/node/proxy/internal/mail_slot.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mail_slot_test {

using namespace garrick;
using net::packet;
using net::internal::mail_slot;
using kind = mail_slot::kind;

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

/// A proxy without an actor, which reports that it is freed.
class probe final : public core::proxy_cell {
 public:
  probe(core::environment& env, int& freed) : proxy_cell(env), freed_(freed) {}
  std::string_view type_name() const noexcept override { return "probe"; }

 private:
  ~probe() = default;
  void forward(core::envelope_ptr, base::instant) noexcept override {}
  void forward_signal(core::envelope_ptr) noexcept override {}
  void free_self() noexcept override {
    ++freed_;
    delete this;
  }
  int& freed_;
};

void nothing_is_left(mail_slot::entry&) noexcept { FAIL_CHECK("an entry is left"); }

TEST_CASE(
    "waiting frames: small ones, large ones, envelopes and signals are taken in their order") {
  const fixture f;
  mail_slot all(1 << 20);
  const base::instant until = base::instant::at(base::duration::seconds(7));
  CHECK_FALSE(all.any());
  CHECK(all.add({.to = f.cell, .type = f.type, .sender = 3, .lane = 2}, f.frame(100)));
  CHECK_FALSE(all.add({.to = f.cell, .type = f.type}, f.frame(10'000)));
  core::envelope_ptr e = f.envelope(4);
  CHECK_FALSE(all.add({.to = f.cell, .until = until}, e, kind::message));
  CHECK(e == nullptr);
  CHECK_FALSE(all.any_signals());
  e = f.envelope(5);
  CHECK(all.add({.to = f.cell}, e, kind::signal));  // a signal always brings a visit
  CHECK(all.any_signals());
  mail_slot::batch taken(&nothing_is_left);
  REQUIRE(all.take(taken));
  CHECK_FALSE(all.any());
  CHECK_FALSE(all.any_signals());
  CHECK(taken.any_signals());
  mail_slot::entry x;
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
  CHECK(x.as == kind::message);
  REQUIRE(taken.next(x));
  CHECK(x.as == kind::signal);
  CHECK_FALSE(taken.any_signals());
  CHECK(taken.empty());
  CHECK_FALSE(taken.next(x));
  CHECK_FALSE(all.take(taken));
}

TEST_CASE("waiting frames: the answer to a request is due until its taker is done with it") {
  fixture f;
  mail_slot all(1 << 20);
  const auto request = [&] {
    core::envelope_ptr e = f.envelope(1);
    e->requester = f.cell;  // held by `one`: the flag is cleared before the envelope goes
    e->set(core::envelope_flag::request);
    return e;
  };
  const auto due = [&] { return f.system.env().outside_due(); };
  core::envelope_ptr e = f.envelope(1);
  static_cast<void>(all.add({.to = f.cell}, e, kind::message));
  CHECK(due() == 0);
  e = request();
  static_cast<void>(all.add({.to = f.cell}, e, kind::message, 100));
  e = request();
  static_cast<void>(all.add({.to = f.cell}, e, f.frame(10)));
  CHECK(due() == 2);
  {
    mail_slot::batch rest(+[](mail_slot::entry& lost) noexcept {
      CHECK(lost.whole.size() == 10);
      lost.envelope->clear(core::envelope_flag::request);
    });
    REQUIRE(all.take(rest));
    mail_slot::entry x;
    REQUIRE(rest.next(x));
    REQUIRE(rest.next(x));
    CHECK(x.whole.empty());
    CHECK(due() == 2);
    x.envelope->clear(core::envelope_flag::request);
  }
  CHECK(due() == 0);
}

TEST_CASE("waiting frames: more than a chunk holds, and again into a chunk that was read") {
  const fixture f;
  mail_slot all(1 << 20);
  mail_slot::batch taken(&nothing_is_left);
  mail_slot::entry x;
  std::uint64_t added = 0;
  std::uint64_t read = 0;
  for (const int frames : {40, 1, 17, 100, 3}) {
    for (int i = 0; i != frames; ++i)
      CHECK(all.add({.to = f.cell, .type = f.type, .sender = ++added}, f.frame(1000)) == (i == 0));
    REQUIRE(all.take(taken));
    while (taken.next(x)) {
      CHECK(x.what.sender == ++read);
      CHECK(x.bytes.size() == 1000);
      CHECK(x.bytes[999] == std::byte{999 % 251});
    }
    CHECK(read == added);
  }
}

TEST_CASE("waiting frames: answers and releases have their place, and take no room") {
  const fixture f;
  mail_slot all(1);
  core::envelope_ptr e = f.envelope(1);
  core::envelope_ptr nothing;
  CHECK(all.add({.to = f.cell}, e, kind::answer));
  CHECK_FALSE(all.add({.to = f.cell}, nothing, kind::release));
  CHECK(all.has_room());
  CHECK_FALSE(all.any_signals());
  CHECK(all.answers() == 1);
  CHECK_FALSE(all.add({.to = f.cell}, f.frame(1)));
  CHECK_FALSE(all.has_room());
  mail_slot::batch taken(&nothing_is_left);
  REQUIRE(all.take(taken));
  CHECK(all.answers() == 0);
  CHECK(taken.answers() == 1);
  mail_slot::entry x;
  REQUIRE(taken.next(x));
  CHECK(taken.answers() == 0);
  CHECK(x.as == kind::answer);
  CHECK(*static_cast<const int*>(x.envelope->raw()) == 1);
  REQUIRE(taken.next(x));
  CHECK(x.as == kind::release);
  CHECK(x.envelope == nullptr);
  REQUIRE(taken.next(x));
  CHECK(x.as == kind::message);
  CHECK(x.bytes.size() == 1);
  CHECK_FALSE(taken.next(x));
}

TEST_CASE("waiting frames: answers with an encoded payload are answers, too") {
  const fixture f;
  mail_slot all(1);
  std::uint64_t number = 0;
  for (const std::size_t size : {0u, 5u, 10'000u}) {
    ++number;
    const mail_slot::about what{.to = f.cell, .type = f.type, .sender = number};
    CHECK(all.add(what, f.frame(size), kind::answer) == (number == 1));
  }
  CHECK(all.has_room());
  CHECK(all.answers() == 3);
  mail_slot::batch taken(&nothing_is_left);
  REQUIRE(all.take(taken));
  number = 0;
  for (const std::size_t size : {0u, 5u, 10'000u}) {
    CAPTURE(size);
    CHECK(taken.answers() == 3 - number);
    mail_slot::entry x;
    REQUIRE(taken.next(x));
    CHECK(x.as == kind::answer);
    CHECK(x.envelope == nullptr);
    CHECK(x.what.type == f.type);
    CHECK(x.what.sender == ++number);
    CHECK(x.size() == size);
    CHECK(x.whole.empty() == (size < 10'000));
  }
  CHECK(taken.answers() == 0);
}

TEST_CASE("waiting frames: bytes have a limit, signals none") {
  const fixture f;
  mail_slot::batch others(+[](mail_slot::entry&) noexcept {});
  mail_slot small(5000);
  static_cast<void>(small.add({.to = f.cell}, f.frame(4900)));
  CHECK(small.has_room());
  static_cast<void>(small.add({.to = f.cell}, f.frame(100)));
  CHECK_FALSE(small.has_room());
  core::envelope_ptr e = f.envelope(1);
  CHECK(small.add({.to = f.cell}, e, kind::signal));
  CHECK(small.take(others));
  CHECK(small.has_room());
  // The overhead of an entry counts, too: even of the smallest, thousands do not fit.
  int several = 0;
  for (; small.has_room(); ++several) static_cast<void>(small.add({.to = f.cell}, f.frame(1)));
  CHECK(several < 110);
  mail_slot::batch rest(+[](mail_slot::entry&) noexcept {});
  CHECK(!others.empty());
  for (mail_slot::entry x; others.next(x);) x.envelope.reset();
  CHECK(small.take(rest));
}

TEST_CASE(
    "waiting frames: a message that is not encoded yet counts as said, and so does the link") {
  const fixture f;
  mail_slot few(1000);
  core::envelope_ptr large = f.envelope(1);
  CHECK(few.add({.to = f.cell}, large, kind::message, 1000));
  CHECK_FALSE(few.has_room());
  mail_slot::batch taken(&nothing_is_left);
  CHECK(few.take(taken));
  for (mail_slot::entry x; taken.next(x);) x.envelope.reset();
  CHECK(few.has_room());
  few.wait_in_front(1000);
  CHECK_FALSE(few.has_room());
  few.wait_in_front(999);
  CHECK(few.has_room());
  CHECK_FALSE(few.is_long());
  few.stand(true);
  CHECK(few.is_long());
}

TEST_CASE("waiting frames: each entry keeps its proxy until the next one is taken") {
  fixture f;
  int freed = 0;
  auto* const first = new probe(f.system.env(), freed);
  auto* const second = new probe(f.system.env(), freed);
  mail_slot all(1 << 20);
  for (probe* const p : {first, first, second, first})
    static_cast<void>(all.add({.to = p}, f.frame(1)));
  mail_slot::batch taken(&nothing_is_left);
  REQUIRE(all.take(taken));
  for (probe* const p : {first, first}) static_cast<void>(all.add({.to = p}, f.frame(1)));
  first->drop_strong();
  second->drop_strong();
  mail_slot::entry x;
  for (probe* const p : {first, first, second, first}) {
    CHECK(freed == 0);
    REQUIRE(taken.next(x));
    CHECK(x.what.to == p);
  }
  CHECK(freed == 1);
  CHECK_FALSE(taken.next(x));
  REQUIRE(all.take(taken));
  for (int i = 0; i != 2; ++i) {
    REQUIRE(taken.next(x));
    CHECK(freed == 1);
  }
  CHECK_FALSE(taken.next(x));
  CHECK(freed == 2);
}

}  // namespace mail_slot_test
