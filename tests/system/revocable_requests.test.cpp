// Requests from elsewhere: when one is taken out of a mailbox, of any kind of actor, the proxy that
// has asked tells if it is still wanted.
#include <doctest/doctest.h>
#include <garrick/core/seam/answers.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/core/seam/signals.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace revocable_requests_test {

namespace {

using namespace garrick;
using core::envelope_flag;
using core::envelope_ptr;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

std::string text_of(const error& e) { return e == errc::timeout ? "timeout" : e.to_string(); }

/// Asks on behalf of an actor elsewhere.
class outside final : public core::proxy_cell {
 public:
  explicit outside(core::environment& env) : proxy_cell(env) {}
  std::string_view type_name() const noexcept override { return "outside"; }
  instant wanted_until(std::uint64_t request) const noexcept override {
    const auto at = until.find(request);
    return at != until.end() ? at->second : instant::never();
  }

  /// To those that were kept.
  void answer() {
    for (const core::pending_request r : std::exchange(kept, {})) core::respond_value<int>(r, 1);
  }

  bool answers = true;  // at once; or keeps the requests
  std::vector<core::pending_request> kept;
  std::map<std::uint64_t, instant> until;
  std::vector<std::string> said;  // the messages that have come here

 private:
  ~outside() = default;
  void forward(envelope_ptr e, instant limit) noexcept override {
    if (e->is(envelope_flag::request)) {
      const duration left = limit.is_never() ? duration::infinite() : limit - env().clock->now();
      said.push_back("asked, within " + left.to_string());
      kept.push_back(core::take_request(e.get()));
      if (answers) answer();
      return;
    }
    const std::string who = std::to_string(e->id()) + ": ";
    if (e->is(envelope_flag::failure))
      said.push_back(who + text_of(*static_cast<const error*>(e->raw())));
    else
      said.push_back(who + std::to_string(*static_cast<const int*>(e->raw())));
  }
  void forward_signal(envelope_ptr e) noexcept override {
    if (e->type == &base::message_type_of<core::signals::handed_on>)
      said.push_back(
          std::to_string(static_cast<const core::signals::handed_on*>(e->raw())->request()) +
          " was handed on");
    if (e->type == &base::message_type_of<core::signals::withdrawn>) said.push_back("withdrawn");
  }
  void free_self() noexcept override { delete this; }
};

using worker_type = protocol<int(int), void(duration)>;

/// A clock that does not advance, an asker, and the handled requests.
struct fixture {
  testkit::test_system kit;
  outside& from = *new outside(kit.env());
  any_ref holds = core::handle_access::adopt<core::any_protocol>(&from);
  std::vector<int> handled;

  void ask(const core::handle& to, std::uint64_t id, int what) {
    core::envelope* const e = core::detail::make_envelope<int>(what);
    from.add_strong();
    e->requester = &from;
    e->word |= id;
    e->set(envelope_flag::request);
    e->set(envelope_flag::revocable);
    core::handle_access::get(to)->deliver(e);
  }
  /// Three, of which the second has 10 ms.
  void ask_three(const core::handle& to) {
    from.until[2] = kit.env().clock->now() + ms(10);
    for (int i = 1; i <= 3; ++i) ask(to, static_cast<std::uint64_t>(i), i);
  }
  void withdraw(std::uint64_t id) { from.until[id] = instant(); }
};

class worker : public actor<worker_type> {
 public:
  explicit worker(std::vector<int>& handled) : handled_(handled) {}
  int on(int x) {
    handled_.push_back(x);
    return 10 * x;
  }
  void on(duration d) {
    delay(d).await([] {});
  }

 private:
  std::vector<int>& handled_;
};

using words = std::vector<std::string>;
using numbers = std::vector<int>;

}  // namespace

TEST_CASE("a revocable request is handled until its time is over, and no longer") {
  for (const auto& [naps, is_late] : {std::pair(9, false), std::pair(10, true)}) {
    CAPTURE(naps);
    fixture f;
    const auto w = f.kit.spawn<worker>(lent(f.handled));
    send(w, ms(naps));
    f.ask_three(w);
    f.kit.run_for(ms(50));
    CHECK(f.handled == (is_late ? numbers{1, 3} : numbers{1, 2, 3}));
    CHECK(f.from.said ==
          (is_late ? words{"1: 10", "2: timeout", "3: 30"} : words{"1: 10", "2: 20", "3: 30"}));
  }
}

TEST_CASE("a revocable request may be withdrawn while its actor has a bounded mailbox") {
  fixture f;
  const spawn_options bounded{.policy = mailbox_policy::reject, .bound = 8};
  const auto w = f.kit.spawn<worker>(bounded, lent(f.handled));
  f.ask_three(w);
  f.withdraw(3);
  f.kit.run();
  CHECK(f.handled == numbers{1, 2});
  CHECK(f.from.said == words{"1: 10", "2: 20", "3: timeout"});
}

TEST_CASE("a revocable request that was put aside is asked for again") {
  fixture f;
  struct begin {};
  const auto w = f.kit.spawn(lent([&f](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::skip);
    return {[&f, &self](begin) {
      self.become([&f](int x) {
        f.handled.push_back(x);
        return 10 * x;
      });
    }};
  }));
  f.ask_three(w);
  f.kit.run();
  CHECK(f.from.said.empty());
  f.kit.run_for(ms(10));
  send(w, begin{});
  f.kit.run();
  CHECK(f.handled == numbers{1, 3});
  CHECK(f.from.said == words{"1: 10", "2: timeout", "3: 30"});
}

