// The fate of an actor's messages, requests, monitors and links when the process at the other end
// is killed, stopped or started again: the same over each transport. The other process is a
// node_peer.
#pragma once

#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/explore_network.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/other_process.hpp"
#include "net/node/peer/service.hpp"

namespace killed_and_stopped {

using namespace garrick;
using namespace garrick::tests;
using net::node;

constexpr int soon = 600;      // ms until a silent peer is given up
constexpr int never = 60'000;  // longer than any pause of a busy machine

/// Returns the number of repetitions: ten times as many for many seeds.
inline std::uint64_t times(std::uint64_t least) {
  return least * std::clamp<std::uint64_t>(net::testkit::seeds() / 200, 1, 10);
}

/// This end: a system, and a node in it.
struct this_end {
  actor_system system{quiet()};
  std::optional<node> self;
  explicit this_end(int down_after_ms) : this_end(node_with(down_after_ms)) {}
  explicit this_end(const net::node_settings& s) { self.emplace(system, s); }
  ref<service_type> find(const std::string& at) {
    const auto found = self->remote<service_type>(at, service_name, duration::seconds(60));
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    return *found;
  }
};

// ---- observations of this process ---------------------------------------------------------------

struct seen {
  std::atomic<std::uint64_t> sent{0}, asked{0}, values{0}, errors{0}, wrong{0};
  std::atomic<std::uint64_t> downs{0}, exits{0}, other_reasons{0};
  std::atomic<std::uint64_t> witnessed{0}, out_of_order{0};
  std::atomic<std::uint64_t> letters{0};  // dead letters of numbers
  [[nodiscard]] bool is_answered() const { return values + errors == asked; }

  /// Records that the other process has handled this question; or that this process has been told
  /// that it was not handled.
  void handled(std::uint64_t n) {
    const std::lock_guard lock(mutex_);
    handled_.insert(n);
  }
  void never_handled(std::uint64_t n) {
    const std::lock_guard lock(mutex_);
    never_handled_.insert(n);
  }
  /// Returns the number of questions with both records.
  [[nodiscard]] std::size_t lies() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(never_handled_.begin(), never_handled_.end(),
                      [&](std::uint64_t n) { return handled_.contains(n); }));
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::uint64_t> handled_;        // under mutex_
  std::set<std::uint64_t> never_handled_;  // under mutex_
};

class witness : public actor<witness_type> {
 public:
  explicit witness(seen& s) : seen_(s) {}
  void on(numbered x) {
    if (x.n != seen_.witnessed++) ++seen_.out_of_order;
  }
  void on(question q) { seen_.handled(q.n); }

 private:
  seen& seen_;
};

class reader_of_letters : public actor<system::dead_letter_protocol> {
 public:
  explicit reader_of_letters(seen& s) : seen_(s) {}
  void on(const system::dead_letter& d) {
    if (d.type.find("numbered") != std::string::npos) ++seen_.letters;
  }

 private:
  seen& seen_;
};

struct step {};

/// Sends and asks until it is told of the service's end.
class client : public actor<protocol<void(step), void(down)>> {
 public:
  client(ref<service_type> to, seen& s) : to_(std::move(to)), seen_(s) {}
  void on_start() {
    monitor(to_);
    send(self(), step{});
  }
  void on(step) {
    if (seen_.downs != 0) return;
    for (int i = 0; i < 3; ++i) send(to_, numbered{1, seen_.sent++});
    const std::uint64_t n = seen_.asked++;
    request(to_, question{n})
        .then(
            [this, n](std::uint64_t next) {
              ++seen_.values;
              seen_.wrong += next != n + 1;
              send(self(), step{});
            },
            [this, n](const error& why) {
              if (why == errc::not_handled)
                seen_.never_handled(n);
              else
                seen_.other_reasons += why != net::net_errc::perhaps_delivered;
              ++seen_.errors;
              send(self(), step{});
            });
  }
  void on(const down& d) {
    ++seen_.downs;
    seen_.other_reasons += d.reason.to_string().find("node is down") == std::string::npos;
  }

 private:
  ref<service_type> to_;
  seen& seen_;
};

/// Sends and asks a little, at once.
class asker : public actor<protocol<void(step)>> {
 public:
  static constexpr std::uint64_t messages = 50;  // with as many requests, less than the credit

