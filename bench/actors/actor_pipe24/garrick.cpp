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

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t count = args.number("tuples", 2'000'000);
  const garrick::options options = bench::garrick_options(args);
  args.reject_unknown();

  bench::result result;
  seen total;
  const std::int64_t start = bench::now_ns();
  {
    garrick::actor_system system(options);
    send(system.spawn<source>(system.spawn<forwarder>(system.spawn<sink>(&total))), produce{count});
    static_cast<void>(system.await_all());
  }
  result.seconds = bench::seconds_since(start);
  result.items = count;
  result.expect("tuples", count, total.count);
  result.expect("sum", 3 * (count * (count - 1) / 2) + 3 * count, total.sum);
  return result.print();
}
