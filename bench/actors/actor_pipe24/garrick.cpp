// Source, forwarder and sink pass tuples of three 64-bit numbers at full speed.
#include "common/garrick_system.hpp"

namespace {

struct seen {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
};
using tuples = garrick::protocol<void(std::int64_t, std::int64_t, std::int64_t)>;

class sink : public garrick::actor<tuples> {
 public:
  explicit sink(seen* total) : total_(total) {}

  void on(std::int64_t a, std::int64_t b, std::int64_t c) {
    total_->sum += static_cast<std::uint64_t>(a + b + c);
    ++total_->count;
  }

 private:
  seen* total_;
};

class forwarder : public garrick::actor<tuples> {
 public:
  explicit forwarder(garrick::ref<tuples> next) : next_(std::move(next)) {}
  void on(std::int64_t a, std::int64_t b, std::int64_t c) { send(next_, a, b, c); }

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
    for (std::uint64_t sent = 0; sent < p.count; ++sent) {
      const auto i = static_cast<std::int64_t>(sent);
      send(next_, i, i + 1, i + 2);
    }
  }

 private:
  garrick::ref<tuples> next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("tuples", 2'000'000);

  seen total;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<source>(system.spawn<forwarder>(system.spawn<sink>(garrick::lent(&total)))),
         produce{count});
    static_cast<void>(system.await_all());
  });
  out.items = count;
  out.expect("tuples", count, total.count);
  out.expect("sum", 3 * (count * (count - 1) / 2) + 3 * count, total.sum);
}
