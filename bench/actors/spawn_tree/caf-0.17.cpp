// Each actor spawns two children and adds their results: the cost of an actor's whole life.
#include "actors/spawn_tree/tree.hpp"
#include "common/caf_system.hpp"

namespace {

using spread_atom = caf::atom_constant<caf::atom("spread")>;
using leaves_atom = caf::atom_constant<caf::atom("leaves")>;

class node : public caf::event_based_actor {
 public:
  node(caf::actor_config& cfg, caf::actor parent, std::uint32_t second)
      : caf::event_based_actor(cfg), parent_(std::move(parent)), second_(second) {}

  caf::behavior make_behavior() override {
    return {
        [this](spread_atom, std::uint32_t n) {
          if (n <= second_) {
            answer(1);
            return;
          }
          send(spawn<node, caf::lazy_init>(caf::actor_cast<caf::actor>(this), second_),
               spread_atom::value, n - 1);
          send(spawn<node, caf::lazy_init>(caf::actor_cast<caf::actor>(this), second_),
               spread_atom::value, n - second_);
        },
        [this](leaves_atom, std::uint64_t leaves) {
          sum_ += leaves;
          if (++answers_ == 2) answer(sum_);
        },
    };
  }

 private:
  void answer(std::uint64_t leaves) {
    send(parent_, leaves_atom::value, leaves);
    quit();
  }

  caf::actor parent_;
  std::uint64_t sum_ = 0;
  int answers_ = 0;
  std::uint32_t second_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const tree whole = read_tree(args);

  std::uint64_t leaves = 0;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    caf::scoped_actor self(system);
    self->send(self->spawn<node>(self, whole.second), spread_atom::value, whole.n);
    self->receive([&](leaves_atom, std::uint64_t found) { leaves = found; });
  });
  out.items = whole.actors();
  out.expect("leaves", whole.leaves(), leaves);
}
