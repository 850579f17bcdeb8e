// The error that a requester gets instead of a value: `not_handled` if surely no handler has seen
// its request, `receiver_failed` with the exception's text if the handler failed, `broken_promise`
// if no answer comes although a handler has seen it. In every order of events.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace request_outcomes_test {

namespace {

using namespace garrick;
using testkit::test_system;

/// The action of the handler for a request.
enum class deed : std::uint8_t {
  answers,
  throws,
  throws_with_its_promise,
  throws_with_another_promise,
  catches_what_drops_its_promise,
  keeps_its_promise,
  drops_its_promise,
  answers_with_an_empty_promise,
  delegates,
  delegates_and_throws,
  quits,
  quits_with_an_error,
  waits_and_answers,
  waits_and_throws,
};
constexpr int deeds = 14;

struct ask {
  int id;
  deed what;
};
struct ask_slowly {
  int id;
  deed what;
};
using asked = protocol<result<int>(ask), int(ask_slowly)>;

using ints = std::map<int, int>;

/// The requests that the handlers have seen: how often each.
struct ledger {
  ints seen;
  int lives = 0;
};

std::string text_of(int id) { return "fell over " + std::to_string(id); }

class receiver : public actor<asked> {
 public:
  receiver(std::shared_ptr<ledger> all, ref<asked> next, int fatal_start)
      : all_(std::move(all)), next_(std::move(next)), fatal_start_(fatal_start) {}

  void on_start() {
    if (++all_->lives == fatal_start_) throw std::runtime_error("cannot start");
  }

  result<int> on(const ask& a) {
    ++all_->seen[a.id];
    switch (a.what) {
      case deed::throws: throw std::runtime_error(text_of(a.id));
      case deed::throws_with_its_promise: {
        const auto mine = make_promise<int>();
        throw std::runtime_error(text_of(a.id));
      }
      case deed::throws_with_another_promise: {
        const auto others = std::exchange(kept_, {});
        throw std::runtime_error(text_of(a.id));
      }
      case deed::catches_what_drops_its_promise:
        try {
          const auto mine = make_promise<int>();
          throw std::runtime_error(text_of(a.id));
        } catch (const std::runtime_error&) { return response_promise<int>(); }
      case deed::keeps_its_promise: kept_.push_back(make_promise<int>()); return kept_.back();
      case deed::drops_its_promise: return make_promise<int>();
      case deed::answers_with_an_empty_promise: return response_promise<int>();
      case deed::delegates:
        if (next_) return delegate(next_, ask{a.id, deed::answers});
        return a.id;
      case deed::delegates_and_throws:
        if (next_) static_cast<void>(delegate(next_, ask{a.id, deed::answers}));
        throw std::runtime_error(text_of(a.id));
      case deed::quits: quit(); return make_promise<int>();
      case deed::quits_with_an_error:
        quit(make_error(errc::user, text_of(a.id)));
        kept_.push_back(make_promise<int>());
        return kept_.back();
      default: return a.id;
    }
  }

  task<int> on(ask_slowly a) {
    ++all_->seen[a.id];
    static_cast<void>(co_await delay(duration::milliseconds(1)));
    if (a.what == deed::waits_and_throws) throw std::runtime_error(text_of(a.id));
    co_return a.id;
  }

