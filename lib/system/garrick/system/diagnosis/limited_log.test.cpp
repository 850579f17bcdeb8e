// A storm of events, in virtual time: the number of lines, and that the numbers in them add up.
#include <doctest/doctest.h>
#include <garrick/base/time/timer_service.hpp>
#include <garrick/base/time/virtual_clock.hpp>
#include <garrick/system/diagnosis/limited_log.hpp>

#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace limited_log_test {

namespace {

using namespace garrick;
using base::duration;
using base::errc;
using system::limited_log;
using system::log_event;
using system::log_level;

/// Keeps the lines, as "place: text".
struct lines {
  std::mutex mutex;
  std::vector<std::string> all;

  system::log_sink sink() noexcept {
    return {[](void* self, log_level, std::string_view who, std::uint64_t,
               std::string_view text) noexcept {
              auto& l = *static_cast<lines*>(self);
              const std::lock_guard guard(l.mutex);
              l.all.push_back(std::string(who) + ": " + std::string(text));
            },
            this};
  }
  std::size_t count() const { return all.size(); }
};

/// Returns the number of events that the lines stand for.
std::uint64_t events_in(const std::vector<std::string>& all) {
  std::uint64_t sum = 0;
  for (const std::string& line : all) {
    const std::size_t more = line.find(" more within a second");
    if (more == std::string::npos)
      ++sum;
    else
      sum += std::stoull(line.substr(line.rfind(' ', more - 1) + 1));
  }
  return sum;
}

log_event failure(std::string_view place, errc why = errc::user) {
  return {log_level::error, "failed", place, base::make_error(why, "any", "text")};
}

void happen(limited_log& log, const log_event& e, int times) {
  for (int i = 0; i < times; ++i)
    log.write(e, e.place, 7, [i] { return "boom " + std::to_string(i); });
}

constexpr duration a_second = duration::seconds(1);

}  // namespace

TEST_CASE("ten lines a second, then one that says how many more") {
  lines l;
  base::virtual_clock clock;
  limited_log log(clock, log_level::warning, l.sink());
  happen(log, failure("worker"), 10);
  CHECK(l.count() == 10);
  CHECK(clock.pending() == 0);  // no line is held back, so no timer is armed
  happen(log, failure("worker"), 990);
  CHECK(l.count() == 10);
  CHECK(l.all.front() == "worker: boom 0");
  clock.advance(duration::milliseconds(999));
  CHECK(l.count() == 10);
  clock.advance(duration::milliseconds(1));
  REQUIRE(l.count() == 11);
  CHECK(l.all.back() ==
        "worker: 990 more within a second: failed: " + failure("worker").reason.message());
  CHECK(clock.pending() == 0);  // no timer is armed after a storm
}

