// Savina 02: a producer floods a counter, then asks it how many messages have come.
#include "common/garrick_system.hpp"

namespace {

struct increment {};
struct retrieve {};
using counting = garrick::protocol<void(increment), std::uint64_t(retrieve)>;

class counter : public garrick::actor<counting> {
 public:
  void on(increment) { ++count_; }
  std::uint64_t on(retrieve) const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

struct produce {
  std::uint64_t messages;
};

class producer : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  producer(garrick::ref<counting> whom, std::uint64_t* found)
      : whom_(std::move(whom)), found_(found) {}

  void on(produce p) {
    for (std::uint64_t i = 0; i < p.messages; ++i) send(whom_, increment{});
    request(whom_, retrieve{}).then([this](std::uint64_t count) { *found_ = count; });
  }

 private:
  garrick::ref<counting> whom_;
  std::uint64_t* found_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 1'000'000);

  std::uint64_t found = 0;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<producer>(system.spawn<counter>(), garrick::lent(&found)), produce{messages});
    static_cast<void>(system.await_all());
  });
  out.items = messages;
  out.expect("messages", messages, found);
}
