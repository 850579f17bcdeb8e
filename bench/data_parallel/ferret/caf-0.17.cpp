// An actor for each stage, `workers` of them for each in the middle, which get their queries in
// turn.
#include "common/caf_system.hpp"
#include "data_parallel/ferret/search.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::photo)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::segmented)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::described)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::indexed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::answer)

namespace {

using actors = std::vector<caf::actor>;
using load_atom = caf::atom_constant<caf::atom("load")>;

struct turns {
  std::size_t next = 0;
};
using stage = caf::stateful_actor<turns>;

const caf::actor& next_of(stage* self, const actors& next) {
  return next[self->state.next++ % next.size()];
}

caf::behavior collector(caf::event_based_actor* self, std::size_t queries,
                        std::vector<bench::answer>* found) {
  return {
      [=](const bench::answer& a) {
        found->push_back(a);
        if (found->size() == queries) self->quit();
      },
  };
}

caf::behavior ranker(stage* self, const bench::gallery* g, const actors& next) {
  return {
      [=](const bench::indexed& q) { self->send(next_of(self, next), bench::rank(g->all, q)); },
  };
}
caf::behavior indexer(stage* self, const bench::gallery* g, const actors& next) {
  return {
      [=](const bench::described& d) {
        self->send(next_of(self, next), bench::look_up(g->all, d));
      },
  };
}
caf::behavior extractor(stage* self, const actors& next) {
  return {
      [=](bench::segmented& s) { self->send(next_of(self, next), bench::extract(std::move(s))); },
  };
}
caf::behavior segmenter(stage* self, const actors& next) {
  return {
      [=](bench::photo& p) { self->send(next_of(self, next), bench::segment(std::move(p))); },
  };
}
caf::behavior loader(stage* self, const bench::gallery* g, const actors& next) {
  return {
      [=](load_atom) {
        for (std::uint32_t i = 0; i < g->queries; ++i)
          self->send(next_of(self, next), bench::load(i));
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const gallery g = make_gallery(args);
  const std::size_t workers = args.count("workers", 2);

  std::vector<answer> found;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    const auto pool = [&](auto make) {
      actors all;
      for (std::size_t i = 0; i < workers; ++i) all.push_back(make());
      return all;
    };
    {
      const actors last{system.spawn(collector, g.queries, &found)};
      const actors rankers = pool([&] { return system.spawn(ranker, &g, last); });
      const actors indexers = pool([&] { return system.spawn(indexer, &g, rankers); });
      const actors extractors = pool([&] { return system.spawn(extractor, indexers); });
      const actors segmenters = pool([&] { return system.spawn(segmenter, extractors); });
      caf::anon_send(system.spawn(loader, &g, segmenters), load_atom::value);
    }
    system.await_all_actors_done();
  });
  check_answers(out, g, std::move(found));
}
