// Producer and consumer as two actors.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pc4/number.hpp"

namespace {

using bench::seen4;
using numbers = garrick::protocol<void(std::uint32_t)>;

class consumer : public garrick::actor<numbers> {
 public:
  explicit consumer(seen4* seen) : seen_(seen) {}
  void on(std::uint32_t n) { seen_->add(n); }

 private:
  seen4* seen_;
};

struct produce {
  std::uint64_t count;
};

class producer : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  explicit producer(garrick::ref<numbers> next) : next_(std::move(next)) {}
  void on(produce p) {
    for (std::uint64_t i = 0; i < p.count; ++i) send(next_, static_cast<std::uint32_t>(i));
  }

 private:
  garrick::ref<numbers> next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 10'000'000);

  seen4 found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<producer>(system.spawn<consumer>(garrick::lent(&found))), produce{messages});
    static_cast<void>(system.await_all());
  });
  all.into(out, messages, seconds);
  found.check(out, messages);
}
