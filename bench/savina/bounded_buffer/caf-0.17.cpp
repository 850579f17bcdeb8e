// Savina 10: a manager hands items from producers to consumers. It lets a producer make its next
// item only while few are waiting, so that the buffer is never exceeded by items that producers
// have under way.
#include <deque>

#include "common/caf_system.hpp"
#include "savina/bounded_buffer/items.hpp"

namespace {

using bench::savina::buffer_outcome;
using bench::savina::buffer_rules;
using bench::savina::process_item;
using produce_atom = caf::atom_constant<caf::atom("produce")>;
using consume_atom = caf::atom_constant<caf::atom("consume")>;
using produced_atom = caf::atom_constant<caf::atom("produced")>;
using consumed_atom = caf::atom_constant<caf::atom("consumed")>;
using done_atom = caf::atom_constant<caf::atom("done")>;

struct producer_state {
  std::uint64_t left = 0;
  double item = 0;
};

caf::behavior producer(caf::stateful_actor<producer_state>* self, const caf::actor& manager,
                       std::uint64_t items, std::uint32_t cost) {
  self->state.left = items;
  return {
      [=](produce_atom) {
        auto& state = self->state;
        if (state.left == 0) {
          self->send(manager, done_atom::value);
          self->quit();
          return;
        }
        --state.left;
        state.item = process_item(state.item, cost);
        self->send(manager, produced_atom::value, state.item);
      },
  };
}

struct consumer_state {
  double item = 0;
};

caf::behavior consumer(caf::stateful_actor<consumer_state>* self, const caf::actor& manager,
                       std::uint32_t cost) {
  return {
      [=](consume_atom, double item) {
        self->state.item = process_item(self->state.item + item, cost);
        self->send(manager, consumed_atom::value);
      },
      [=](done_atom) { self->quit(); },
  };
}

struct manager_state {
  std::uint64_t producers = 0;
  std::deque<double> waiting;
  std::deque<caf::actor> held_back;
  std::deque<caf::actor> consumers;
};

caf::behavior manager(caf::stateful_actor<manager_state>* self, const buffer_rules& rules,
                      buffer_outcome* seen) {
  const std::uint64_t limit = rules.buffer - rules.producers;
  self->state.producers = rules.producers;
  for (std::uint64_t i = 0; i < rules.consumers; ++i)
    self->state.consumers.push_back(self->spawn(consumer, self, rules.consume));
  for (std::uint64_t i = 0; i < rules.producers; ++i)
    self->send(self->spawn(producer, self, rules.items, rules.produce), produce_atom::value);
  const auto end_if_done = [=] {
    auto& state = self->state;
    if (state.producers != 0 || state.consumers.size() != rules.consumers) return;
    for (const caf::actor& c : state.consumers) self->send(c, done_atom::value);
    self->quit();
  };
  return {
      [=](produced_atom, double item) {
        auto& state = self->state;
        const auto by = caf::actor_cast<caf::actor>(self->current_sender());
        ++seen->produced;
        seen->sum += item;
        if (state.consumers.empty()) {
          state.waiting.push_back(item);
          seen->most_waiting = std::max<std::uint64_t>(seen->most_waiting, state.waiting.size());
        } else {
          self->send(state.consumers.front(), consume_atom::value, item);
          state.consumers.pop_front();
        }
        if (state.waiting.size() >= limit)
          state.held_back.push_back(by);
        else
          self->send(by, produce_atom::value);
      },
      [=](consumed_atom) {
        auto& state = self->state;
        const auto by = caf::actor_cast<caf::actor>(self->current_sender());
        ++seen->consumed;
        if (state.waiting.empty()) {
          state.consumers.push_back(by);
          end_if_done();
          return;
        }
        self->send(by, consume_atom::value, state.waiting.front());
        state.waiting.pop_front();
        if (state.held_back.empty()) return;
        self->send(state.held_back.front(), produce_atom::value);
        state.held_back.pop_front();
      },
      [=](done_atom) {
        --self->state.producers;
        end_if_done();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const buffer_rules rules = savina::read_rules(args);

  buffer_outcome seen;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(manager, rules, &seen);
    system.await_all_actors_done();
  });
  out.items = rules.producers * rules.items;
  savina::check_buffer(out, rules, seen);
}
