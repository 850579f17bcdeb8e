// If the line of visits of a link is full, nothing of actors is lost: messages wait elsewhere,
// and answers, signals and releases get in.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <support/in_child.hpp>
#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace full_lines_test {

using namespace garrick;
using net::node;

struct question {
  std::uint64_t n = 0;
};
struct make_guest {};
using guest_type = protocol<std::uint64_t(question)>;
using desk_type = protocol<std::uint64_t(question), ref<guest_type>(make_guest)>;

std::atomic<int> guests{0};

class guest : public actor<guest_type> {
 public:
  guest() { ++guests; }
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;
  ~guest() { --guests; }
  std::uint64_t on(question q) { return q.n; }
};

class desk : public actor<desk_type> {
 public:
  std::uint64_t on(question q) { return q.n; }
  ref<guest_type> on(make_guest) { return spawn<guest>(); }
};

struct step {};
struct counts {
  std::atomic<std::uint64_t> values{0}, errors{0}, wrong{0}, downs{0};
};

/// Asks some questions at a time without an end, and watches each guest that it gets for a while.
class asker : public actor<protocol<void(step), void(down)>> {
 public:
  asker(ref<desk_type> to, std::uint64_t rounds, counts& c)
      : to_(std::move(to)), rounds_(rounds), counts_(c) {}
  void on_start() {
    for (int i = 0; i < 8; ++i) send(self(), step{});
  }
  void on(step) {
    const std::uint64_t n = asked_++;
    if (n >= rounds_) return;
    if (n % 4 == 3)
      request(to_, make_guest{})
          .then([this](const ref<guest_type>& g) { visit(g); }, [this](const error&) { failed(); });
    else
      request(to_, question{n})
          .then([this, n](std::uint64_t same) { answered(n, same); },
                [this](const error&) { failed(); });
  }
  void on(const down&) { ++counts_.downs; }

 private:
  void visit(const ref<guest_type>& g) {
    const monitor_id id = monitor(g);
    request(g, question{7})
        .then(
            [this, g, id](std::uint64_t same) {
              demonitor(id);
              answered(7, same);
            },
            [this, g, id](const error&) {
              demonitor(id);
              failed();
            });
  }
  void answered(std::uint64_t n, std::uint64_t same) {
    counts_.wrong += same != n;
    ++counts_.values;
    send(self(), step{});
  }
  void failed() {
    ++counts_.errors;
    send(self(), step{});
  }

  ref<desk_type> to_;
  std::uint64_t rounds_;
  counts& counts_;
  std::uint64_t asked_ = 0;
};

TEST_CASE("full lines: each request is answered, each watch taken back, and no actor is held") {
  const std::uint64_t rounds = HAS_SANITIZER ? 200 : 2000;
  constexpr std::uint64_t askers = 4;
  for (const bool at_asker : {false, true}) {
    CAPTURE(at_asker);
    counts c;
    actor_system left(tests::quiet()), right(tests::quiet());
    net::node_settings full;
    full.transport.most_waiting = 0;  // refuses each visit while another is on
    node a(left, at_asker ? net::node_settings() : full);
    node b(right, at_asker ? full : net::node_settings());
    const std::string at = a.listen("tcp://127.0.0.1:0").value().to_string();
    REQUIRE(a.publish("desk", left.spawn<desk>()).has_value());
    // A question of the node's own is a visit, too.
    result<ref<desk_type>> found = b.remote<desk_type>(at, "desk");
    tests::wait_until([&] { return found || (found = b.remote<desk_type>(at, "desk")); });
    {
      std::vector<any_ref> all;
      for (std::uint64_t i = 0; i < askers; ++i)
        all.emplace_back(right.spawn<asker>(*found, rounds, lent(c)));
      tests::wait_until([&] { return c.values + c.errors == askers * rounds; });
    }
    CHECK(c.wrong == 0);
    CHECK(c.downs == 0);
    CHECK(c.errors == 0);
    tests::wait_until([&] { return guests == 0; });
  }
}

}  // namespace full_lines_test
