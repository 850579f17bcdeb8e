// The cost of a living actor with nothing to do: resident bytes of many actors and the handles to
// them, divided by their number.
#include <atomic>
#include <thread>

#include "common/garrick_system.hpp"

namespace {

struct count {};
using countable = garrick::protocol<std::uint64_t(count)>;
using handles = std::vector<garrick::ref<countable>>;

class idler : public garrick::actor<countable> {
 public:
  explicit idler(std::atomic<std::uint64_t>* alive) { alive->fetch_add(1); }
  std::uint64_t on(count) { return 1; }
};

struct ask {};

// Asks every actor for one answer after the memory has been read. The answers prove that all actors
// were alive at the reading.
class census : public garrick::actor<garrick::protocol<void(ask)>> {
 public:
  census(const handles* whom, std::uint64_t* answers) : whom_(whom), answers_(answers) {}

  void on(ask) {
    for (const auto& a : *whom_)
      request(a, count{}).then([this](std::uint64_t n) { *answers_ += n; });
  }

 private:
  const handles* whom_;
  std::uint64_t* answers_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t actors = args.number("actors", 200'000);

  std::atomic<std::uint64_t> alive{0};
  std::uint64_t answers = 0;
  handles all;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    const std::uint64_t before = resident_bytes();
    all.reserve(actors);
    for (std::uint64_t i = 0; i < actors; ++i)
      all.push_back(system.spawn<idler>(garrick::lent(&alive)));
    while (alive.load() < actors) std::this_thread::yield();
    const std::uint64_t after = resident_bytes();
    out.resident(after > before ? after - before : 0);
    send(system.spawn<census>(garrick::lent(&all), garrick::lent(&answers)), ask{});
  });
  out.expect("answers", actors, answers);
  all.clear();
  out.items = actors;
}
