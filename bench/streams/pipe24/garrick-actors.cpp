// Source, forwarder and sink as three actors: a message for each tuple.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

namespace {

using bench::seen24;
using bench::tuple24;
using tuples = garrick::protocol<void(tuple24)>;

class sink : public garrick::actor<tuples> {
 public:
  explicit sink(seen24* seen) : seen_(seen) {}
  void on(tuple24 t) { seen_->add(t); }

 private:
  seen24* seen_;
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
};

class source : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  explicit source(garrick::ref<tuples> next) : next_(std::move(next)) {}
  void on(produce p) {
    for (std::uint64_t i = 0; i < p.count; ++i) send(next_, bench::tuple_number(i));
  }

 private:
  garrick::ref<tuples> next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("tuples", 5'000'000);

  seen24 found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<source>(system.spawn<forwarder>(system.spawn<sink>(garrick::lent(&found)))),
         produce{count});
    static_cast<void>(system.await_all());
  });
  all.into(out, count, seconds);
  found.check(out, count);
}
