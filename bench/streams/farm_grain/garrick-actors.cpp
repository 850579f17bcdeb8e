// A source, some workers and a sink as actors; the elements go to the workers in turn.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/farm_grain/work.hpp"

namespace {

using bench::element;
using bench::seen_elements;
using elements = garrick::protocol<void(element)>;

class sink : public garrick::actor<elements> {
 public:
  explicit sink(seen_elements* seen) : seen_(seen) {}
  void on(element e) { seen_->add(e); }

 private:
  seen_elements* seen_;
};

class worker : public garrick::actor<elements> {
 public:
  worker(std::uint64_t steps, garrick::ref<elements> next)
      : steps_(steps), next_(std::move(next)) {}
  void on(element e) { send(next_, bench::worked_on(e, steps_)); }

 private:
  std::uint64_t steps_;
  garrick::ref<elements> next_;
};

struct produce {
  std::uint64_t count;
};

class source : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  explicit source(std::vector<garrick::ref<elements>> next) : next_(std::move(next)) {}
  void on(produce p) {
    for (std::uint64_t i = 0; i < p.count; ++i) send(next_[i % next_.size()], element{i});
  }

 private:
  std::vector<garrick::ref<elements>> next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("elements", 50'000);
  const std::uint64_t steps = args.number("steps", 4000);
  const std::size_t replicas = args.count("replicas", 2);

  seen_elements found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const auto last = system.spawn<sink>(garrick::lent(&found));
      std::vector<garrick::ref<elements>> workers;
      for (std::size_t i = 0; i < replicas; ++i)
        workers.push_back(system.spawn<worker>(steps, last));
      send(system.spawn<source>(std::move(workers)), produce{count});
    }
    static_cast<void>(system.await_all());
  });
  all.into(out, count, seconds);
  found.check(out, count, steps);
}
