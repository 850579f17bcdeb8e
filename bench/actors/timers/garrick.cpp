// The cost of a time-out that does not happen: an actor arms a delayed message and cancels it, with
// a million others pending. CAF 0.17 cannot cancel a delayed message, so there is no peer.
#include <vector>

#include "common/garrick_system.hpp"

namespace {

using garrick::duration;

struct beat {};
struct measure {
  std::uint64_t pending;
  std::uint64_t rounds;
};

struct outcome {
  std::int64_t ns = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t came = 0;
};

class clockwork : public garrick::actor<garrick::protocol<void(beat), void(measure)>> {
 public:
  explicit clockwork(outcome* into) : into_(into) {}

  void on(beat) { ++into_->came; }

  void on(measure m) {
    const auto me = self();
    std::vector<garrick::timer> others;
    others.reserve(m.pending);
    for (std::uint64_t i = 0; i < m.pending; ++i) others.push_back(send_after(ahead(), me, beat{}));
    const std::int64_t begin = bench::now_ns();
    for (std::uint64_t i = 0; i < m.rounds; ++i)
      if (send_after(ahead(), me, beat{}).cancel()) ++into_->cancelled;
    into_->ns = bench::now_ns() - begin;
    for (auto& t : others)
      if (t.cancel()) ++into_->cancelled;
  }

 private:
  /// One minute to eleven, a different time each.
  duration ahead() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return duration::seconds(60) +
           duration::microseconds(static_cast<std::int64_t>(random_ >> 32) % 600'000'000);
  }

  outcome* into_;
  std::uint64_t random_ = 1;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const measure m{args.number("pending", 1'000'000), args.number("rounds", 1'000'000)};

  outcome found;
  run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<clockwork>(garrick::lent(&found)), m);
    static_cast<void>(system.await_all());
  });
  out.seconds = static_cast<double>(found.ns) * 1e-9;
  out.items = m.rounds;
  out.expect("cancelled", m.pending + m.rounds, found.cancelled);
  out.expect("fired", 0, found.came);
}
