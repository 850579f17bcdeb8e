// Source, forwarder and sink as three nodes with two rings between them: fusion is off. With
// `--in_place 0` no node runs the next one, so each batch goes to another node's carrier.
// `--replicas n`: forwarders. With `--actor_stage 1` the forwarder is an actor. With `--rate n` the
// source puts out n tuples a second, on a thread of its own.
#include <garrick/patterns/stage_actor.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/stages.hpp"

namespace {

using bench::tuple24;

struct paced_source {
  std::uint64_t next;
  std::uint64_t end;
  bench::pace pace;
  bool operator()(garrick::patterns::emit<tuple24> out) {
    if (next == end) return false;
    out(bench::tuple_on_time(next++, pace));
    return true;
  }
};

class forwarding_actor : public garrick::patterns::stage_actor<tuple24, tuple24> {
 public:
  void consume(tuple24 t) { send_next(t); }
};

class timed_sink {
 public:
  explicit timed_sink(bench::timed24* seen) : seen_(seen) {}
  void consume(tuple24 t) { seen_->add(t); }

 private:
  bench::timed24* seen_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  using namespace garrick::patterns;
  const std::uint64_t tuples = args.number("tuples", 50'000'000);
  const stream_options options{.in_place = args.number("in_place", 1, 0, 1) != 0, .fuse = false};
  const std::size_t replicas = args.count("replicas", 1);
  const bool actor_stage = args.number("actor_stage", 0, 0, 1) != 0;
  const std::uint64_t rate = args.number("rate", 0);

  const auto forwarders = farm([](tuple24 t) { return t; }).replicas(replicas);
  seen24 found;
  timed24 timed;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto sum_behind = [&](const auto& forwarder) {
      auto h = spawn(system, pipeline(seq(source24{0, tuples}), forwarder, sum24()), options);
      found = system.request(h, join{}).get().value();
    };
    if (actor_stage) {
      sum_behind(seq_actor<forwarding_actor>());
    } else if (rate == 0) {
      sum_behind(forwarders);
    } else {
      const auto begin = seq(paced_source{0, tuples, pace(rate)}).own_thread();
      auto h = spawn(system, pipeline(begin, forwarders, seq<timed_sink>(garrick::lent(&timed))),
                     options);
      system.request(h, join{}).get().value();
    }
  });
  all.into(out, tuples, seconds);
  rate == 0 || actor_stage ? found.check(out, tuples) : timed.check(out, tuples);
}
