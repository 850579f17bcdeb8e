// Savina 05: a token counts down around a ring of actors; then an exit token goes round and ends
// them.
#include "common/garrick_system.hpp"

namespace {

struct connect;
struct token {
  std::uint64_t left;
};
struct leave {
  std::uint64_t left;
};
using member = garrick::protocol<void(connect), void(token), void(leave)>;
struct connect {
  garrick::ref<member> next;
};

// Only the holder of the one token writes here.
struct tally {
  std::uint64_t hops = 0;
  std::uint64_t left = 0;
};

class ring_member : public garrick::actor<member> {
 public:
  ring_member(std::uint64_t actors, tally* seen) : actors_(actors), seen_(seen) {}

  void on(const connect& c) { next_ = c.next; }
  void on(token t) {
    if (t.left != 0) {
      ++seen_->hops;
      send(next_, token{t.left - 1});
    } else {
      send(next_, leave{actors_});
    }
  }
  void on(leave l) {
    ++seen_->left;
    if (l.left > 1) send(next_, leave{l.left - 1});
    quit();
  }

 private:
  garrick::ref<member> next_;
  std::uint64_t actors_;
  tally* seen_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t actors = args.number("actors", 100);
  const std::uint64_t hops = args.number("hops", 100'000);

  tally seen;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    std::vector<garrick::ref<member>> ring;
    for (std::uint64_t i = 0; i < actors; ++i)
      ring.push_back(system.spawn<ring_member>(actors, garrick::lent(&seen)));
    for (std::uint64_t i = 0; i < actors; ++i) send(ring[i], connect{ring[(i + 1) % actors]});
    send(ring[0], token{hops});
    static_cast<void>(system.await_all());
  });
  out.items = hops;
  out.expect("hops", hops, seen.hops);
  out.expect("actors that left", actors, seen.left);
}
