// Any allocation may fail: all waiting actors and threads are told, and the system goes on.
#include <doctest/doctest.h>
#include <garrick/core/seam/running.hpp>
#include <garrick/garrick.hpp>
#include <garrick/system/threads/detached_pool.hpp>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

/// This thread's n-th allocation from now on fails; 0: none does.
thread_local int failing_allocation = 0;
/// And so do all that follow.
thread_local bool fails_for_good = false;

}  // namespace

void* operator new(std::size_t bytes) {
  if (failing_allocation > 0 && --failing_allocation == 0) {
    if (fails_for_good) failing_allocation = 1;
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace garrick;

struct arm {
  int n;
  bool for_good;
};
struct disarm {};

/// Chooses the allocation that fails on the one worker that all actors share.
class saboteur : public actor<protocol<void(arm), int(disarm)>> {
 public:
  void on(arm a) {
    fails_for_good = a.for_good;
    failing_allocation = a.n;
  }
  /// Returns the number of allocations that were left.
  int on(disarm) { return std::exchange(failing_allocation, 0); }
};

enum class deed : std::uint8_t {
  answers,
  keeps_its_promise,
  awaits,
  awaits_in_coroutine,
  monitors,
  links,
  spawns,
  skips,
  delays,
  repeats,
  throws_with_its_promise,
  answers_with_an_empty_promise,
  quits_with_a_text,
  sends_when_there_is_room,
};
constexpr deed all_deeds[] = {deed::answers,
                              deed::keeps_its_promise,
                              deed::awaits,
                              deed::awaits_in_coroutine,
                              deed::monitors,
                              deed::links,
                              deed::spawns,
                              deed::skips,
                              deed::delays,
                              deed::repeats,
                              deed::throws_with_its_promise,
                              deed::answers_with_an_empty_promise,
                              deed::quits_with_a_text,
                              deed::sends_when_there_is_room};

struct ask {
  deed what;
};
struct ask_slowly {};
struct ask_for_room {};
struct has_heard {};
struct quiet_ask {};
using asked =
    protocol<result<int>(ask), int(ask_slowly), int(ask_for_room), bool(has_heard), int(quiet_ask)>;

constexpr const char* long_text = "a text that is too long for a short string, and so needs memory";

class other : public actor<protocol<int(quiet_ask)>> {
 public:
  int on(quiet_ask) { return 1; }
};

class victim : public actor<asked> {
 public:
  explicit victim(ref<protocol<int(quiet_ask)>> o) : other_(std::move(o)) {}

  result<int> on(ask a) {
    switch (a.what) {
      case deed::keeps_its_promise: kept_.push_back(make_promise<int>()); return kept_.back();
      case deed::awaits: {
        const auto p = std::make_shared<response_promise<int>>(make_promise<int>());
        request(other_, quiet_ask{}, duration::seconds(60))
            .await([p](int n) { p->deliver(n); }, [p](const error& why) { p->fail(why); });
        return *p;
      }
      case deed::monitors: monitor(other_, [this](const down&) { heard_ = true; }); return 1;
      case deed::links: link(other_); return 1;
      case deed::spawns: {
        const auto made = spawn<other>(spawn_options{.name = long_text, .linked = true});
        return made ? 1 : 0;
      }
      case deed::skips: {
        const any_ref skipping = spawn([](dynamic_actor& self) -> behavior {
          self.set_unmatched(unmatched::skip);
          return {[&self](int) { self.quit(); }};
        });
        send(skipping, std::string("skipped"));
        send(skipping, 1);
        return 1;
      }
      case deed::delays: {
        const auto p = std::make_shared<response_promise<int>>(make_promise<int>());
        try {
          delay(duration::microseconds(1)).then([p] { p->deliver(1); });
        } catch (const std::bad_alloc&) {  // then nothing is pending
          const core::cell_extension* const x = core::detail::here.running->ext_if();
          return x == nullptr ? 1 : 1 + static_cast<int>(x->pending.active());
        }
        return *p;
      }
      case deed::repeats: send_every(duration::seconds(60), self(), quiet_ask{}); return 1;
      case deed::throws_with_its_promise: {
        const auto p = make_promise<int>();
        throw std::runtime_error(long_text);
      }
      case deed::answers_with_an_empty_promise: return response_promise<int>();
      case deed::quits_with_a_text: quit(make_error(errc::user, "where", long_text)); return 1;
      default: return 1;
    }
  }
  task<int> on(ask_slowly) {
    const result<int> r = co_await request<quiet_ask>(other_);
    if (!r) co_return r.error();
    co_return *r;
  }
  task<int> on(ask_for_room) {
    const result<void> sent = co_await send_when_room<quiet_ask>(other_);
    if (!sent) co_return sent.error();
    co_return 1;
  }
  bool on(has_heard) const { return heard_; }
  int on(quiet_ask) { return 1; }

 private:
  ref<protocol<int(quiet_ask)>> other_;
  bool heard_ = false;
  std::vector<response_promise<int>> kept_;
};

settings one_worker() {
  settings s;
  s.scheduler.workers = 1;
  s.log.level = system::log_level::off;
  s.watchdog.after = {};
  return s;
}

constexpr duration too_long = duration::seconds(30);

/// A deed, and all actors that wait for something then.
class stage {
 public:
  stage(actor_system& system, deed what) : system_(system), what_(what) {
    me_->monitor(whole_, [this](const down&) { gone_ = true; });
    CHECK(system_.request(whole_, quiet_ask{}).get().has_value());
  }

  /// Runs the deed with its n-th allocation failing. Returns true if there was an n-th one.
  bool fails_at(int n, bool for_good) {
    CHECK(system_.request(saboteur_, arm{n, for_good}).get().has_value());
    const bool watches = what_ == deed::monitors || what_ == deed::links;
    const bool done = do_it();
    // The watched actor has noted its watcher before it answers.
    if (watches) static_cast<void>(me_->get(me_->request(other_, quiet_ask{})));
    // An actor that has quit ends of itself.
    if (!watches && what_ != deed::quits_with_a_text) system_.kill(whole_);
    if (!watches) wait_for_end();
    const int left = system_.request(saboteur_, disarm{}).get().value();
    if (watches) hears_of_other(done);
    return for_good ? left == 1 : left == 0;
  }

 private:
  /// Gets the answer, of any kind. Returns false for an error.
  bool do_it() {
    if (what_ == deed::awaits_in_coroutine) return answered(ask_slowly{});
    if (what_ == deed::sends_when_there_is_room) return answered(ask_for_room{});
    if (what_ != deed::keeps_its_promise) return answered(ask{what_});
    auto answer = me_->request(whole_, ask{what_});
    static_cast<void>(me_->get(me_->request(whole_, quiet_ask{})));
    system_.kill(whole_);
    CHECK_FALSE(me_->get(std::move(answer)).has_value());
    return false;
  }
  template <class Question>
  bool answered(Question q) {
    const auto answer = me_->get(me_->request(whole_, std::move(q), too_long));
    CHECK((answer ? *answer <= 1 : answer.error() != errc::timeout));
    return answer.has_value();
  }
  /// Waits for the actor's end, which must be reported.
  void wait_for_end() {
    const base::instant begin = base::real_clock().now();
    while (!gone_ && base::real_clock().now() - begin < too_long)
      me_->receive([](int) {}, after(duration::milliseconds(1)) >> [] {});
    CHECK(gone_);
  }
  /// Checks that an actor that watches another one without an error is told of its end.
  void hears_of_other(bool watched) {
    system_.kill(other_);
    if (watched && what_ == deed::links) return wait_for_end();
    const base::instant begin = base::real_clock().now();
    result<bool> heard = !watched;
    while (heard && !*heard && base::real_clock().now() - begin < too_long)
      heard = me_->get(me_->request(whole_, has_heard{}));
    CHECK((!heard || *heard));
    system_.kill(whole_);
    wait_for_end();
  }

  actor_system& system_;
  const deed what_;
  const ref<protocol<int(quiet_ask)>> other_ = system_.spawn<other>();
  const ref<asked> whole_ = system_.spawn<victim>(other_);
  const ref<protocol<void(arm), int(disarm)>> saboteur_ = system_.spawn<saboteur>();
  core::scoped_actor me_{system_.env()};
  bool gone_ = false;
};

bool fails_at(actor_system& system, deed what, int n, bool for_good) {
  return stage(system, what).fails_at(n, for_good);
}

}  // namespace

TEST_CASE("an actor that quits ends, although its reason finds no memory") {
  struct quitter : actor<protocol<int(quiet_ask)>> {
    int on(quiet_ask) {
      base::exit_reason why(make_error(errc::user, "where", long_text));
      failing_allocation = 1;
      quit(std::move(why));
      failing_allocation = 0;
      return 1;
    }
  };
  actor_system system(one_worker());
  const auto whole = system.spawn<quitter>();
  CHECK(system.request(whole, quiet_ask{}).get().value() == 1);
  CHECK(system.request(whole, quiet_ask{}).get().error() == errc::not_handled);
}

TEST_CASE(
    "whichever allocation fails: every request is answered, every end is told, and nothing is "
    "left behind") {
  const std::size_t before = base::block_pool::blocks_in_use();
  for (const bool for_good : {false, true}) {
    for (const deed what : all_deeds) {
      CAPTURE(for_good);
      CAPTURE(static_cast<int>(what));
      {
        actor_system system(one_worker());
        int n = 1;
        while (n < 200 && fails_at(system, what, n, for_good)) ++n;
        CHECK(n < 200);
        CHECK(system.request(system.spawn<other>(), quiet_ask{}).get().value() == 1);
      }
      CHECK(base::block_pool::blocks_in_use() == before);
    }
  }
}

TEST_CASE("a thread for which there is no memory is an error, whichever allocation fails") {
  for (const bool for_good : {false, true}) {
    bool has_thread = false;
    for (int n = 1; !has_thread; ++n) {
      system::detached_pool pool(4, 1, "test", {}, {});
      fails_for_good = for_good;
      failing_allocation = n;
      const auto taken = pool.take();
      fails_for_good = false;
      failing_allocation = 0;
      has_thread = taken.has_value();
      CHECK((n > 1 || !has_thread));
      if (!has_thread) {
        CHECK(taken.error() == errc::spawn_failed);
        CHECK(pool.in_use() == 0);
      }
      if (has_thread) (*taken)->actor_ended();
    }
  }
}