  asker(ref<service_type> to, seen& s) : to_(std::move(to)), seen_(s) {}
  void on_start() { send(self(), step{}); }
  void on(step) {
    for (std::uint64_t n = 0; n < messages; ++n) {
      send(to_, numbered{2, n});
      request(to_, question{n})
          .then([this](std::uint64_t) { ++seen_.values; },
                [this](const error& why) {
                  ++seen_.errors;
                  seen_.other_reasons +=
                      why != net::net_errc::perhaps_delivered && why != errc::not_handled;
                });
      ++seen_.asked;
    }
  }

 private:
  ref<service_type> to_;
  seen& seen_;
};

/// Hears of the service's end by a link.
class linked : public actor<protocol<void(exit_signal)>> {
 public:
  linked(ref<service_type> to, seen& s) : to_(std::move(to)), seen_(s) {}
  void on_start() {
    trap_exit(true);
    link(to_);
  }
  void on(const exit_signal& x) {
    ++seen_.exits;
    seen_.other_reasons += x.reason.to_string().find("node is down") == std::string::npos;
  }

 private:
  ref<service_type> to_;
  seen& seen_;
};

inline void check_it_was_told_once(const seen& s, std::uint64_t clients) {
  CHECK(s.downs == clients);
  CHECK(s.exits == 1);
  CHECK(s.other_reasons == 0);
  CHECK(s.wrong == 0);
  CHECK(s.out_of_order == 0);
}

// ---- faults of the other process ----------------------------------------------------------------

/// Kills the process in mid-stream: each watcher is told of it once.
inline void kill_in_mid_stream(const std::string& where, std::uint64_t rounds) {
  CAPTURE(where);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    CAPTURE(round);
    seen s;
    other_process other(where, soon);
    this_end here(soon);
    const auto there = here.find(other.at);
    send(there, tell{here.system.spawn<witness>(lent(s))});
    const any_ref by_link(here.system.spawn<linked>(there, lent(s)));
    const any_ref by_monitor(
        here.system.spawn<client>(there, lent(s)));  // held: a monitor holds no actor
    tests::wait_until([&] { return s.witnessed > 500 + round * 37; });
    other.kill();
    tests::wait_until([&] { return s.downs == 1 && s.exits == 1 && s.is_answered(); });
    CHECK(here.system.request(there, question{1}).get().error() == errc::not_handled);
    tests::wait_until([&] { return here.self->peers().empty(); });
    here.self.reset();
    CHECK(s.witnessed <= s.sent);
    CHECK(s.is_answered());
    CHECK(s.lies() == 0);
    check_it_was_told_once(s, 1);
  }
}

/// Stops the process for too long: it is down once, and connected again when it goes on.
inline void stop_for_too_long(const std::string& where, std::uint64_t rounds) {
  CAPTURE(where);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    seen s;
    other_process other(where, soon);
    this_end here(soon);
    const auto there = here.find(other.at);
    // A handle, since a monitor holds no actor. A link would end the service, too.
    const any_ref by_monitor(here.system.spawn<client>(there, lent(s)));
    tests::wait_until([&] { return s.values > 50; });
    other.stop();
    tests::wait_until([&] { return s.downs == 1 && s.is_answered(); });
    const auto before = here.system.dead_letter_count();
    for (std::uint64_t n = 0; n < 10; ++n) send(there, numbered{9, n});
    CHECK(here.system.dead_letter_count() == before + 10);
    CHECK(here.system.request(there, question{1}).get().error() == errc::not_handled);
    other.go_on();
    // The process may have to hear first that it was given up.
    std::uint64_t sender = 10;
    tests::wait_until(
        [&] { return visit(here.system, *here.self, other.at, ++sender, 100) == "ok"; });
    CHECK(here.self->peers().size() == 1);
    CHECK(here.system.request(there, question{1}).get().error() == errc::not_handled);
    CHECK(s.downs == 1);
    CHECK(s.wrong == 0);
    CHECK(s.other_reasons == 0);
  }
}

