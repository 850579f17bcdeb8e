// A flood within a flood: a source fills a stage, and the stage makes of one message a flood of its
// own to the sink. The thread that runs the stage inside the source's send has to slow it, too.
#include "common/garrick_system.hpp"

namespace {

struct tick {};
using ticks = garrick::protocol<void(tick)>;

class sink : public garrick::actor<ticks> {
 public:
  explicit sink(std::uint64_t* received) : received_(received) {}
  void on(tick) { ++*received_; }

 private:
  std::uint64_t* received_;
};

class stage : public garrick::actor<ticks> {
 public:
  stage(garrick::ref<ticks> whom, std::uint64_t messages)
      : whom_(std::move(whom)), left_(messages) {}
  void on(tick) {
    for (; left_ != 0; --left_) send(whom_, tick{});
  }

 private:
  garrick::ref<ticks> whom_;
  std::uint64_t left_;
};

struct begin {
  std::uint64_t messages;
};

class source : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  explicit source(garrick::ref<ticks> whom) : whom_(std::move(whom)) {}
  void on(begin b) {
    for (std::uint64_t i = 0; i < b.messages; ++i) send(whom_, tick{});
  }

 private:
  garrick::ref<ticks> whom_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t sources = args.number("sources", 4);
  const std::uint64_t messages = args.number("messages", 5'000'000);
  constexpr std::uint64_t ticks_of_a_source = 2'000;

  std::uint64_t received = 0;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const auto whom = system.spawn<sink>(garrick::lent(&received));
      for (std::uint64_t i = 0; i < sources; ++i)
        send(system.spawn<source>(system.spawn<stage>(whom, messages)), begin{ticks_of_a_source});
    }
    static_cast<void>(system.await_all());
  });
  out.items = sources * messages;
  out.expect("messages", out.items, received);
}
