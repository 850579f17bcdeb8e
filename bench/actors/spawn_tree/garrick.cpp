// Each actor spawns two children and adds their results: the cost of an actor's whole life.
#include "actors/spawn_tree/tree.hpp"
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
  node(garrick::ref<parent> above, std::uint32_t second)
      : above_(std::move(above)), second_(second) {}

  void on(spread s) {
    if (s.n <= second_) {
      send(above_, leaves{1});
      return;
    }
    send(spawn<node>(self(), second_), spread{s.n - 1});
    send(spawn<node>(self(), second_), spread{s.n - second_});
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
  std::uint32_t second_;
};

class root : public garrick::actor<parent> {
 public:
  explicit root(std::uint64_t* found) : found_(found) {}
  void on(leaves all) { *found_ = all.count; }

 private:
  std::uint64_t* found_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const tree whole = read_tree(args);

  std::uint64_t found = 0;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<node>(system.spawn<root>(garrick::lent(&found)), whole.second),
         spread{whole.n});
    static_cast<void>(system.await_all());
  });
  out.items = whole.actors();
  out.expect("leaves", whole.leaves(), found);
}
