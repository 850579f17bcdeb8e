// The outbox of a link: the way of the frames of each class, the room for which they wait, and the
// counts of those that wait.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/node/link/internal/outbox.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "net/node/link/stack_of_frames.hpp"

namespace outbox_test {

using namespace garrick;
using namespace garrick::net;
using internal::mail_slot;
using internal::outbox;
using link_test::frame_of;
using link_test::stack_of_frames;
using enum outbox::frame_class;

void lost(mail_slot::entry&) noexcept { FAIL_CHECK("an entry is left"); }

struct fixture : outbox::owner {
  mail_slot slot{1000};
  stack_of_frames stack;
  outbox out{
      slot, stack, *this, {.refused_bytes = 400, .ends = 1, .grants = 2, .signals = 2}, &lost};
  std::vector<std::uint64_t> given_up;
  bool wants = true;

  void post(frame_kind kind, std::uint64_t number) { out.post(frame_of(kind, number), {}); }
  /// Posts the end of an actor, which goes behind the actor's messages.
  void post_down(std::uint64_t number) {
    outgoing m = frame_of(frame_kind::down, number);
    m.lane = 1;
    out.post(std::move(m), {});
  }
  void give_up(outgoing& m, const base::error&) override {
    given_up.push_back(decode_frame(m.bytes.bytes())->number);
  }
  bool may_leave(outgoing& m) override {
    if (!wants) give_up(m, {});
    return wants;
  }
};

TEST_CASE("outbox: a frame goes at once while the stack has room, and waits in order without") {
  fixture of;
  of.post(frame_kind::cancel, 1);
  of.stack.has_room = false;
  of.post(frame_kind::cancel, 2);
  of.post(frame_kind::cancel, 3);
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1});
  CHECK_FALSE(of.out.is_idle());
  of.stack.has_room = true;
  of.post(frame_kind::cancel, 4);  // behind the waiting frames
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1});
  CHECK(of.out.flush({}));
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(of.out.is_idle());
}

TEST_CASE("outbox: no more is flushed than the stack has room for") {
  fixture of;
  of.stack.has_room = false;
  for (std::uint64_t i = 1; i <= 3; ++i) of.post(frame_kind::cancel, i);
  CHECK_FALSE(of.out.flush({}));
  CHECK(of.stack.sent.empty());
  of.stack.has_room = true;
  of.stack.most = 2;
  CHECK_FALSE(of.out.flush({}));
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1, 2});
  CHECK_FALSE(of.out.is_idle());
  of.stack.most = 3;
  CHECK(of.out.flush({}));
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("outbox: ready frames take room of the slot until they are flushed") {
  fixture of;
  of.stack.has_room = false;
  while (of.slot.has_room()) of.post(frame_kind::cancel, 1);
  of.stack.has_room = true;
  CHECK(of.out.flush({}));
  CHECK(of.slot.has_room());
}

TEST_CASE("outbox: a signal does not overtake those that wait") {
  fixture of;
  for (std::uint64_t i = 1; i <= 3; ++i) of.post(frame_kind::monitor, i);
  of.out.signal_settled();
  of.post(frame_kind::monitor, 4);  // O1: there is room for it, and 3 is before it
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1, 2});
  of.out.signal_settled();
  of.out.send_signals({});
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1, 2, 3, 4});
}

TEST_CASE("outbox: signals do not wait for the room of others, and only so many are under way") {
  fixture of;
  of.stack.has_room = false;
  for (std::uint64_t i = 1; i <= 4; ++i) of.post(frame_kind::monitor, i);
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1, 2});
  of.out.signal_settled();
  of.out.send_signals({});
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1, 2, 3});
  for (int i = 0; i < 2; ++i) of.out.signal_settled();
  CHECK(of.out.any_signals());
  of.stack.refuses = net_errc::overload;  // no room within this call
  of.out.send_signals({});
  CHECK(of.out.any_signals());
  of.stack.refuses = {};
  of.out.send_signals({});
  CHECK(of.stack.numbers() == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK_FALSE(of.out.is_idle());  // it is not confirmed
  of.out.signal_settled();
  CHECK(of.out.is_idle());
}

