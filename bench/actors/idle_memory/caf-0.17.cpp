// The cost of a living actor with nothing to do: resident bytes of many actors and the handles to
// them, divided by their number.
#include <atomic>
#include <thread>

#include "common/caf_system.hpp"

namespace {

using count_atom = caf::atom_constant<caf::atom("count")>;

caf::behavior idler(caf::event_based_actor*, std::atomic<std::uint64_t>* alive) {
  alive->fetch_add(1);
  return {
      [](count_atom) { return std::uint64_t{1}; },
  };
}

// Every actor answers one message: they were all alive, and stay so until the memory has been read.
std::uint64_t count_living(caf::actor_system& system, const std::vector<caf::actor>& actors) {
  caf::scoped_actor self(system);
  std::uint64_t answers = 0;
  for (const caf::actor& a : actors) self->send(a, count_atom::value);
  for (std::size_t i = 0; i < actors.size(); ++i)
    self->receive([&](std::uint64_t n) { answers += n; });
  return answers;
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t actors = args.number("actors", 200'000);

  std::atomic<std::uint64_t> alive{0};
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    const std::uint64_t before = resident_bytes();
    std::vector<caf::actor> handles;
    handles.reserve(actors);
    for (std::uint64_t i = 0; i < actors; ++i) handles.push_back(system.spawn(idler, &alive));
    while (alive.load() < actors) std::this_thread::yield();
    const std::uint64_t after = resident_bytes();
    out.resident(after > before ? after - before : 0);
    out.expect("answers", actors, count_living(system, handles));
    for (const caf::actor& a : handles) caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
  });
  out.items = actors;
}
