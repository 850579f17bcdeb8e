// Handles that go to another node and come back, a million times in `./dev soak`: afterwards the
// tables of both ends are as they were, no actor is held, and no memory is gone.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <support/in_child.hpp>
#include <support/quiet.hpp>
#include <support/rounds.hpp>
#include <support/transports.hpp>

#include "net/node/peer/service.hpp"

namespace a_million_exports {

using namespace garrick;
using net::node;
using net::peer_identity;

std::atomic<std::int64_t> guests{0};

struct nothing {};
using guest_type = protocol<std::uint32_t(nothing)>;
class guest : public actor<guest_type> {
 public:
  guest() { ++guests; }
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;
  ~guest() { --guests; }
  std::uint32_t on(nothing) { return 1; }
};

/// Handles: one to be given back at once, others to be kept until the next message.
struct look_after {
  ref<guest_type> one;
  std::vector<ref<guest_type>> others;
  bool keep = false;
};
struct both {
  ref<guest_type> back;  // the handle that was given
  ref<guest_type> made;  // a new handle, of this node
};
using inn_type = protocol<both(look_after)>;

class inn : public actor<inn_type> {
 public:
  both on(const look_after& l) {
    kept_.clear();
    if (l.keep) kept_ = l.others;
    return {l.one, spawn<guest>()};
  }

 private:
  std::vector<ref<guest_type>> kept_;
};

constexpr std::uint32_t in_a_message = 8;
constexpr std::uint32_t handles_of_a_step = in_a_message + 2;  // one that comes back, and one made

struct step {};
struct counts {
  std::atomic<std::uint64_t> handles{0}, wrong{0};
};

/// Sends handles, some messages at a time, until it has sent enough.
class traveller : public actor<protocol<void(step)>> {
 public:
  traveller(ref<inn_type> to, std::uint64_t enough, counts& c)
      : to_(std::move(to)), enough_(enough), counts_(c) {}
  void on_start() {
    for (int i = 0; i < 16; ++i) send(self(), step{});
  }
  void on(step) {
    if (counts_.handles >= enough_) return;
    const ref<guest_type> mine = spawn<guest>();
    look_after l{mine, {}, ++steps_ % 2 == 0};
    for (std::uint32_t i = 1; i < in_a_message; ++i)
      l.others.push_back(i % 2 == 0 ? spawn<guest>() : mine);
    request(to_, std::move(l))
        .then(
            [this, mine](const both& b) {
              counts_.wrong += b.back != mine || !b.made || b.made == mine;
              next();
            },
            [this](const error&) {
              ++counts_.wrong;
              next();
            });
  }

 private:
  void next() {
    counts_.handles += handles_of_a_step;
    send(self(), step{});
  }

  ref<inn_type> to_;
  std::uint64_t enough_;
  counts& counts_;
  std::uint64_t steps_ = 0;
};

/// Returns the number of entries in a table of the node.
std::uint64_t entries(const node& n, const node& of, std::string_view name) {
  for (const net::link_count& c : n.counters(of.self()))
    if (c.layer == "node" && c.name == name) return c.value;
  return ~std::uint64_t{0};
}

TEST_CASE("a million exports: handles go and come back, and the tables are as they were") {
  // 20'000 handles, and correspondingly more with GARRICK_TORTURE. `./dev soak` runs at least a
  // million.
  const std::uint64_t enough = tests::rounds(200) * 100ull;
  actor_system left(tests::quiet()), right(tests::quiet());
  node a(left), b(right);
  const std::string at = a.listen("tcp://127.0.0.1:0").value().to_string();
  REQUIRE(a.publish("inn", left.spawn<inn>()).has_value());
  const ref<inn_type> far = b.remote<inn_type>(at, "inn").value();
  std::uint64_t resident = 0;
  for (const std::uint64_t part : {enough / 2, enough}) {
    counts c;
    {
      const auto t = right.spawn<traveller>(far, part, lent(c));
      tests::wait_until([&] { return c.handles >= part; });
    }
    CHECK(c.wrong == 0);
    // The inn gives up the kept handles when it is asked once more.
    CHECK(right.request(far, look_after{}).get().has_value());
    tests::wait_until([&] { return guests == 0; });
    tests::wait_until([&] { return entries(a, b, "proxies") == 0; });
    tests::wait_until([&] { return entries(b, a, "exports") == 0; });
    CHECK(entries(a, b, "exports") == 1);  // the inn
    CHECK(entries(b, a, "proxies") == 1);
    for (const char* table : {"questions", "asked", "monitors", "links", "spawned"}) {
      CAPTURE(table);
      CHECK(entries(a, b, table) == 0);
      CHECK(entries(b, a, table) == 0);
    }
    const std::uint64_t now = tests::usage_of_this_process().resident;
    if (resident != 0 && !HAS_SANITIZER) CHECK(now < resident + (4u << 20));
    resident = now;
  }
}

}  // namespace a_million_exports