TEST_CASE("outbox: each class is counted while it waits, and has its own limit") {
  fixture of;
  of.stack.has_room = false;
  of.post(frame_kind::response, 1);
  of.post(frame_kind::response, 2);
  CHECK(of.out.waiting(answers) == 2);
  of.post(frame_kind::error, 3);
  CHECK(of.out.waiting(refusals) > 128);
  CHECK_FALSE(of.out.is_unread());
  SUBCASE("refusals, by their bytes") {
    for (std::uint64_t i = 0; i < 3; ++i) of.post(frame_kind::error, i);
    CHECK(of.out.is_unread());
  }
  SUBCASE("ends") {
    of.post_down(4);
    CHECK_FALSE(of.out.is_unread());
    of.post_down(5);
    CHECK(of.out.waiting(ends) == 2);
    CHECK(of.out.is_unread());
  }
  SUBCASE("grants") {
    for (std::uint64_t i = 1; i <= 2; ++i) of.post(frame_kind::release, i);
    CHECK_FALSE(of.out.is_unread());
    of.post(frame_kind::release, 3);
    CHECK(of.out.waiting(grants) == 3);
    CHECK(of.out.is_unread());
  }
  of.stack.has_room = true;
  CHECK(of.out.flush({}));
  CHECK(of.out.waiting(answers) == 0);
  CHECK(of.out.waiting(refusals) == 0);
  CHECK(of.out.waiting(ends) == 0);
}

TEST_CASE("outbox: each kind of frame is of one class") {
  fixture of;
  of.stack.has_room = false;
  const auto adds_to = [&](frame_kind kind, outbox::frame_class which) {
    for (const auto other : {mail, answers, refusals, ends, grants}) {
      const std::int64_t before = of.out.waiting(other);
      outgoing m = frame_of(kind, 1);
      m.lane = 1;
      of.out.post(std::move(m), {});
      CAPTURE(to_text(kind));
      CHECK((of.out.waiting(other) > before) == (other == which));
    }
  };
  for (const frame_kind k : {frame_kind::message, frame_kind::request, frame_kind::cancel,
                             frame_kind::resolve, frame_kind::spawn, frame_kind::kill})
    adds_to(k, mail);
  adds_to(frame_kind::response, answers);
  for (const frame_kind k : {frame_kind::error, frame_kind::resolved, frame_kind::decode_error})
    adds_to(k, refusals);
  for (const frame_kind k : {frame_kind::down, frame_kind::exit}) adds_to(k, ends);
  for (const frame_kind k : {frame_kind::release, frame_kind::credit}) adds_to(k, grants);
}

TEST_CASE("outbox: ends that wait as signals are counted, also when the stack takes no more") {
  fixture of;
  for (std::uint64_t i = 1; i <= 4; ++i) of.post(frame_kind::exit, i);
  CHECK(of.stack.sent.size() == 2);
  CHECK(of.out.waiting(ends) == 2);
  CHECK(of.out.is_unread());
  of.out.signal_settled();
  of.stack.refuses = net_errc::overload;  // no room within this call
  of.out.send_signals({});
  CHECK(of.out.waiting(ends) == 2);
  of.stack.refuses = {};
  of.out.send_signals({});
  CHECK(of.out.waiting(ends) == 1);
  CHECK_FALSE(of.out.is_unread());
  of.out.signal_settled();
  of.out.send_signals({});
  CHECK(of.out.waiting(ends) == 0);
  CHECK(of.stack.sent.size() == 4);
}

