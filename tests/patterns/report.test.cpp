// A stream's report: the figures of its nodes, and of replicas together.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

namespace {

std::vector<std::string> names(const stream_report& r) {
  std::vector<std::string> all;
  for (const stage_report& s : r.stages) all.push_back(s.name);
  return all;
}
int same(int x) { return x; }

}  // namespace

TEST_CASE("by stage, replicas are one line with the sums of their figures") {
  test_system kit(1);
  const auto one = seq(same).named("one");
  const auto other = seq(same).named("other");
  const auto h = spawn(
      kit,
      pipeline(counting(0, 1000), farm(farm(pipeline(one, other, one)).replicas(2)).replicas(3),
               other, other, farm(seq(same).named("2nd.half")).replicas(2), discard<int>()),
      {.fuse = false});
  kit.run();
  const stream_report nodes = kit.request(h, get_report{}).get().value();
  CHECK(nodes.stages.size() == 1 + 18 + 2 + 2 + 1);
  const stream_report r = nodes.by_stage();
  CHECK(names(r) == std::vector<std::string>{"counting", "one", "other", "one", "other", "other",
                                             "2nd.half", "discard"});
  for (std::size_t i = 1; i < r.stages.size(); ++i) {
    CAPTURE(i);
    CHECK(r.stages[i].figures.in == 1000);
    CHECK(r.stages[i].replicas == (i < 4 ? 6 : i == 6 ? 2 : 1));
  }
  CHECK(r.to_string().find("one (6) ") != std::string::npos);
  CHECK(r.to_string().find("discard ") != std::string::npos);
}

TEST_CASE("the bottleneck is the node, or the stage by its average replica, that was busiest") {
  stream_report r;
  CHECK(r.bottleneck() == nullptr);
  CHECK(r.by_stage().stages.empty());
  r.stages = {{"2.read", {.busy_ns = 40}}, {"1.read", {.busy_ns = 40}}, {"store", {.busy_ns = 50}}};
  CHECK(r.bottleneck()->name == "store");
  CHECK(r.by_stage().bottleneck()->name == "store");
  r.stages[0].figures.busy_ns = 70;
  CHECK(r.bottleneck()->name == "2.read");
  CHECK(r.by_stage().bottleneck()->name == "read");
}

TEST_CASE("stages of one name are told apart") {
  stream_report r;
  for (const char* name : {"2.a", "1.a", "3.a", "2.a", "1.a", "a", "a", "2.2.a", "2.1.a", "1.1.a"})
    r.stages.push_back({name});
  const stream_report all = r.by_stage();
  REQUIRE(all.stages.size() == 5);
  const std::size_t expected[] = {2, 3, 1, 1, 3};
  for (std::size_t i = 0; i < 5; ++i) CHECK(all.stages[i].replicas == expected[i]);
}
