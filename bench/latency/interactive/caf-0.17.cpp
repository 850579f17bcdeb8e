// Actors that are asked by a thread outside, beside a ring of actors that is never idle.
#include "common/caf_system.hpp"
#include "latency/interactive/interactive.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::question)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::answer)

namespace {

using connect_atom = caf::atom_constant<caf::atom("connect")>;

struct flooder_state {
  caf::actor next;
};

caf::behavior flooder(caf::stateful_actor<flooder_state>* self, bench::interactive_run* run,
                      std::uint64_t index) {
  return {
      [=](std::uint64_t token) {
        if (run->flooded(index, &token)) self->send(self->state.next, token);
      },
      [=](connect_atom, const caf::actor& next) { self->state.next = next; },
  };
}

caf::behavior collector(caf::event_based_actor*, bench::interactive_run* run) {
  return {
      [=](const bench::answer& a) { run->answered(a); },
  };
}

caf::behavior interactive(caf::event_based_actor* self, const bench::interactive_run* run,
                          std::uint64_t index, const caf::actor& whom) {
  return {
      [=](const bench::question& q) { self->send(whom, run->ask(index, q, bench::now_ns())); },
  };
}

caf::behavior slow(caf::event_based_actor*, bench::interactive_run* run, std::uint64_t index) {
  return {
      [=](std::uint64_t value) { run->worked(index, value); },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const interactive_settings s = read_interactive(args);
  interactive_run measured(s);

  run_system(args, [&](caf::actor_system& system) {
    std::vector<caf::actor> ring;
    for (std::uint64_t i = 0; i < s.flood; ++i) ring.push_back(system.spawn(flooder, &measured, i));
    for (std::uint64_t i = 0; i < s.flood; ++i)
      caf::anon_send(ring[i], connect_atom::value, ring[(i + 1) % s.flood]);
    for (std::uint64_t i = 0; i < s.flood * interactive_run::tokens_each; ++i)
      caf::anon_send(ring[i % s.flood], i);

    const caf::actor whom = system.spawn(collector, &measured);
    std::vector<caf::actor> asked;
    for (std::uint64_t i = 0; i < s.actors; ++i)
      asked.push_back(system.spawn(interactive, &measured, i, whom));
    std::vector<caf::actor> working;
    for (std::uint64_t i = 0; i < s.slow; ++i) working.push_back(system.spawn(slow, &measured, i));

    measured.run([&](std::uint64_t i, const question& q) { caf::anon_send(asked[i], q); },
                 [&](std::uint64_t i, std::uint64_t value) { caf::anon_send(working[i], value); });
    for (const caf::actor& member : ring)
      caf::anon_send_exit(member, caf::exit_reason::user_shutdown);
  });
  measured.report(out);
}