 private:
  std::shared_ptr<ledger> all_;
  ref<asked> next_;
  int fatal_start_;
  std::vector<response_promise<int>> kept_;
};

bool says(const error& why, const std::string& text) {
  return why.detail().find(text) != std::string_view::npos;
}

/// Checks one request's outcome against the ledger.
void check_outcome(test_system& kit, const ask& a, const ledger& all, const result<int>& answer) {
  const bool seen = all.seen.contains(a.id);
  const std::string told =
      answer ? "a value" : answer.error().to_string() + (seen ? " (seen)" : " (not seen)");
  const auto must = [&](bool holds) {
    kit.require(holds, "request " + std::to_string(a.id) + " of kind " +
                           std::to_string(static_cast<int>(a.what)) + " got " + told);
  };
  must(answer ? seen && *answer == a.id : seen != (answer.error() == errc::not_handled));
  if (!seen) return must(all.seen.count(a.id) == 0);
  must(all.seen.at(a.id) <= 2);  // once, or by two, of which one delegated
  switch (a.what) {
    case deed::throws:
    case deed::throws_with_its_promise:
    case deed::quits_with_an_error:
      must(!answer && answer.error() == errc::receiver_failed &&
           says(answer.error(), text_of(a.id)));
      break;
    case deed::throws_with_another_promise:
      must(!answer && answer.error() == errc::receiver_failed);
      break;
    case deed::drops_its_promise:
    case deed::quits:
    case deed::catches_what_drops_its_promise:
      must(!answer && answer.error() == errc::broken_promise);
      break;
    case deed::answers_with_an_empty_promise:
      must(!answer && answer.error() == errc::broken_promise &&
           says(answer.error(), "empty promise"));
      break;
    case deed::keeps_its_promise:
      must(!answer &&
           (answer.error() == errc::broken_promise || answer.error() == errc::receiver_failed));
      break;
    case deed::waits_and_throws:
      must(!answer &&
           (answer.error() == errc::receiver_failed || answer.error() == errc::broken_promise));
      break;
    case deed::answers: must(answer.has_value()); break;
    default: break;  // its outcome is decided elsewhere
  }
}

void outcomes(test_system& kit) {
  std::mt19937_64 random(kit.seed() * 7919);
  const auto below = [&](int n) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(n));
  };
  const auto all = std::make_shared<ledger>();
  const auto last = kit.spawn<receiver>(lent(std::shared_ptr(all)), ref<asked>(), -1);
  const auto top =
      kit.spawn<supervisor>(supervision{.strategy = below(2) == 0 ? one_for_one : one_for_all,
                                        .max_restarts = 2,
                                        .keep_mail = below(2) == 0});
  const int fatal = below(3) == 0 ? 1 + below(4) : -1;
  const ref<asked> targets[] = {
      below(2) == 0 ? kit.spawn<receiver>(lent(std::shared_ptr(all)), last, fatal)
                    : supervise<receiver>(top, child_options{.name = "a"},
                                          lent(std::shared_ptr(all)), last, fatal),
      supervise<receiver>(top, child_options{.name = "b"}, lent(std::shared_ptr(all)), last, -1)};
  core::scoped_actor me(kit.env());
  struct waiting {
    ask a;
    pending_response<int> answer;
  };
  std::vector<waiting> open;
  for (int id = 0; id < 30; ++id) {
    const ask a{id, below(3) != 0 ? deed::answers : static_cast<deed>(below(deeds))};
    const auto& to = targets[below(2)];
    if (a.what >= deed::waits_and_answers)
      open.push_back({a, me->request(to, ask_slowly{id, a.what})});
    else
      open.push_back({a, me->request(to, a)});
    for (int steps = below(4); steps != 0; --steps) static_cast<void>(kit.step());
    if (below(40) == 0) kit.kill(to);
    if (below(40) == 0) kit.exit(last);
    if (below(10) == 0) static_cast<void>(kit.run_for(duration::milliseconds(1)));
  }
  static_cast<void>(kit.run_for(duration::milliseconds(20)));
  for (const auto& to : targets) kit.kill(to);  // with their kept promises
  kit.run();
  kit.exit(top);
  kit.run();
  for (waiting& w : open) check_outcome(kit, w.a, *all, me->get(std::move(w.answer)));
}

}  // namespace

TEST_CASE("a request that gets no value is told whether a handler has seen it, in every order") {
  testkit::explore(1000, outcomes);
}

TEST_CASE(
    "a request to an actor that fails is not_handled, unless it is the one that it fell over") {
  actor_system system;
  for (int round = 0; round < 300; ++round) {
    const auto all = std::make_shared<ledger>();
    const auto to = system.spawn<receiver>(lent(std::shared_ptr(all)), ref<asked>(), -1);
    core::scoped_actor me(system.env());
    auto failing = me->request(to, ask{1, deed::throws});
    auto unread = me->request(to, ask{2, deed::answers});
    const error why = me->get(std::move(failing)).error();
    CHECK(why == errc::receiver_failed);
    CHECK(says(why, text_of(1)));
    const error later = me->get(me->request(to, ask{3, deed::answers})).error();
    CHECK(later == errc::not_handled);
    CHECK(says(later, text_of(1)));
    const error never_read = me->get(std::move(unread)).error();
    CHECK(never_read == errc::not_handled);
    CHECK(says(never_read, text_of(1)));
  }
}

TEST_CASE("a request that waits for an actor that fails at its start was not handled") {
  test_system kit(1);
  const auto to = kit.spawn<receiver>(lent(std::make_shared<ledger>()), ref<asked>(), 1);
  const error why = kit.request(to, ask{1, deed::answers}).get().error();
  CHECK(why == errc::not_handled);
  CHECK(says(why, "cannot start"));
}

