// The log of a whole system when a hundred thousand actors fail at once.
#include <doctest/doctest.h>
#include <garrick/base/concurrency/probe.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>

#include "support/in_child.hpp"

namespace log_storm_test {

namespace {

using namespace garrick;
using garrick::tests::in_child;

constexpr std::uint64_t crowd = 100'000;

struct fall {};

struct faller : actor<protocol<void(fall)>> {
  std::uint64_t number;
  explicit faller(std::uint64_t n) : number(n) {}
  void on(fall) { throw std::runtime_error("number " + std::to_string(number)); }
};

struct counter final : base::probe {
  std::atomic<std::uint64_t> failures{0};
  std::atomic<std::uint64_t> letters{0};
  void on_actor_failed(std::uint64_t, const base::message_type*,
                       const exit_reason&) noexcept override {
    ++failures;
  }
  void on_dead_letter(std::uint64_t, std::uint64_t, const base::message_type*,
                      const error&) noexcept override {
    ++letters;
  }
};

/// Lines, and the events that they stand for, of one kind.
struct told {
  std::uint64_t lines = 0;
  std::uint64_t events = 0;
};

told of_kind(const std::string& text, const std::string& kind) {
  told t;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.find(kind) == std::string::npos) continue;
    ++t.lines;
    const std::size_t more = line.find(" more within a second");
    t.events +=
        more == std::string::npos ? 1 : std::stoull(line.substr(line.rfind(' ', more - 1) + 1));
  }
  return t;
}

/// Spawns `actors` that fail at once. Returns how many of their messages became dead letters.
std::uint64_t storm(std::uint64_t actors, counter& seen) {
  settings o;
  o.scheduler.workers = 2;
  o.probe = &seen;
  o.log.level = system::log_level::debug;  // dead letters, too
  actor_system system(o);
  for (std::uint64_t i = 0; i < actors; ++i) send(system.spawn<faller>(i), fall{});
  static_cast<void>(system.await_all());
  return system.dead_letter_count(errc::receiver_failed);
}

}  // namespace

TEST_CASE("failures and dead letters are counted exactly while most of their lines are held back") {
  constexpr std::uint64_t actors = 2'000;
  counter seen;
  CHECK(storm(actors, seen) == actors);
  CHECK(seen.failures == actors);
  CHECK(seen.letters == actors);
}

TEST_CASE("a hundred thousand failing actors: a page of lines, and every one is counted" *
          doctest::skip(HAS_SANITIZER)) {
  const auto begin = std::chrono::steady_clock::now();
  const auto [text, status] = in_child([] {
    counter seen;
    const std::uint64_t letters = storm(crowd, seen);
    std::fprintf(stderr, "counted %llu letters\n", static_cast<unsigned long long>(letters));
    std::fprintf(stderr, "probe saw %llu and %llu\n",
                 static_cast<unsigned long long>(seen.failures.load()),
                 static_cast<unsigned long long>(seen.letters.load()));
  });
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(status == 0);
  const std::string all = std::to_string(crowd);
  CHECK(text.find("counted " + all + " letters") != std::string::npos);
  CHECK(text.find("probe saw " + all + " and " + all) != std::string::npos);
  for (const char* kind : {"garrick error: ", "garrick debug: "}) {  // failures, dead letters
    CAPTURE(kind);
    const told t = of_kind(text, kind);
    CHECK(t.events == crowd);
    CHECK(static_cast<double>(t.lines) <= 11 * (seconds + 2));
  }
}

TEST_CASE("a line break or an escape sequence in a name or a text forges no line of the log") {
  struct forger : actor<protocol<void(fall)>> {
    void on(fall) {
      throw std::runtime_error("first\n10:00:00 garrick error: forged\x1b[31m\t\xc2\x9b");
    }
  };
  const auto [text, status] = in_child([] {
    settings values;
    values.log.level = system::log_level::error;
    actor_system system(values);
    send(system.spawn<forger>(spawn_options{.name = "evil\rname \xc3\xa4"}), fall{});
    static_cast<void>(system.await_all());
  });
  CHECK(text.find("evil\\x0dname \xc3\xa4#") != std::string::npos);
  CHECK(text.find("first\\n10:00:00 garrick error: forged\\x1b[31m\\t\\xc2\\x9b") !=
        std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(of_kind(text, "forged").lines == 1);
}

}  // namespace log_storm_test
