// Savina 08: workers read and write one hash map, which belongs to an actor; each waits for an
// answer before it asks again.
#include <unordered_map>

#include "common/caf_system.hpp"
#include "savina/dictionary/requests.hpp"

namespace {

using bench::savina::dictionary_outcome;
using bench::savina::dictionary_rules;
using write_atom = caf::atom_constant<caf::atom("write")>;
using read_atom = caf::atom_constant<caf::atom("read")>;
using done_atom = caf::atom_constant<caf::atom("done")>;

struct dictionary_state {
  std::unordered_map<std::uint32_t, std::uint32_t> values;
  dictionary_outcome counts;
};

caf::behavior dictionary(caf::stateful_actor<dictionary_state>* self, dictionary_outcome* found) {
  return {
      [=](write_atom, std::uint32_t key, std::uint32_t value) -> std::int64_t {
        ++self->state.counts.writes;
        return self->state.values[key] = value;
      },
      // -1: there is none.
      [=](read_atom, std::uint32_t key) -> std::int64_t {
        ++self->state.counts.reads;
        const auto at = self->state.values.find(key);
        return at == self->state.values.end() ? -1 : std::int64_t{at->second};
      },
      [=](done_atom) {
        self->state.counts.size = self->state.values.size();
        *found = self->state.counts;
        self->quit();
      },
  };
}

class worker : public caf::event_based_actor {
 public:
  worker(caf::actor_config& cfg, const dictionary_rules& rules, std::uint32_t id,
         caf::actor dictionary, caf::actor master)
      : caf::event_based_actor(cfg),
        requests_(rules, id),
        dictionary_(std::move(dictionary)),
        master_(std::move(master)) {}

  caf::behavior make_behavior() override {
    next();
    return {};  // an actor without a behavior lives as long as it waits for an answer
  }
  void on_exit() override {
    dictionary_ = nullptr;
    master_ = nullptr;
  }

 private:
  void next() {
    if (!requests_.more()) {
      send(master_, done_atom::value);
      return;
    }
    const auto r = requests_.next();
    const auto answered = [this](std::int64_t) { next(); };
    if (r.write)
      request(dictionary_, caf::infinite, write_atom::value, r.key, r.value).then(answered);
    else
      request(dictionary_, caf::infinite, read_atom::value, r.key).then(answered);
  }

  bench::savina::dictionary_requests requests_;
  caf::actor dictionary_;
  caf::actor master_;
};

caf::behavior master(caf::event_based_actor* self, const dictionary_rules& rules,
                     dictionary_outcome* found) {
  const auto values = self->spawn(dictionary, found);
  for (std::uint32_t i = 0; i < rules.workers; ++i) self->spawn<worker>(rules, i, values, self);
  std::uint32_t left = rules.workers;
  return {
      [=](done_atom) mutable {
        if (--left != 0) return;
        self->send(values, done_atom::value);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const dictionary_rules rules = savina::read_rules(args);

  dictionary_outcome found;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(master, rules, &found);
    system.await_all_actors_done();
  });
  out.items = std::uint64_t{rules.workers} * rules.messages;
  savina::check_dictionary(out, rules, found);
}
