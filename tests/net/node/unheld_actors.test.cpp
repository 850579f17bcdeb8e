// An actor to which no handle exists while it runs: actors of another node that have its address
// watch it, and let go of it, as those of its own node do.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace unheld_actors_test {

using namespace garrick;
using tests::wait_until;

struct step {
  int number = 0;
};
using walks = protocol<void(step)>;

/// Stops in its first handler until it may go on, and then fails some steps later.
class walker : public actor<walks> {
 public:
  walker(std::atomic<bool>& stands, std::atomic<bool>& may_go) : stands_(stands), go_(may_go) {}
  void on(step s) {
    if (s.number == 0) {
      stands_ = true;
      wait_until([&] { return go_.load(); });
    }
    if (s.number == 5) return quit(make_error(errc::user, "walker", "is tired"));
    send(self(), step{s.number + 1});
  }

 private:
  std::atomic<bool>&stands_, &go_;
};

enum class act : std::uint8_t { monitor, link, unlink };
struct order {
  act what = act::monitor;
};
struct heard {};
using watches = protocol<bool(order), std::string(heard)>;

/// Has the address of a walker of another node. Traps exits.
class watcher : public actor<watches> {
 public:
  explicit watcher(core::address of) : of_(std::move(of)) { trap_exit(true); }
  bool on(order o) {
    if (o.what == act::monitor) monitor(of_);
    if (o.what == act::link) link(of_);
    if (o.what == act::unlink) unlink(of_);
    return true;
  }
  std::string on(heard) { return heard_; }
  void on(const down& d) { heard_ += "down: " + d.reason.to_string(); }
  void on(const exit_signal& x) { heard_ += "exit: " + x.reason.to_string(); }

 private:
  core::address of_;
  std::string heard_;
};

struct keep {
  ref<watches> whom;
};
using keeps = protocol<bool(keep)>;
/// Answers behind all frames that its link has read before, and has a handle to the watcher.
class keeper : public actor<keeps> {
 public:
  bool on(const keep& k) {
    whom_ = k.whom;
    return true;
  }

 private:
  ref<watches> whom_;
};

/// A walker and a keeper on one node, and a watcher on the other. No handle to the walker exists
/// when `meanwhile` begins, during which it is blocked in its handler.
template <class F>
std::string heard_of_walker(act before, F meanwhile) {
  std::atomic<bool> stands{false}, may_go{false};
  actor_system there(tests::quiet()), here(tests::quiet());
  net::node far(there), near(here);
  const std::string at = far.listen("tcp://127.0.0.1:0").value().to_string();
  weak_ref<walks> weak;
  {
    const auto walking = there.spawn<walker>(lent(stands), lent(may_go));
    weak = walking;
    REQUIRE(far.publish("walker", walking).has_value());
  }
  REQUIRE(far.publish("keeper", there.spawn<keeper>()).has_value());
  auto walking = near.remote<walks>(at, "walker").value();
  const auto keeping = near.remote<keeps>(at, "keeper").value();
  const auto who = here.spawn<watcher>(walking.address());
  REQUIRE(here.request(who, order{before}).get().value());
  send(walking, step{});
  wait_until([&] { return stands.load(); });
  REQUIRE(far.unpublish("walker"));
  walking = {};
  REQUIRE(here.request(keeping, keep{who}).get().value());
  wait_until([&] { return !weak.lock(); });
  meanwhile(here, who);
  REQUIRE(here.request(keeping, keep{who}).get().value());
  may_go = true;
  std::string text;
  wait_until([&] {
    text = here.request(who, heard{}).get().value();
    return !text.empty() || (before == act::link && there.actor_count() == 1);
  });
  REQUIRE(here.request(keeping, keep{who}).get().value());
  return here.request(who, heard{}).get().value();
}

TEST_CASE("unheld actors: an actor that monitors one by its address hears why it ends") {
  const std::string text = heard_of_walker(act::monitor, [](auto& here, const auto& who) {
    CHECK(here.request(who, order{act::monitor}).get().value());
  });
  CHECK(text.find("unreachable") == std::string::npos);
  CHECK(text.find("is tired") != std::string::npos);
}

TEST_CASE("unheld actors: an actor that takes a link back hears nothing of its end") {
  CHECK(heard_of_walker(act::link, [](auto& here, const auto& who) {
          CHECK(here.request(who, order{act::unlink}).get().value());
        }) == "");
}

}  // namespace unheld_actors_test
