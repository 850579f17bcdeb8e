// Savina 06: creatures visit a mall, which pairs them; both of a pair take on the complementary
// colour.
#include "common/garrick_system.hpp"
#include "savina/chameneos/colours.hpp"

namespace {

using bench::savina::colour;
using garrick::ref;

struct visit;
struct met;
using meeting_place = garrick::protocol<void(visit), void(met)>;
struct mate;
struct change;
struct fade;
using chameneo = garrick::protocol<void(mate), void(change), void(fade)>;

struct visit {
  colour own;
  ref<chameneo> who;
};
struct met {
  std::uint64_t times;
};
struct mate {
  colour other;
  ref<chameneo> who;
};
struct change {
  colour to;
};
struct fade {};

class creature : public garrick::actor<chameneo> {
 public:
  creature(ref<meeting_place> mall, colour own) : mall_(std::move(mall)), own_(own) {}

  void on_start() { send(mall_, visit{own_, self()}); }
  void on(const mate& m) {
    own_ = bench::savina::complement(own_, m.other);
    send(m.who, change{own_});
    next();
  }
  void on(change c) {
    own_ = c.to;
    next();
  }
  void on(fade) {
    send(mall_, met{meetings_});
    quit();
  }

 private:
  void next() {
    ++meetings_;
    send(mall_, visit{own_, self()});
  }

  ref<meeting_place> mall_;
  colour own_;
  std::uint64_t meetings_ = 0;
};

struct tally {
  std::uint64_t creatures = 0;
  std::uint64_t meetings = 0;
};

class mall : public garrick::actor<meeting_place> {
 public:
  mall(std::uint64_t creatures, std::uint64_t meetings, tally* seen)
      : creatures_(creatures), left_(meetings), seen_(seen) {}

  void on_start() {
    for (std::uint64_t i = 0; i < creatures_; ++i)
      spawn<creature>(self(), bench::savina::first_colour(i));
  }
  void on(const visit& v) {
    if (left_ == 0) {
      send(v.who, fade{});
    } else if (!waiting_) {
      waiting_ = v.who;
    } else {
      --left_;
      send(waiting_, mate{v.own, v.who});
      waiting_ = {};
    }
  }
  void on(met m) {
    seen_->meetings += m.times;
    if (++seen_->creatures == creatures_) quit();
  }

 private:
  std::uint64_t creatures_;
  std::uint64_t left_;
  tally* seen_;
  ref<chameneo> waiting_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t creatures = args.number("creatures", 100);
  const std::uint64_t meetings = args.number("meetings", 200'000);

  tally seen;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    system.spawn<mall>(creatures, meetings, garrick::lent(&seen));
    static_cast<void>(system.await_all());
  });
  out.items = meetings;
  out.expect("creatures", creatures, seen.creatures);
  out.expect("meetings of all creatures", 2 * meetings, seen.meetings);
}
