// A stream runs as `optimise` says, and computes the same with and without rewriting.
#include <doctest/doctest.h>
#include <garrick/testkit/explore.hpp>
#include <patterns/random_scene.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rewriting_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using namespace garrick::random_streams;
using testkit::test_system;

using node_names = std::map<std::string, std::size_t>;

/// The nodes that run a rewritten plan, and their expected number.
void add_nodes(const plan& p, std::size_t times, node_names& to) {
  if (p.what == "stage") to[p.name] += times;
  if (p.what == "feedback") to["gate"] += times;
  if (p.what == "zip") to["zip"] += times;
  if ((p.what == "farm" || p.what == "parallel") && p.emitter) to["emitter"] += times;
  if (p.ordered) to["collector"] += times;
  const std::size_t each = p.what == "farm" ? times * p.replicas : times;
  for (const plan& part : p.parts) add_nodes(part, each, to);
}
node_names nodes_of(const plan& p) {
  node_names all;
  add_nodes(p, 1, all);
  return all;
}
node_names nodes_of(const stream_report& r) {
  node_names all;
  for (const stage_report& s : r.stages) ++all[s.name.substr(s.name.rfind('.') + 1)];
  return all;
}

/// A way to run the scene's stream, and its outcome.
struct variant {
  scene s;
  node_names planned;
  node_names run;
  items got;
};

/// Runs the same stream in several ways, side by side.
class rewriting {
 public:
  rewriting(test_system& kit, const scene& s) : kit_(kit), s_(s) {}

  void act() {
    auto plain = spawn_one({.remove_emitters = false, .fuse = false});
    auto rewritten = spawn_one({});
    auto half = spawn_one({.remove_emitters = kit_.seed() % 2 == 0, .fuse = kit_.seed() % 2 == 1});
    kit_.run_for(duration::seconds(10));
    for (auto* const one : {&plain, &rewritten, &half}) finish(*one);
    same(plain, rewritten);
    same(plain, half);
  }
  tally t;

 private:
  using handle = stream_ref<>;
  struct running {
    std::unique_ptr<variant> what;
    handle h;
  };

  running spawn_one(stream_options o) {
    auto v = std::make_unique<variant>();
    v->s = s_;
    v->s.all = twin_of(*s_.all);
    o.capacity = s_.options.capacity;
    o.in_place = s_.options.in_place;
    v->s.options = o;
    const auto ask_one = [this](behaviour_of b, std::uint32_t id) {
      return ref<answering_protocol>(kit_.spawn<answering>(std::move(b), id));
    };
    const auto p =
        pipeline(from(s_.in), maker(v->s.all, ask_one).make(s_.composition), into(v->s.all));
    v->planned = nodes_of(optimise(p, o));
    return {std::move(v), spawn(kit_, p, o)};
  }
  void finish(running& r) {
    variant& v = *r.what;
    judge j(v.s, t);
    j.outcome(kit_.request(r.h, join{}).get());
    j.results();
    const auto report = kit_.request(r.h, get_report{}).get();
    j.require(report.has_value(), "there is no report");
    j.counters(*report, 0);
    v.run = nodes_of(*report);
    v.got = v.s.all->got;
    if (!s_.composition.keeps_order()) std::sort(v.got.begin(), v.got.end());
    j.require(v.run == v.planned, "it is not run as the plan says");
  }
  void same(const running& a, const running& b) {
    kit_.require(a.what->got == b.what->got, "rewriting has changed the results\n" + s_.text());
    kit_.require(a.what->s.all->thrown == b.what->s.all->thrown,
                 "rewriting has changed the failures\n" + s_.text());
  }

  test_system& kit_;
  const scene& s_;
};

}  // namespace

TEST_CASE("random compositions are run as optimise says, and give the same without rewriting") {
  std::uint64_t runs = 0, fused = 0, without_emitters = 0;
  testkit::explore(1000, [&](test_system& kit) {
    const scene s = scene_of(kit.seed(), alphabet::exact);
    rewriting(kit, s).act();
    const node_names written = nodes_of(maker(s.all).make(s.composition).describe());
    const node_names run = nodes_of(optimise(maker(s.all).make(s.composition)));
    const auto emitters = [](const node_names& n) {
      const auto found = n.find("emitter");
      return found == n.end() ? 0 : found->second;
    };
    ++runs;
    without_emitters += emitters(run) < emitters(written) ? 1 : 0;
    for (const auto& [name, n] : run) fused += name.find('+') != std::string::npos ? 1 : 0;
  });
  if (runs < 1000) return;
  CHECK(fused > 100);
  CHECK(without_emitters > 100);
}

}  // namespace rewriting_test