TEST_CASE(
    "outbox: a frame that the stack refuses is given up, and so is a frame no longer wanted") {
  fixture of;
  of.stack.refuses = net_errc::too_large;
  of.post(frame_kind::cancel, 1);
  CHECK(of.given_up == std::vector<std::uint64_t>{1});
  of.stack.refuses = {};
  of.stack.has_room = false;
  of.post(frame_kind::cancel, 2);
  of.wants = false;
  of.stack.has_room = true;
  SUBCASE("a frame is not looked at without a reason") {
    CHECK(of.out.flush({}));
    CHECK(of.stack.numbers() == std::vector<std::uint64_t>{2});
  }
  SUBCASE("a request may be stale") {
    of.out.look_before_leaving();
    CHECK(of.out.flush({}));
    CHECK(of.given_up == std::vector<std::uint64_t>{1, 2});
    CHECK(of.stack.numbers().empty());
  }
}

struct with_actors : fixture {
  class nobody : public actor<protocol<void(int)>> {
   public:
    void on(int) {}
  };
  actor_system system;
  ref<protocol<void(int)>> one = system.spawn<nobody>();
  core::cell* cell = core::handle_access::get(one);

  void leave(std::uint64_t number, mail_slot::kind as = mail_slot::kind::message) {
    if (as != mail_slot::kind::signal)
      return static_cast<void>(slot.add({.to = cell, .sender = number}, packet::with_room(8, 8)));
    core::envelope_ptr e(core::detail::make_envelope<int>(0));
    static_cast<void>(slot.add({.to = cell, .sender = number}, e, as));
  }
  std::vector<std::uint64_t> taken;
  void take() {
    out.take([&](mail_slot::entry& e) {
      taken.push_back(e.what.sender);
      out.take([](mail_slot::entry&) { FAIL_CHECK("taken within a call that takes"); });
    });
  }
};

TEST_CASE("outbox: the slot is taken while the stack has room and nothing is ready") {
  with_actors of;
  of.leave(1);
  CHECK(of.out.is_behind());
  of.stack.has_room = false;
  of.post(frame_kind::cancel, 7);
  of.take();
  CHECK(of.taken.empty());
  of.stack.has_room = true;
  of.take();
  CHECK(of.taken.empty());  // a frame is ready, and goes first
  CHECK(of.out.flush({}));
  of.take();
  CHECK(of.taken == std::vector<std::uint64_t>{1});
  CHECK_FALSE(of.out.is_behind());
}

TEST_CASE("outbox: a signal in the slot is taken without room, with all that is before it") {
  with_actors of;
  of.leave(1);
  of.leave(2, mail_slot::kind::signal);
  of.leave(3);
  of.stack.has_room = false;
  of.take();
  CHECK(of.taken == std::vector<std::uint64_t>{1, 2});
  CHECK(of.out.is_behind());
  CHECK(of.slot.is_long());  // the rest stays
  of.stack.has_room = true;
  of.take();
  CHECK(of.taken == std::vector<std::uint64_t>{1, 2, 3});
  CHECK_FALSE(of.slot.is_long());
}

TEST_CASE("outbox: a closed one returns the ready frames, and lets all be taken") {
  with_actors of;
  of.stack.has_room = false;
  of.post(frame_kind::response, 1);
  for (std::uint64_t i = 2; i <= 4; ++i) of.post(frame_kind::monitor, i);
  of.leave(5);
  CHECK(of.out.close().size() == 1);
  CHECK_FALSE(of.out.any_signals());
  CHECK(of.out.waiting(answers) == 0);
  of.take();
  CHECK(of.taken == std::vector<std::uint64_t>{5});
  CHECK(of.given_up.empty());
}

TEST_CASE("outbox: one that is closed takes no room of those that leave frames in the slot") {
  fixture of;
  of.stack.has_room = false;
  while (of.slot.has_room()) of.post(frame_kind::cancel, 1);
  CHECK_FALSE(of.out.close().empty());
  CHECK(of.slot.has_room());
  CHECK(of.out.is_idle());
}

}  // namespace outbox_test
