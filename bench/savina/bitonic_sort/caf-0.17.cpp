// A sorting network in which every splitter, comparator and joiner is an actor (network.hpp).
#include "common/caf_system.hpp"
#include "savina/bitonic_sort/network.hpp"

namespace {

using actors = std::vector<caf::actor>;

// Each part knows how many values pass through it, and quits behind the last one.
caf::behavior joiner(caf::stateful_actor<std::uint32_t>* self, std::uint32_t inputs,
                     std::uint32_t length, std::uint32_t total, const caf::actor& next) {
  self->state = total;
  return {
      [=, order = bench::bitonic_joiner(inputs, length)](std::uint32_t input,
                                                         std::uint64_t value) mutable {
        order.take(input, value, [&](std::uint64_t first) {
          self->send(next, first);
          if (--self->state == 0) self->quit();
        });
      },
  };
}

// Says to a joiner from which input a value comes.
caf::behavior labeler(caf::stateful_actor<std::uint32_t>* self, std::uint32_t input,
                      std::uint32_t total, const caf::actor& next) {
  self->state = total;
  return {
      [=](std::uint64_t value) {
        self->send(next, input, value);
        if (--self->state == 0) self->quit();
      },
  };
}

caf::behavior splitter(caf::stateful_actor<std::uint32_t>* self, const actors& receivers,
                       std::uint32_t length, std::uint32_t total) {
  self->state = total;
  return {
      [=, turn = bench::round_robin(static_cast<std::uint32_t>(receivers.size()), length)](
          std::uint64_t value) mutable {
        self->send(receivers[turn.current()], value);
        turn.advance();
        if (--self->state == 0) self->quit();
      },
  };
}

struct first_value {
  bool known = false;
  std::uint64_t value = 0;
};

caf::behavior comparator(caf::stateful_actor<first_value>* self, std::uint32_t input,
                         bool ascending, const caf::actor& next) {
  return {
      [=](std::uint64_t value) {
        first_value& first = self->state;
        if (!first.known) {
          first = {true, value};
          return;
        }
        const auto low = std::min(first.value, value);
        const auto high = std::max(first.value, value);
        self->send(next, input, ascending ? low : high);
        self->send(next, input, ascending ? high : low);
        self->quit();
      },
  };
}

caf::behavior validator(caf::event_based_actor* self, std::uint32_t values,
                        std::vector<std::uint64_t>* found) {
  return {
      [=](std::uint64_t value) {
        found->push_back(value);
        if (found->size() == values) self->quit();
      },
  };
}

caf::actor build_partition(caf::event_based_actor* self, std::uint32_t block, bool ascending,
                           const caf::actor& next) {
  const caf::actor both = self->spawn<caf::lazy_init>(joiner, block / 2, 1U, block, next);
  actors comparators;
  for (std::uint32_t i = 0; i < block / 2; ++i)
    comparators.push_back(self->spawn<caf::lazy_init>(comparator, i, ascending, both));
  return self->spawn<caf::lazy_init>(splitter, comparators, 1U, block);
}

caf::actor build_pass(caf::event_based_actor* self, const bench::bitonic_pass& pass,
                      std::uint32_t values, const caf::actor& next) {
  const std::uint32_t partitions = values / pass.block;
  const caf::actor all = self->spawn<caf::lazy_init>(joiner, partitions, pass.block, values, next);
  actors entries;
  for (std::uint32_t i = 0; i < partitions; ++i) {
    const caf::actor exit = self->spawn<caf::lazy_init>(labeler, i, pass.block, all);
    entries.push_back(build_partition(self, pass.block, bench::bitonic_ascends(pass, i), exit));
  }
  return self->spawn<caf::lazy_init>(splitter, entries, pass.block, values);
}

// Builds the network from its end and feeds it.
void source(caf::event_based_actor* self, std::uint32_t values, std::vector<std::uint64_t>* found) {
  caf::actor first = self->spawn(validator, values, found);
  const std::vector<bench::bitonic_pass> passes = bench::bitonic_passes(values);
  for (auto pass = passes.rbegin(); pass != passes.rend(); ++pass)
    first = build_pass(self, *pass, values, first);
  for (const std::uint64_t value : bench::bitonic_input(values)) self->send(first, value);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto values = static_cast<std::uint32_t>(args.number("values", 4096));

  std::vector<std::uint64_t> found;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(source, values, &found);
    system.await_all_actors_done();
  });
  check_bitonic(out, found, values);
}
