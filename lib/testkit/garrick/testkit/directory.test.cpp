// The registry and the groups of a deterministic system: each system has its own, they cause no
// leak, and they are closed at its end.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <string>
#include <vector>

namespace directory_test {

namespace {

using namespace garrick;

struct ask {};
struct news {
  int number;
};
using service = protocol<int(ask)>;
using feed = protocol<void(news)>;

class server : public actor<service> {
 public:
  explicit server(int answer) : answer_(answer) {}
  void on_start() { CHECK(registry_of(*this).put("server", self()).has_value()); }
  int on(ask) {
    groups_of(*this).get<feed>("asked")->publish(news{answer_});
    return answer_;
  }

 private:
  int answer_;
};

struct sum {};
class listener : public actor<protocol<void(news), int(sum)>> {
  int sum_ = 0;

 public:
  void on_start() { CHECK(groups_of(*this).get<feed>("asked")->join(self()).has_value()); }
  void on(news n) { sum_ += n.number; }
  int on(sum) { return sum_; }
};

TEST_CASE("deterministic system has a registry and groups of its own") {
  testkit::explore(100, [](testkit::test_system& kit) {
    const auto s = kit.spawn<server>(7);
    const auto l = kit.spawn<listener>();
    kit.run();
    kit.require(kit.actor_count() == 2, "whoever watches for the end of named actors is hidden");
    const auto found = kit.registry().get<service>("server");
    kit.require(found.has_value() && *found == s, "not found by its name");
    kit.require(kit.request(*found, ask{}).get().value() == 7, "another answer");
    kit.require(kit.request(l, sum{}).get().value() == 7, "not published before the answer");
    kit.exit(s);
    kit.exit(l);
    kit.run();
    kit.require(kit.registry().names().empty(), "the registry still knows who has ended");
    kit.require(kit.groups().get<feed>("asked")->size() == 0, "who has ended is still a member");
  });
}

class named_peer : public actor<protocol<void(any_ref)>> {
  any_ref other_;

 public:
  void on(any_ref other) { other_ = std::move(other); }
};

TEST_CASE("actors that a name or a group leads to are no leak, others in a circle are") {
  const auto pair_of = [](testkit::test_system& kit) {
    const auto a = kit.spawn<named_peer>();
    const auto b = kit.spawn<named_peer>();
    send(a, any_ref(b));
    send(b, any_ref(a));
    return a;
  };
  testkit::test_system kit(1);
  CHECK(kit.registry().put("known", pair_of(kit)).has_value());
  CHECK(kit.groups().get<protocol<void(any_ref)>>("members")->join(pair_of(kit)).has_value());
  CHECK(kit.registry().put("alone", kit.spawn<named_peer>()).has_value());
  CHECK(kit.finish().cycles.empty());
  testkit::test_system other(1);
  pair_of(other);
  const auto report = other.finish();
  REQUIRE(report.cycles.size() == 1);
  CHECK(report.cycles[0].find("named_peer#1, ") != std::string::npos);
  CHECK(report.cycles[0].find("named_peer#2") != std::string::npos);
}

TEST_CASE("registry and groups are closed once a deterministic system has finished") {
  testkit::test_system kit(1);
  const auto a = kit.spawn<named_peer>();
  auto topic = kit.groups().get<protocol<void(any_ref)>>("members").value();
  static_cast<void>(kit.finish());
  CHECK(kit.registry().put("late", a).error() == registry_errc::closed);
  CHECK(topic.join(a).error() == groups_errc::closed);
}

}  // namespace

}  // namespace directory_test
