// A pipeline with four farms.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "data_parallel/ferret/search.hpp"

namespace {

using namespace garrick::patterns;
using bench::answer;
using bench::gallery;
using shared_gallery = std::shared_ptr<const gallery>;

bool load_next(const shared_gallery& g, std::uint32_t& next, emit<bench::photo> out) {
  if (next == g->queries) return false;
  out(bench::load(next++));
  return true;
}
bench::indexed find(const shared_gallery& g, const bench::described& d) {
  return bench::look_up(g->all, d);
}
answer choose(const shared_gallery& g, const bench::indexed& q) { return bench::rank(g->all, q); }

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto g = std::make_shared<const gallery>(make_gallery(args));

  const auto collect = fold(std::vector<answer>(), [](std::vector<answer> all, const answer& a) {
    all.push_back(a);
    return all;
  });
  const auto search = pipeline(garrick::patterns::bind(load_next, g, 0U), farm(seq(segment)),
                               farm(seq(extract)), farm(seq(garrick::patterns::bind(find, g))),
                               farm(seq(garrick::patterns::bind(choose, g))), collect);
  std::vector<answer> found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    found = system.request(spawn(system, search), join{}).get().value();
  });
  check_answers(out, *g, std::move(found));
}
