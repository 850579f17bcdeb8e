// One producer sends numbers as fast as it can to one consumer, which adds them.
#include "common/caf_system.hpp"

namespace {

struct seen {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
};

caf::behavior consumer(caf::event_based_actor* self, std::uint64_t messages, seen* total) {
  return {
      [=](std::uint64_t value) {
        total->sum += value;
        if (++total->count == messages) self->quit();
      },
  };
}

void producer(caf::event_based_actor* self, const caf::actor& whom, std::uint64_t messages) {
  for (std::uint64_t i = 1; i <= messages; ++i) self->send(whom, i);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 3'000'000);

  seen total;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(producer, system.spawn(consumer, messages, &total), messages);
    system.await_all_actors_done();
  });
  out.items = messages;
  out.expect("messages", messages, total.count);
  out.expect("sum", messages * (messages + 1) / 2, total.sum);
}
