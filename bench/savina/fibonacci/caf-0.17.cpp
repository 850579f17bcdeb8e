// Each actor asks two children for the two Fibonacci numbers before its own: short lives and one
// answer from each.
#include "common/caf_system.hpp"
#include "savina/fibonacci/sequence.hpp"

namespace {

using ask_atom = caf::atom_constant<caf::atom("ask")>;
using answer_atom = caf::atom_constant<caf::atom("answer")>;

class node : public caf::event_based_actor {
 public:
  node(caf::actor_config& cfg, caf::actor parent)
      : caf::event_based_actor(cfg), parent_(std::move(parent)) {}

  caf::behavior make_behavior() override {
    return {
        [this](ask_atom, std::uint32_t n) {
          if (n <= 2) {
            answer(1);
            return;
          }
          send(spawn<node, caf::lazy_init>(caf::actor_cast<caf::actor>(this)), ask_atom::value,
               n - 1);
          send(spawn<node, caf::lazy_init>(caf::actor_cast<caf::actor>(this)), ask_atom::value,
               n - 2);
        },
        [this](answer_atom, std::uint64_t value) {
          sum_ += value;
          if (++answers_ == 2) answer(sum_);
        },
    };
  }

 private:
  void answer(std::uint64_t value) {
    send(parent_, answer_atom::value, value);
    quit();
  }

  caf::actor parent_;
  std::uint64_t sum_ = 0;
  int answers_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const auto n = static_cast<std::uint32_t>(args.number("n", 25));
  bench::caf_config config(args);
  args.reject_unknown();

  bench::result result;
  std::uint64_t found = 0;
  const std::int64_t start = bench::now_ns();
  {
    caf::actor_system system(config);
    caf::scoped_actor self(system);
    self->send(self->spawn<node>(self), ask_atom::value, n);
    self->receive([&](answer_atom, std::uint64_t value) { found = value; });
  }
  result.seconds = bench::seconds_since(start);
  result.items = bench::fibonacci_actors(n);
  result.expect("Fibonacci number", bench::fibonacci(n), found);
  return result.print();
}
