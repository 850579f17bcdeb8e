// The cost of a living function-based actor with nothing to do: resident bytes of many actors and
// the handles to them, divided by their number.
#include <atomic>
#include <thread>

#include "common/garrick_system.hpp"

namespace {

struct count {};
using handles = std::vector<garrick::any_ref>;

garrick::behavior idler(garrick::dynamic_actor&, std::atomic<std::uint64_t>* alive) {
  alive->fetch_add(1);
  return {
      [](count) { return std::uint64_t{1}; },
  };
}

struct ask {};

// Every actor answers one message: they were all alive, and stay so until the memory has been read.
garrick::behavior census(garrick::dynamic_actor& self, const handles* whom,
                         std::uint64_t* answers) {
  return {[&self, whom, answers](ask) {
    for (const auto& a : *whom)
      self.request_as<std::uint64_t>(a, count{}).then([answers](std::uint64_t n) {
        *answers += n;
      });
  }};
}

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
      all.push_back(system.spawn(idler, garrick::lent(&alive)));
    while (alive.load() < actors) std::this_thread::yield();
    const std::uint64_t after = resident_bytes();
    out.resident(after > before ? after - before : 0);
    send(system.spawn(census, garrick::lent(&all), garrick::lent(&answers)), ask{});
  });
  out.expect("answers", actors, answers);
  all.clear();
  out.items = actors;
}
