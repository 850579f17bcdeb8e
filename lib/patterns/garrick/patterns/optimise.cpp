#include <garrick/patterns/optimise.hpp>

#include <utility>
#include <vector>

namespace garrick::patterns {

namespace {

/// Neighbours that become one node. The rule is that of pipeline.hpp.
std::vector<plan> fused(std::vector<plan> parts) {
  std::vector<plan> nodes;
  bool busy = false;  // a part of the last node is not cheap
  for (plan& p : parts) {
    const bool fits = !nodes.empty() && p.what == "stage" && p.may_be_fused &&
                      nodes.back().what == "stage" && nodes.back().may_be_fused &&
                      (p.cheap || !busy);
    if (fits) {
      nodes.back().name += "+" + p.name;
      busy = busy || !p.cheap;
    } else {
      busy = !p.cheap;
      nodes.push_back(std::move(p));
    }
  }
  return nodes;
}

}  // namespace

plan rewritten(plan p, const stream_options& o) {
  stream_options inside = o;
  if (p.ordered) inside.fuse = false;  // there each stage has a node of its own
  for (plan& part : p.parts) part = rewritten(std::move(part), inside);
  if (o.remove_emitters && !p.ordered) p.emitter = false;
  if (o.fuse && p.what == "pipeline") p.parts = fused(std::move(p.parts));
  return p;
}

}  // namespace garrick::patterns