TEST_CASE("a storm that goes on gets ten lines and a number in each second") {
  lines l;
  base::virtual_clock clock;
  limited_log log(clock, log_level::warning, l.sink());
  for (int second = 0; second < 60; ++second) {
    for (int part = 0; part < 10; ++part) {
      happen(log, failure("worker"), 100);
      clock.advance(a_second / 10);
    }
  }
  log.close();
  CHECK(l.count() <= 60 * 11);
  CHECK(l.count() >= 59 * 11);
  CHECK(events_in(l.all) == 60'000);
}

TEST_CASE("other kinds, places, reasons and levels are limited apart, texts are not") {
  lines l;
  base::virtual_clock clock;
  limited_log log(clock, log_level::warning, l.sink());
  happen(log, failure("worker"), 15);
  happen(log, failure("clerk"), 15);
  happen(log, failure("worker", errc::timeout), 15);
  happen(log, {log_level::error, "restarted", "worker", failure("worker").reason}, 15);
  happen(log, {log_level::warning, "failed", "worker", failure("worker").reason}, 15);
  CHECK(l.count() == 50);
  clock.advance(a_second);
  CHECK(l.count() == 55);
  CHECK(events_in(l.all) == 75);
}

TEST_CASE("storms in more places than are told apart are reported as one, and add up") {
  lines l;
  base::virtual_clock clock;
  limited_log log(clock, log_level::warning, l.sink());
  for (int round = 0; round < 20; ++round)
    for (int place = 0; place < 1000; ++place) happen(log, failure(std::to_string(place)), 1);
  clock.advance(a_second);
  CHECK(l.count() <= (limited_log::places + 1) * (limited_log::lines_a_second + 1));
  CHECK(events_in(l.all) == 20'000);
  CHECK(l.all.back().starts_with("several places: "));
  // After a second, a quiet place has given up its slot to another.
  clock.advance(a_second);
  l.all.clear();
  happen(log, failure("a new one"), 11);
  clock.advance(a_second);
  CHECK(l.all.back().starts_with("a new one: 1 more"));
}

TEST_CASE("each place's number comes when its own second is over, whichever storms first") {
  lines l;
  base::virtual_clock clock;
  limited_log log(clock, log_level::warning, l.sink());
  happen(log, failure("early"), 10);
  clock.advance(a_second / 2);
  happen(log, failure("middle"), 10);
  clock.advance(a_second / 4);
  happen(log, failure("late"), 11);
  happen(log, failure("middle"), 2);
  happen(log, failure("early"), 3);
  const auto after = [&](duration d) {
    l.all.clear();
    clock.advance(d);
    return l.all.size() == 1 ? l.all.front().substr(0, l.all.front().find(" more")) : "not one";
  };
  CHECK(after(a_second / 4) == "early: 3");
  CHECK(after(a_second / 2) == "middle: 2");
  CHECK(after(a_second / 4) == "late: 1");
  CHECK(clock.pending() == 0);
}

TEST_CASE("without a timer the next event of the same kind brings the number") {
  struct refusing final : base::clock_service {
    base::virtual_clock time;
    base::instant now() const noexcept override { return time.now(); }
    base::timer_id arm(base::instant, const base::timer_task&) override { throw std::bad_alloc(); }
    bool cancel(base::timer_id) noexcept override { return false; }
  };
  lines l;
  refusing clock;
  limited_log log(clock, log_level::warning, l.sink());
  happen(log, failure("worker"), 25);
  CHECK(l.count() == 10);
  clock.time.advance(a_second);
  happen(log, failure("worker"), 1);
  CHECK(l.count() == 12);
  CHECK(events_in(l.all) == 26);
  // A slot with a number that is not yet written keeps its place, however many other events need a
  // slot.
  happen(log, failure("worker"), 24);
  clock.time.advance(a_second);
  for (int i = 0; i < 100; ++i) happen(log, failure(std::to_string(i)), 1);
  log.close();
  CHECK(events_in(l.all) == 150);
}

TEST_CASE("nothing is lost when the system ends, nor after it") {
  lines l;
  {
    base::virtual_clock clock;
    limited_log log(clock, log_level::warning, l.sink());
    happen(log, failure("worker"), 100);
    log.close();
    CHECK(clock.pending() == 0);
    CHECK(events_in(l.all) == 100);
    happen(log, failure("worker"), 100);
  }
  CHECK(events_in(l.all) == 200);
}

TEST_CASE("an excluded level makes no text and arms no timer") {
  lines l;
  base::virtual_clock clock;
  limited_log log(clock, log_level::error, l.sink());
  int made = 0;
  for (int i = 0; i < 100; ++i)
    log.write({log_level::warning, "held up", "worker"}, "worker", 0, [&made] {
      ++made;
      return std::string();
    });
  CHECK(made == 0);
  CHECK(l.count() == 0);
  CHECK(clock.pending() == 0);
}

TEST_CASE("a line without memory for its text says so") {
  lines l;
  base::virtual_clock clock;
  limited_log log(clock, log_level::warning, l.sink());
  log.write(failure("worker"), "worker", 0, []() -> std::string { throw std::bad_alloc(); });
  REQUIRE(l.count() == 1);
  CHECK(l.all.front() == "worker: no memory for the text");
}

TEST_CASE("a place with a long name is cut, not refused") {
  lines l;
  base::virtual_clock clock;
  limited_log log(clock, log_level::warning, l.sink());
  const std::string name(5000, 'x');
  happen(log, failure(name), 12);
  log.close();
  CHECK(l.all.back().starts_with("xxx"));
  CHECK(l.all.back().size() < 400);
  CHECK(events_in(l.all) == 12);
}

TEST_CASE("threads storm at once while a timer writes: the numbers add up") {
  constexpr int threads = 4;
  constexpr int each = 25'000;
  lines l;
  {
    base::timer_service clock;
    limited_log log(clock, log_level::warning, l.sink());
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&log, t] {
        const std::string own = "worker " + std::to_string(t);
        for (int i = 0; i < each / 2; ++i) {
          happen(log, failure("shared"), 1);
          happen(log, failure(own), 1);
        }
      });
    for (std::thread& t : all) t.join();
    log.close();
  }
  CHECK(events_in(l.all) == threads * each);
}

TEST_CASE("the level from which on events are written can be changed") {
  lines l;
  base::virtual_clock clock;
  limited_log log(clock, log_level::off, l.sink());
  happen(log, failure("worker"), 1);
  CHECK(l.count() == 0);
  log.set_least(log_level::error);
  CHECK(log.least() == log_level::error);
  happen(log, failure("worker"), 1);
  CHECK(l.count() == 1);
}

}  // namespace limited_log_test
