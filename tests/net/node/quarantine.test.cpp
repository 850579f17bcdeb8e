// After `node::quarantine` has returned, no message of that peer gets into a mailbox, even if other
// threads are at work at that moment.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <support/in_child.hpp>
#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace quarantine_test {

using namespace garrick;
using namespace garrick::tests;
using net::node;

constexpr std::size_t peers = 3;

struct work {
  std::uint32_t peer = 0;
};
using back_type = protocol<void(int)>;
/// Names the actor that gets an answer to each work of this peer from now on.
struct answers {
  std::uint32_t peer = 0;
  ref<back_type> to;
};
/// A message that is put into the mailbox when `quarantine` has returned.
struct mark {
  std::uint32_t peer = 0;
};
using desk_type = protocol<void(work), void(answers), void(mark)>;

struct seen {
  std::array<std::atomic<std::uint64_t>, peers> works{};
  std::array<std::atomic<bool>, peers> is_marked{};
  std::atomic<std::uint64_t> late{0};
};

/// Handles its mail in the order in which it got in.
class desk : public actor<desk_type> {
 public:
  explicit desk(seen& s) : seen_(s) {}
  void on(work w) {
    if (seen_.is_marked[w.peer]) ++seen_.late;
    ++seen_.works[w.peer];
    if (to_[w.peer]) send(to_[w.peer], 1);
  }
  void on(const answers& a) { to_[a.peer] = a.to; }
  void on(mark m) { seen_.is_marked[m.peer] = true; }

 private:
  seen& seen_;
  std::array<ref<back_type>, peers> to_;
};

class sink : public actor<back_type> {
 public:
  void on(int) {}
};

/// A peer with a thread that sends without an end.
struct peer {
  actor_system system{quiet(1)};
  node self{system};
  ref<back_type> back = system.spawn<sink>();
  std::atomic<bool> is_over{false};
  std::thread sender;

  peer(const std::string& at, std::uint32_t number) {
    const auto found = self.remote<desk_type>(at, "desk", duration::seconds(60));
    REQUIRE(found.has_value());
    send(*found, answers{number, back});
    sender = std::thread([this, to = *found, number] {
      while (!is_over) send(to, work{number});
    });
  }
  ~peer() {
    is_over = true;
    sender.join();
  }
};

TEST_CASE("quarantine: nothing is delivered behind its return, though peers and actors are busy") {
  const int rounds = HAS_SANITIZER ? 3 : 10;
  // A line that is always full refuses visits.
  for (const std::size_t most_waiting : {std::size_t{65536}, std::size_t{0}})
    for (int round = 0; round < rounds; ++round) {
      CAPTURE(most_waiting);
      CAPTURE(round);
      seen s;
      actor_system system{quiet()};
      net::node_settings of_this;
      of_this.io.threads = 2;
      of_this.transport.most_waiting = most_waiting;
      node here(system, of_this);
      const auto at = here.listen("tcp://127.0.0.1:0");
      REQUIRE(at.has_value());
      const ref<desk_type> keeper = system.spawn<desk>(lent(s));
      REQUIRE(here.publish("desk", keeper).has_value());
      std::array<std::optional<peer>, peers> all;
      for (std::uint32_t i = 0; i < peers; ++i) all[i].emplace(at->to_string(), i);
      for (std::uint32_t i = 0; i < peers; ++i) tests::wait_until([&] { return s.works[i] > 300; });
      std::vector<std::thread> callers;
      for (std::uint32_t i = 0; i + 1 < peers; ++i)
        callers.emplace_back([&, i] {
          here.quarantine(all[i]->self.self());
          send(keeper, mark{i});
        });
      for (std::thread& t : callers) t.join();
      tests::wait_until([&] { return s.is_marked[0] && s.is_marked[1]; });
      // The other peer is served as before.
      const std::uint64_t before = s.works[peers - 1];
      tests::wait_until([&] { return s.works[peers - 1] > before + 300; });
      CHECK(s.late == 0);
      CHECK(here.peers() == std::vector<net::peer_identity>{all[peers - 1]->self.self()});
    }
}

}  // namespace quarantine_test
