// Two nodes flood each other from handlers that hold all workers at both ends.
#include <doctest/doctest.h>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace floods_test {

using namespace garrick;

struct drop {
  std::uint64_t number = 0;
};
struct fallen {};
struct fallen_drops {
  std::uint64_t number = 0;
  bool is_exact = false;  ///< each drop came once and in order
};
struct pour {
  std::uint64_t drops = 0;
};
using sink_type = protocol<void(drop), fallen_drops(fallen)>;
using source_type = protocol<void(pour)>;

/// Counts incoming drops. Its report says whether one was lost, doubled or overtaken.
class sink : public actor<sink_type> {
 public:
  void on(const drop& d) {
    is_exact_ = is_exact_ && d.number == next_;
    ++next_;
  }
  fallen_drops on(fallen) { return {next_, is_exact_}; }

 private:
  std::uint64_t next_ = 0;
  bool is_exact_ = true;
};

/// Sends everything in one handler.
class source : public actor<source_type> {
 public:
  explicit source(ref<sink_type> to) : to_(std::move(to)) {}
  void on(const pour& p) {
    for (std::uint64_t i = 0; i < p.drops; ++i) send(to_, drop{i});
  }

 private:
  ref<sink_type> to_;
};

constexpr std::uint64_t drops = 100'000;
constexpr int workers = 2;
constexpr duration long_time = duration::seconds(60);

/// An end with as many sinks as workers; the other end has a source for each.
struct end {
  actor_system system{tests::quiet(workers)};
  net::node here{system};
  std::string at = here.listen("tcp://127.0.0.1:0").value().to_string();
  std::vector<ref<sink_type>> sinks;
  std::vector<ref<source_type>> sources;

  end() {
    for (int i = 0; i < workers; ++i) {
      sinks.push_back(system.spawn<sink>());
      here.publish(std::to_string(i), sinks.back()).value();
    }
  }
  void find_sinks_of(const end& other) {
    for (int i = 0; i < workers; ++i)
      sources.push_back(system.spawn<source>(
          here.remote<sink_type>(other.at, std::to_string(i), long_time).value()));
  }
  void check_all_came() {
    for (const auto& one : sinks) {
      fallen_drops seen;
      tests::wait_until([&] {
        seen = system.request(one, fallen{}, long_time).get().value();
        return seen.number >= drops || !seen.is_exact;
      });
      CHECK(seen.number == drops);
      CHECK(seen.is_exact);
    }
    CHECK(system.dead_letter_count() == 0);
  }
};

TEST_CASE("floods: two nodes with all workers waiting for each other's actors go on") {
  end left;
  end right;
  left.find_sinks_of(right);
  right.find_sinks_of(left);
  for (int i = 0; i < workers; ++i) {
    send(left.sources[static_cast<std::size_t>(i)], pour{drops});
    send(right.sources[static_cast<std::size_t>(i)], pour{drops});
  }
  left.check_all_came();
  right.check_all_came();
}

/// Settings with one worker, which a few messages to a receiver that takes none hold for long.
settings soon_held() {
  settings s = tests::quiet(1);
  s.mailbox.soft_limit = 8;
  s.mailbox.full_wait = long_time;
  return s;
}

class filler : public actor<protocol<void(pour)>> {
 public:
  explicit filler(any_ref tub) : tub_(std::move(tub)) {}
  void on(const pour& p) {
    for (std::uint64_t i = 0; i < p.drops; ++i) send(tub_, drop{i});
  }

 private:
  any_ref tub_;
};

TEST_CASE("floods: a worker that waits for an actor of its own node counts as one that waits") {
  actor_system slow(soon_held());
  net::node there(slow);
  const std::string at = there.listen("tcp://127.0.0.1:0").value().to_string();
  const auto one = slow.spawn<sink>();
  there.publish("sink", one).value();
  net::node_settings s;
  s.patience = long_time;
  actor_system fast{tests::quiet(1)};
  net::node here(fast, s);
  const auto far = here.remote<sink_type>(at, "sink", long_time).value();
  scoped_actor tub(slow.env());
  std::uint64_t seen = 0;
  send(slow.spawn<filler>(tub->self()), pour{100});  // holds the only worker
  tub->receive([&](const drop&) { ++seen; });        // now the worker is held
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < 2000; ++i) send(far, drop{i});
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  while (seen < 100) tub->receive([&](const drop&) { ++seen; });
  tests::wait_until(
      [&] { return slow.request(one, fallen{}, long_time).get().value().number == 2000; });
}

std::int64_t credit_of(const ref<sink_type>& far) {
  return static_cast<core::proxy_cell*>(core::handle_access::get(far))->credit();
}

TEST_CASE(
    "floods: an actor that cannot be run is granted as much as it has room for, and no more") {
  actor_system slow(soon_held());
  net::node there(slow);
  const std::string at = there.listen("tcp://127.0.0.1:0").value().to_string();
  actor_system fast{tests::quiet(1)};
  net::node here(fast);
  const auto shown = [&](const std::string& name, const spawn_options& how) {
    there.publish(name, slow.spawn<sink>(how)).value();
    return here.remote<sink_type>(at, name, long_time).value();
  };
  const auto bounded = shown("bounded", {.policy = mailbox_policy::reject, .bound = 10'000});
  // The link does not look before 128 messages have come, and then the mailbox is half full.
  const auto half_full = shown("half full", {.hard_limit = 257});
  const auto roomy = shown("roomy", {});
  scoped_actor tub(slow.env());
  std::uint64_t seen = 0;
  send(slow.spawn<filler>(tub->self()), pour{100});  // holds the only worker
  tub->receive([&](const drop&) { ++seen; });
  constexpr std::uint64_t first_credit = 256;
  for (const auto& to : {bounded, half_full, roomy})
    for (std::uint64_t i = 0; i < first_credit; ++i) send(to, drop{i});
  tests::wait_until([&] { return credit_of(roomy) >= 128; });  // the others were looked at before
  CHECK(credit_of(roomy) < 256);
  CHECK(credit_of(bounded) == 0);
  CHECK(credit_of(half_full) == 0);
  while (seen < 100) tub->receive([&](const drop&) { ++seen; });
  for (const auto& to : {bounded, half_full, roomy})
    CHECK(fast.request(to, fallen{}, long_time).get().value().number == first_credit);
  CHECK(slow.dead_letter_count() == 0);
}

}  // namespace floods_test
