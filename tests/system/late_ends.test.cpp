// Actors that a system which ends has to wait for: those that trap exits, and those with a handler
// that does not return.
#include <doctest/doctest.h>
#include <unistd.h>
#include <garrick/garrick.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/in_child.hpp"

namespace late_ends_test {

namespace {

using namespace garrick;

struct go {};
using plain = protocol<void(go)>;

/// The fate of an actor that traps exits.
struct notes {
  std::atomic<int> signals{0};
  std::atomic<bool> cleaned{false};
  std::atomic<int> end{-1};
};

class trapping : public actor<plain> {
 public:
  explicit trapping(notes* n) : notes_(n) {}
  void on_start() { trap_exit(true); }
  void on(go) {}
  void on(const exit_signal&) { ++notes_->signals; }
  void on_exit(const exit_reason& why) { notes_->end = static_cast<int>(why.code()); }

 private:
  notes* notes_;
};

/// Needs an answer before it is done.
class cleaning : public actor<plain> {
 public:
  explicit cleaning(notes* n) : notes_(n) {}
  void on_start() { trap_exit(true); }
  void on(go) {}
  void on(const exit_signal&) {
    delay(duration::milliseconds(100)).then([this] { notes_->cleaned = true; });
  }

 private:
  notes* notes_;
};

/// Waits for an answer that it owes to itself.
class waiting_for_itself : public actor<protocol<void(go), result<int>(int)>> {
 public:
  explicit waiting_for_itself(notes* n) : notes_(n) {}
  void on_start() {
    trap_exit(true);
    request(self(), 1).then([](int) {}, [](const error&) {});
  }
  void on(go) {}
  result<int> on(int) {
    owed_ = make_promise<int>();
    return owed_;
  }
  void on(const exit_signal&) { ++notes_->signals; }
  void on_exit(const exit_reason& why) { notes_->end = static_cast<int>(why.code()); }

 private:
  notes* notes_;
  response_promise<int> owed_;
};

constexpr duration long_enough = duration::seconds(600);

settings patient() {
  settings s;
  s.shutdown.deadline = long_enough;
  return s;
}

}  // namespace

TEST_CASE(
    "an idle actor that only traps exits is stopped at shutdown, after it has seen the signal") {
  notes n, detached, blocking;
  {
    actor_system system(patient());
    const auto held = system.spawn<trapping>(lent(&n));
    const auto own = system.spawn<trapping>(spawn_options{.detached = true}, lent(&detached));
    const auto receives = system.spawn(lent([&blocking](blocking_actor& self) {
      self.trap_exit(true);
      struct told {
        notes& to;
        ~told() { to.cleaned = true; }
      } const at_the_end{blocking};
      self.receive([](go) {});
    }));
    CHECK(system.shutdown(long_enough).complete);
  }
  CHECK(n.signals == 1);
  CHECK(n.end == static_cast<int>(exit_code::user_shutdown));
  CHECK(detached.signals == 1);
  CHECK(blocking.cleaned);
}

TEST_CASE("an actor that traps exits is given the answer that it waits for") {
  notes n;
  actor_system system(patient());
  const auto held = system.spawn<cleaning>(lent(&n));
  CHECK(system.shutdown(long_enough).complete);
  CHECK(n.cleaned);
}

TEST_CASE("the deadline of a shutdown ends in a kill") {
  notes n;
  settings s;
  s.shutdown.deadline = duration::milliseconds(30);
  s.log.level = system::log_level::off;
  {
    actor_system system(s);
    const auto held = system.spawn<waiting_for_itself>(lent(&n));
    CHECK_FALSE(system.shutdown(s.shutdown.deadline).complete);
    // On a busy machine it may have its turn only after the deadline.
    while (n.signals == 0) std::this_thread::yield();
    CHECK(n.signals == 1);
    CHECK(n.end == -1);
  }
  CHECK(n.end == static_cast<int>(exit_code::user_shutdown));
}

TEST_CASE("an actor that is waited for longer than a second is named in the log at that moment" *
          doctest::skip(HAS_SANITIZER)) {
  const auto [text, status] = garrick::tests::in_child([] {
    std::array<int, 2> log{};
    if (::pipe(log.data()) != 0) ::_exit(1);
    const int told = ::dup(STDERR_FILENO);
    ::dup2(log[1], STDERR_FILENO);
    std::atomic<bool> open{false};
    // Lets the handler return as soon as the log names its actor.
    std::thread reader([&] {
      std::string all;
      for (char c = 0; all.find("printer#") == std::string::npos && ::read(log[0], &c, 1) == 1;)
        all += c;
      static_cast<void>(!::write(told, all.data(), all.size()));
      open = true;
      open.notify_all();
    });
    {
      actor_system system(patient());
      const auto printer = system.spawn(spawn_options{.name = "printer"}, lent([&](dynamic_actor&) {
                                          return behavior{[&](go) { open.wait(false); }};
                                        }));
      send(printer, go{});
    }
    reader.join();
  });
  CHECK(status == 0);
  CHECK(text.find("waiting for longer than a second for printer#") != std::string::npos);
}

}  // namespace late_ends_test
