// Each actor asks two children for the two Fibonacci numbers before its own: short lives and one
// answer from each.
#include "common/garrick_system.hpp"
#include "savina/fibonacci/sequence.hpp"

namespace {

struct ask {
  std::uint32_t n;
};
struct answer {
  std::uint64_t value;
};
using parent = garrick::protocol<void(answer)>;

class node : public garrick::actor<garrick::protocol<void(ask), void(answer)>> {
 public:
  explicit node(garrick::ref<parent> above) : above_(std::move(above)) {}

  void on(ask a) {
    if (a.n <= 2) {
      send(above_, answer{1});
      return;
    }
    send(spawn<node>(self()), ask{a.n - 1});
    send(spawn<node>(self()), ask{a.n - 2});
  }
  // With the second answer the last handle to this actor goes, and the actor with it.
  void on(answer found) {
    sum_ += found.value;
    if (++answers_ == 2) send(above_, answer{sum_});
  }

 private:
  garrick::ref<parent> above_;
  std::uint64_t sum_ = 0;
  int answers_ = 0;
};

class root : public garrick::actor<parent> {
 public:
  explicit root(std::uint64_t* found) : found_(found) {}
  void on(answer a) { *found_ = a.value; }

 private:
  std::uint64_t* found_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const auto n = static_cast<std::uint32_t>(args.number("n", 25));
  const garrick::options options = bench::garrick_options(args);
  args.reject_unknown();

  bench::result result;
  std::uint64_t found = 0;
  const std::int64_t start = bench::now_ns();
  {
    garrick::actor_system system(options);
    send(system.spawn<node>(system.spawn<root>(&found)), ask{n});
    static_cast<void>(system.await_all());
  }
  result.seconds = bench::seconds_since(start);
  result.items = bench::fibonacci_actors(n);
  result.expect("Fibonacci number", bench::fibonacci(n), found);
  return result.print();
}