namespace {

/// A request's promise travels in a message.
struct errand {
  response_promise<int> whose;
};
using clerk = protocol<result<int>(ask), void(errand)>;

/// Hands each promise to itself, in a message over which it falls.
class forwarding : public actor<clerk> {
 public:
  result<int> on(ask) {
    auto p = make_promise<int>();
    send(self(), errand{std::move(p)});
    return p;
  }
  void on(const errand&) { throw std::runtime_error("no time"); }
};

class forwarding_slowly : public actor<clerk> {
 public:
  result<int> on(ask) {
    auto p = make_promise<int>();
    send(self(), errand{std::move(p)});
    return p;
  }
  task<> on(errand) {
    static_cast<void>(co_await delay(duration::milliseconds(1)));
    throw std::runtime_error("no time");
  }
};

}  // namespace

TEST_CASE("a promise in the message that a handler falls over is told the exception's text") {
  test_system kit(1);
  const auto expect = [&](const auto& to) {
    const error why = kit.request(to, ask{1, deed::answers}).get().error();
    CHECK(why == errc::receiver_failed);
    CHECK(says(why, "no time"));
  };
  expect(kit.spawn<forwarding>());
  expect(kit.spawn<forwarding_slowly>());
}

TEST_CASE("a promise that a blocking actor drops with an exception it catches is broken") {
  test_system kit(1);
  const any_ref to = kit.spawn([](blocking_actor& self) {
    const auto drop = [&](bool fail) {
      self.receive([&](int) -> result<int> {
        const auto p = self.make_promise<int>();
        if (fail) throw std::runtime_error("dropped");
        return p;
      });
    };
    try {
      drop(true);
    } catch (const std::runtime_error&) {}
    drop(false);
  });
  const error first = kit.request_as<int>(to, 1).get().error();
  CHECK(first == errc::receiver_failed);  // the handler failed, although the actor goes on
  CHECK(says(first, "dropped"));
  CHECK(kit.request_as<int>(to, 2).get().error() == errc::broken_promise);
}

TEST_CASE("the first of many is not_handled only if none has handled it") {
  test_system kit(1);
  const auto all = std::make_shared<ledger>();
  const auto gone = kit.spawn<receiver>(lent(std::shared_ptr(all)), ref<asked>(), 1);
  const auto fails = kit.spawn<receiver>(lent(std::shared_ptr(all)), ref<asked>(), -1);
  kit.run();
  const ask a{1, deed::throws};
  core::scoped_actor me(kit.env());
  const std::vector both{gone, fails};
  const error why = garrick::first_of(kit, both, a).get().error();
  CHECK(why == errc::receiver_failed);
  CHECK(says(why, text_of(1)));
  // now both have ended
  CHECK(garrick::first_of(kit, both, a).get().error() == errc::not_handled);
}

TEST_CASE("a handler that passes on not_handled has seen the request itself") {
  test_system kit(1);
  const auto gone = kit.spawn<receiver>(lent(std::make_shared<ledger>()), ref<asked>(), 1);
  kit.run();
  struct passing : actor<protocol<result<int>(int), int(long), int(short)>> {
    ref<asked> to;
    explicit passing(ref<asked> t) : to(std::move(t)) {}
    result<int> on(int) {
      auto answer = std::make_shared<response_promise<int>>(make_promise<int>());
      request(to, ask{1, deed::answers})
          .then([answer](int n) { answer->deliver(n); },
                [answer](const error& why) { answer->fail(why); });
      return *answer;
    }
    task<int> on(long) {
      const result<int> r = co_await request<ask>(to, 1, deed::answers);
      co_return r.error();
    }
    result<int> on(short) { return make_error(errc::not_handled, "somebody", "else"); }
  };
  const auto to = kit.spawn<passing>(gone);
  const auto told = [](const error& why, const char* text) {
    return why == errc::broken_promise && says(why, text);
  };
  CHECK(told(kit.request(to, 1).get().error(), "cannot start"));
  CHECK(told(kit.request(to, 1l).get().error(), "cannot start"));
  CHECK(told(kit.request(to, short{1}).get().error(), "somebody: else"));
}

TEST_CASE("a pipe with an ended second actor is not not_handled: the first has seen the request") {
  test_system kit(1);
  struct counts : actor<protocol<int(ask)>> {
    int on(ask a) { return a.id; }
  };
  struct doubles : actor<protocol<int(int)>> {
    int on(int n) { return 2 * n; }
  };
  const auto f = kit.spawn<doubles>();
  const auto g = kit.spawn<counts>();
  const auto pipe = f * g;
  kit.exit(f);
  kit.run();
  CHECK(kit.request(pipe, ask{1, deed::answers}).get().error() == errc::broken_promise);
  kit.exit(g);
  kit.run();
  CHECK(kit.request(pipe, ask{1, deed::answers}).get().error() == errc::not_handled);
}

}  // namespace request_outcomes_test
