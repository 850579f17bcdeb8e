// Each actor spawns two children with n - 1 and adds their results: the cost of an actor's whole
// life.
#include "common/caf_system.hpp"

namespace {

using spread_atom = caf::atom_constant<caf::atom("spread")>;
using leaves_atom = caf::atom_constant<caf::atom("leaves")>;

class node : public caf::event_based_actor {
 public:
  node(caf::actor_config& cfg, caf::actor parent)
      : caf::event_based_actor(cfg), parent_(std::move(parent)) {}

  caf::behavior make_behavior() override {
    return {
        [this](spread_atom, std::uint32_t n) {
          if (n == 1) {
            answer(1);
            return;
          }
          for (int i = 0; i < 2; ++i)
            send(spawn<node, caf::lazy_init>(caf::actor_cast<caf::actor>(this)), spread_atom::value,
                 n - 1);
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
};

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const auto n = static_cast<std::uint32_t>(args.number("n", 20));
  bench::caf_config config(args);
  args.reject_unknown();

  bench::result result;
  std::uint64_t leaves = 0;
  const std::int64_t start = bench::now_ns();
  {
    caf::actor_system system(config);
    caf::scoped_actor self(system);
    self->send(self->spawn<node>(self), spread_atom::value, n);
    self->receive([&](leaves_atom, std::uint64_t found) { leaves = found; });
  }
  result.seconds = bench::seconds_since(start);
  result.items = (std::uint64_t{1} << n) - 1;
  result.expect("leaves", std::uint64_t{1} << (n - 1), leaves);
  return result.print();
}
