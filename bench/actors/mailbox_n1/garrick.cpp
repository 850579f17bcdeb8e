// Many senders, one receiver: each sender sends an empty message again and again.
#include "common/garrick_system.hpp"

namespace {

struct tick {};
using ticks = garrick::protocol<void(tick)>;

class receiver : public garrick::actor<ticks> {
 public:
  explicit receiver(std::uint64_t* received) : received_(received) {}
  void on(tick) { ++*received_; }

 private:
  std::uint64_t* received_;
};

struct begin {
  std::uint64_t messages;
};

class sender : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  explicit sender(garrick::ref<ticks> whom) : whom_(std::move(whom)) {}

  void on(begin b) {
    for (std::uint64_t i = 0; i < b.messages; ++i) send(whom_, tick{});
  }

 private:
  garrick::ref<ticks> whom_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t senders = args.number("senders", 100);
  const std::uint64_t messages = args.number("messages", 100'000);

  std::uint64_t received = 0;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const auto whom = system.spawn<receiver>(garrick::lent(&received));
      for (std::uint64_t i = 0; i < senders; ++i) send(system.spawn<sender>(whom), begin{messages});
    }
    static_cast<void>(system.await_all());
  });
  out.items = senders * messages;
  out.expect("messages", out.items, received);
}
