// Source, forwarder and sink as three actors: a message for each tuple. With `--rate n` the source
// sends n tuples a second, on a thread of its own.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

namespace {

using bench::seen24;
using bench::tuple24;
using tuples = garrick::protocol<void(tuple24)>;

template <class Seen>
class sink : public garrick::actor<tuples> {
 public:
  explicit sink(Seen* seen) : seen_(seen) {}
  void on(tuple24 t) { seen_->add(t); }

 private:
  Seen* seen_;
};

class forwarder : public garrick::actor<tuples> {
 public:
  explicit forwarder(garrick::ref<tuples> next) : next_(std::move(next)) {}
  void on(tuple24 t) { send(next_, t); }

 private:
  garrick::ref<tuples> next_;
};

struct produce {
  std::uint64_t count;
  std::uint64_t rate;
};

class source : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  explicit source(garrick::ref<tuples> next) : next_(std::move(next)) {}
  void on(produce p) {
    if (p.rate == 0) {
      for (std::uint64_t i = 0; i < p.count; ++i) send(next_, bench::tuple_number(i));
    } else {
      bench::pace schedule(p.rate);
      for (std::uint64_t i = 0; i < p.count; ++i) send(next_, tuple_on_time(i, schedule));
    }
  }

 private:
  garrick::ref<tuples> next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("tuples", 5'000'000);
  const std::uint64_t rate = args.number("rate", 0);

  seen24 found;
  timed24 timed;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const garrick::ref<tuples> last =
          rate == 0 ? garrick::ref<tuples>(system.spawn<sink<seen24>>(garrick::lent(&found)))
                    : system.spawn<sink<timed24>>(garrick::lent(&timed));
      garrick::spawn_options o;
      o.detached = rate != 0;
      send(system.spawn<source>(o, system.spawn<forwarder>(last)), produce{count, rate});
    }
    static_cast<void>(system.await_all());
  });
  all.into(out, count, seconds);
  rate == 0 ? found.check(out, count) : timed.check(out, count);
}
