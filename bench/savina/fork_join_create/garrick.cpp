// Savina 04: a thread spawns actors, each of which takes one message, computes a sine and ends.
#include "common/garrick_system.hpp"
#include "common/savina.hpp"

namespace {

struct work {};

class worker : public garrick::actor<garrick::protocol<void(work)>> {
 public:
  explicit worker(std::uint64_t* worked) : worked_(worked) {}

  void on(work) {
    if (bench::savina::fork_join_work() > 0) ++*worked_;
    quit();
  }

 private:
  std::uint64_t* worked_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t actors = args.number("actors", 40'000);

  std::vector<std::uint64_t> worked(actors);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    for (std::uint64_t& slot : worked) send(system.spawn<worker>(garrick::lent(&slot)), work{});
    static_cast<void>(system.await_all());
  });
  out.items = actors;
  std::uint64_t once = 0;
  for (const std::uint64_t count : worked) once += count == 1 ? 1 : 0;
  out.expect("actors that worked once", actors, once);
}
