// Each actor spawns two children with n - 1 and adds their results: the cost of an actor's whole
// life.
#include "common/garrick_system.hpp"

namespace {

struct spread {
  std::uint32_t n;
};
struct leaves {
  std::uint64_t count;
};
using parent = garrick::protocol<void(leaves)>;

class node : public garrick::actor<garrick::protocol<void(spread), void(leaves)>> {
 public:
  explicit node(garrick::ref<parent> above) : above_(std::move(above)) {}

  void on(spread s) {
    if (s.n == 1) {
      send(above_, leaves{1});
      return;
    }
    for (int i = 0; i < 2; ++i) send(spawn<node>(self()), spread{s.n - 1});
  }
  // With the second answer the last handle to this actor goes, and the actor with it.
  void on(leaves found) {
    sum_ += found.count;
    if (++answers_ == 2) send(above_, leaves{sum_});
  }

 private:
  garrick::ref<parent> above_;
  std::uint64_t sum_ = 0;
  int answers_ = 0;
};

class root : public garrick::actor<parent> {
 public:
  explicit root(std::uint64_t* found) : found_(found) {}
  void on(leaves all) { *found_ = all.count; }

 private:
  std::uint64_t* found_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const auto n = static_cast<std::uint32_t>(args.number("n", 20));
  const garrick::options options = bench::garrick_options(args);
  args.reject_unknown();

  bench::result result;
  std::uint64_t found = 0;
  const std::int64_t start = bench::now_ns();
  {
    garrick::actor_system system(options);
    send(system.spawn<node>(system.spawn<root>(&found)), spread{n});
    static_cast<void>(system.await_all());
  }
  result.seconds = bench::seconds_since(start);
  result.items = (std::uint64_t{1} << n) - 1;
  result.expect("leaves", std::uint64_t{1} << (n - 1), found);
  return result.print();
}
