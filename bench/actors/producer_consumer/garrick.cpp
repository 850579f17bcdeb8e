// One producer sends numbers as fast as it can to one consumer, which adds them.
#include "common/garrick_system.hpp"

namespace {

struct seen {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
};
using numbers = garrick::protocol<void(std::uint64_t)>;

class consumer : public garrick::actor<numbers> {
 public:
  explicit consumer(seen* total) : total_(total) {}

  void on(std::uint64_t value) {
    total_->sum += value;
    ++total_->count;
  }

 private:
  seen* total_;
};

struct produce {
  std::uint64_t messages;
};

class producer : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  explicit producer(garrick::ref<numbers> whom) : whom_(std::move(whom)) {}

  void on(produce p) {
    for (std::uint64_t i = 1; i <= p.messages; ++i) send(whom_, i);
  }

 private:
  garrick::ref<numbers> whom_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 3'000'000);

  seen total;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<producer>(system.spawn<consumer>(garrick::lent(&total))), produce{messages});
    static_cast<void>(system.await_all());
  });
  out.items = messages;
  out.expect("messages", messages, total.count);
  out.expect("sum", messages * (messages + 1) / 2, total.sum);
}
