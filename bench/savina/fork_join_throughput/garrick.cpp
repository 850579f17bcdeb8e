// Savina 03: a thread sends one message after the other to each of some actors; each message costs
// the receiver a sine.
#include "common/garrick_system.hpp"
#include "common/savina.hpp"

namespace {

struct work {};
using working = garrick::protocol<void(work)>;

class worker : public garrick::actor<working> {
 public:
  worker(std::uint64_t messages, std::uint64_t* worked) : messages_(messages), worked_(worked) {}

  void on(work) {
    if (bench::savina::fork_join_work() > 0) ++done_;
    if (--messages_ != 0) return;
    *worked_ = done_;
    quit();
  }

 private:
  std::uint64_t messages_;
  std::uint64_t done_ = 0;
  std::uint64_t* worked_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 10'000);
  const std::uint64_t actors = args.number("actors", 60);

  std::vector<std::uint64_t> worked(actors);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    std::vector<garrick::ref<working>> workers;
    for (std::uint64_t& slot : worked)
      workers.push_back(system.spawn<worker>(messages, garrick::lent(&slot)));
    for (std::uint64_t i = 0; i < messages; ++i) {
      for (const garrick::ref<working>& w : workers) send(w, work{});
    }
    static_cast<void>(system.await_all());
  });
  out.items = messages * actors;
  for (const std::uint64_t count : worked) out.expect("messages of an actor", messages, count);
}