TEST_CASE("a revocable request is not handled by a blocking actor, either") {
  fixture f;
  struct begin {};
  const auto w = f.kit.spawn(lent([&f](blocking_actor& self) {
    self.receive([](begin) {});
    while (f.handled.size() < 2)
      self.receive([&f](int x) {
        f.handled.push_back(x);
        return 10 * x;
      });
  }));
  f.ask_three(w);
  f.kit.run_for(ms(10));
  send(w, begin{});
  f.kit.run();
  CHECK(f.handled == numbers{1, 3});
  CHECK(f.from.said == words{"1: 10", "2: timeout", "3: 30"});
}

TEST_CASE("a revocable request that is delegated stays one") {
  fixture f;
  const auto w = f.kit.spawn<worker>(lent(f.handled));
  const auto pass_on = f.kit.spawn(lent([&w](dynamic_actor& self) -> behavior {
    return {[&](int x) { return self.delegate(w, x); }};
  }));
  send(w, ms(20));
  f.ask_three(pass_on);
  f.withdraw(3);
  f.kit.run_for(ms(50));
  CHECK(f.handled == numbers{1});
  CHECK(f.from.said == words{"3: timeout", "1: 10", "2: timeout"});
}

TEST_CASE(
    "an actor with a request that was handed on to a proxy is as one that has asked the proxy") {
  enum class how { answered, in_time, ends, ends_before, limit_before };
  for (const how h :
       {how::answered, how::in_time, how::ends, how::ends_before, how::limit_before}) {
    CAPTURE(static_cast<int>(h));
    fixture f;
    f.from.answers = h == how::answered;
    const ref<worker_type> to =
        core::handle_access::adopt<worker_type>(core::handle_access::get(f.holds));
    f.from.add_strong();
    const auto desk = f.kit.spawn(lent([&to](dynamic_actor& self) -> behavior {
      return {[&](int x) { return self.delegate(to, x); },
              [&](duration d) { self.delay(d).await([] {}); }};
    }));
    send(desk, ms(20));
    std::string outcome;
    const auto asks = f.kit.spawn(lent([&](dynamic_actor& self) -> behavior {
      self.request_as<int>(desk, 1)
          .within(h == how::limit_before ? ms(10) : duration::infinite())
          .then([&](int x) { outcome = std::to_string(x); },
                [&](const error& e) { outcome = text_of(e); });
      return {[](std::string) {}};
    }));
    f.kit.run_for(ms(5));
    if (h == how::ends_before) f.kit.exit(asks);
    f.kit.run_for(ms(30));
    if (h == how::ends) f.kit.exit(asks);
    if (h == how::in_time) f.from.answer();
    f.kit.run();
    const bool is_withdrawn = h != how::answered && h != how::in_time;
    CHECK(f.from.said == (is_withdrawn ? words{"asked, within infinite", "withdrawn"}
                                       : words{"asked, within infinite"}));
    CHECK(outcome == (h == how::limit_before ? "timeout" : is_withdrawn ? "" : "1"));
    f.from.answer();
    f.kit.run();
  }
}

TEST_CASE("a request that is handed on to a proxy carries its limit, and its asker is told") {
  fixture f;
  const auto to = core::handle_access::adopt<protocol<int(int)>>(new outside(f.kit.env()));
  auto& there = static_cast<outside&>(*core::handle_access::get(to));
  const auto pass_on = f.kit.spawn(lent([&to](dynamic_actor& self) -> behavior {
    return {[&](int x) { return self.delegate(to, x); }};
  }));
  f.ask_three(pass_on);
  f.kit.run();
  CHECK(there.said ==
        words{"asked, within infinite", "asked, within 10ms", "asked, within infinite"});
  CHECK(f.from.said ==
        words{"1: 1", "1 was handed on", "2: 1", "2 was handed on", "3: 1", "3 was handed on"});
}

TEST_CASE("a limit that is given with the request is known to a proxy at once") {
  fixture f;
  const auto to = core::handle_access::adopt<protocol<int(int)>>(new outside(f.kit.env()));
  auto& there = static_cast<outside&>(*core::handle_access::get(to));
  core::scoped_actor me(f.kit.env());
  CHECK(me->get(me->request(to, 1, ms(7))).value() == 1);
  CHECK(me->get(me->request_urgent(to, 1, ms(8))).value() == 1);
  CHECK(me->get(me->request_as<int>(any_ref(to), 1, ms(9))).value() == 1);
  CHECK(me->get(me->request(to, 1).within(ms(7))).value() == 1);
  CHECK(me->get(me->request(to, 1, duration::infinite())).value() == 1);
  CHECK(me->get(me->request(to, 1, ms(-7))).value() == 1);
  CHECK(there.said == words{"asked, within 7ms", "asked, within 8ms", "asked, within 9ms",
                            "asked, within infinite", "asked, within infinite",
                            "asked, within 0s"});
}

}  // namespace revocable_requests_test
