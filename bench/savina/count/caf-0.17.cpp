// Savina 02: a producer floods a counter, then asks it how many messages have come.
#include "common/caf_system.hpp"

namespace {

using increment_atom = caf::atom_constant<caf::atom("increment")>;
using retrieve_atom = caf::atom_constant<caf::atom("retrieve")>;
using produce_atom = caf::atom_constant<caf::atom("produce")>;

struct counter_state {
  std::uint64_t count = 0;
};

caf::behavior counter(caf::stateful_actor<counter_state>* self) {
  return {
      [=](increment_atom) { ++self->state.count; },
      [=](retrieve_atom) { return self->state.count; },
  };
}

caf::behavior producer(caf::event_based_actor* self, const caf::actor& whom, std::uint64_t* found) {
  return {
      [=](produce_atom, std::uint64_t messages) {
        for (std::uint64_t i = 0; i < messages; ++i) self->send(whom, increment_atom::value);
        self->request(whom, caf::infinite, retrieve_atom::value).then([=](std::uint64_t count) {
          *found = count;
          self->quit();
        });
      },
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t messages = args.number("messages", 1'000'000);
  bench::caf_config config(args);
  args.reject_unknown();

  bench::result result;
  std::uint64_t found = 0;
  const std::int64_t start = bench::now_ns();
  {
    caf::actor_system system(config);
    caf::anon_send(system.spawn(producer, system.spawn(counter), &found), produce_atom::value,
                   messages);
    system.await_all_actors_done();
  }
  result.seconds = bench::seconds_since(start);
  result.items = messages;
  result.expect("messages", messages, found);
  return result.print();
}