/// The same if the given-up life may not come back: it learns that, and remains refused. Another
/// life at its address is served.
inline void quarantine_who_was_stopped(const std::string& where) {
  CAPTURE(where);
  seen s;
  std::optional<other_process> other;
  other.emplace(where, soon);
  net::node_settings settings = node_with(soon);
  settings.after_down = net::peer_return::new_life_only;
  this_end here(settings);
  const auto there = here.find(other->at);
  const any_ref by_monitor(here.system.spawn<client>(there, lent(s)));
  tests::wait_until([&] { return s.values > 50; });
  other->stop();
  tests::wait_until([&] { return s.downs == 1 && s.is_answered(); });
  other->go_on();
  std::string told;
  tests::wait_until([&] {
    other->order("downs");
    told = other->answer();
    return !told.starts_with("0 ");
  });
  CHECK_MESSAGE(told.starts_with("1 "), told);
  CHECK_MESSAGE(told.find("given it up") != std::string::npos, told);
  for (int i = 0; i < 3; ++i) {
    const std::string refused = visit(here.system, *here.self, other->at, 2, 10);
    CHECK_MESSAGE(refused.find("given its incarnation up") != std::string::npos, refused);
  }
  CHECK(here.self->peers().empty());
  const std::string at = other->at;
  other->kill();
  other.emplace(at, soon);
  std::string result;
  tests::wait_until([&] {
    result = visit(here.system, *here.self, at, 3, 50);
    return result == "ok";
  });
  CHECK(here.system.request(there, question{1}).get().error() == errc::not_handled);
  CHECK(s.downs == 1);
  CHECK(s.wrong == 0);
  CHECK(s.other_reasons == 0);
}

/// Kills the process: each message that it had not read becomes a dead letter once.
inline void kill_with_unread_messages(const std::string& where, std::uint64_t rounds) {
  CAPTURE(where);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    seen s;
    other_process other(where, soon);
    this_end here(soon);
    here.system.dead_letters().subscribe(here.system.spawn<reader_of_letters>(lent(s)));
    const auto there = here.find(other.at);
    const std::string result = visit(here.system, *here.self, other.at, 1, 100);
    CHECK_MESSAGE(result == "ok", result);
    // Once all messages are confirmed, none is in doubt any more.
    const auto confirmed = [&] {
      for (const net::peer_identity& p : here.self->peers())
        for (const net::link_count& c : here.self->counters(p))
          if (c.layer == "reconnect" && c.name == "confirmed") return c.value;
      return std::uint64_t{0};
    };
    tests::wait_until([&] { return confirmed() >= 101; });
    other.stop();
    here.system.spawn<asker>(there, lent(s));
    tests::wait_until([&] { return s.asked == asker::messages; });
    other.kill();
    tests::wait_until([&] { return s.is_answered() && s.letters >= asker::messages; });
    here.self.reset();
    CHECK(s.letters == asker::messages);
    CHECK(s.errors == asker::messages);
    CHECK(s.other_reasons == 0);
  }
}

/// Starts the process again under its address: it is another life, and old handles stay dead.
inline void start_again(const std::string& where, std::uint64_t rounds) {
  CAPTURE(where);
  seen s;
  this_end here(soon);
  std::optional<other_process> other;
  other.emplace(where, soon);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const auto old = here.find(other->at);
    const any_ref by_monitor(
        here.system.spawn<client>(old, lent(s)));  // held: a monitor holds no actor
    tests::wait_until([&] { return s.values > 20 * round + 20; });
    const std::string at = other->at, incarnation = other->incarnation;
    other->kill();
    other.emplace(at, soon);
    CHECK(other->at == at);
    CHECK(other->incarnation != incarnation);
    // The old connection may be found until it is known to be over.
    std::string result;
    tests::wait_until([&] {
      result = visit(here.system, *here.self, at, 2, 50);
      return result == "ok";
    });
    tests::wait_until([&] { return s.downs == 1 && s.is_answered(); });
    CHECK(here.system.request(old, question{1}).get().error() == errc::not_handled);
    const auto peers = here.self->peers();
    REQUIRE(peers.size() == 1);
    CHECK(std::to_string(peers[0].incarnation) == other->incarnation);
    s.downs = 0;
  }
  here.self.reset();
  CHECK(s.downs == 0);
  CHECK(s.other_reasons == 0);
}

}  // namespace killed_and_stopped
