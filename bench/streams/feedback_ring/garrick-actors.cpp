// Three actors in a ring, and one where elements leave it. The ring ends when all have left.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/feedback_ring/element.hpp"

namespace {

using bench::element;
using elements = garrick::protocol<void(element)>;
using garrick::ref;

class sink : public garrick::actor<elements> {
 public:
  explicit sink(bench::seen_ring* seen) : seen_(seen) {}
  void on(element e) { seen_->add(e); }

 private:
  bench::seen_ring* seen_;
};

struct way_back {
  ref<elements> entrance;
};

class third : public garrick::actor<garrick::protocol<void(element), void(way_back)>> {
 public:
  third(std::uint64_t left, ref<elements> out) : left_(left), out_(std::move(out)) {}
  void on(way_back w) { back_ = std::move(w.entrance); }
  void on(element e) {
    e = bench::third_stage(e);
    if (e.laps != 0) return send(back_, e);
    send(out_, e);
    if (--left_ == 0) back_ = {};  // else the ring would hold itself
  }

 private:
  std::uint64_t left_;
  ref<elements> out_;
  ref<elements> back_;
};

template <element (*Stage)(element)>
class stage : public garrick::actor<elements> {
 public:
  explicit stage(ref<elements> next) : next_(std::move(next)) {}
  void on(element e) { send(next_, Stage(e)); }

 private:
  ref<elements> next_;
};

struct produce {
  std::uint64_t round;
  std::uint64_t laps;
  std::uint64_t end;
};

class source : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  explicit source(ref<elements> next) : next_(std::move(next)) {}
  void on(produce p) {
    for (std::uint64_t i = 0; i < p.end; ++i)
      send(next_, bench::element_number(i, p.round, p.laps));
  }

 private:
  ref<elements> next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t round = args.number("round", 4096);
  const std::uint64_t laps = args.number("laps", 256, 1);
  const std::uint64_t once = args.number("once", 1024);

  seen_ring found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const auto last =
          system.spawn<third>(round + once, system.spawn<sink>(garrick::lent(&found)));
      const ref<elements> first =
          system.spawn<stage<first_stage>>(system.spawn<stage<second_stage>>(last));
      send(last, way_back{first});
      send(system.spawn<source>(first), produce{round, laps, round + once});
    }
    static_cast<void>(system.await_all());
  });
  all.into(out, passes(round, laps, once), seconds);
  found.check(out, round, laps, once);
}
