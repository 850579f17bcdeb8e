// Three streams side by side at full speed, for `--seconds n`: the pipeline of 24-byte tuples;
// texts through a farm by key whose nodes are never run in place, so that a worker may free memory
// that another one allocated; and tuples that go several times round a loop. Resident memory is
// looked at meanwhile.
#include <string>
#include <thread>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/stages.hpp"

namespace {

using namespace garrick::patterns;
using bench::now_ns;
using bench::tuple24;

// Tuples in a row until its time has passed.
struct source {
  std::int64_t end_ns;
  std::uint64_t next = 0;
  bool operator()(emit<tuple24> out) {
    if (next % 1024 == 0 && now_ns() >= end_ns) return false;
    out(bench::tuple_number(next++));
    return true;
  }
};

struct text {
  std::int64_t number;
  std::string letters;  // too many to lie in the object
};
text written(tuple24 t) {
  return {t.a, std::string(40 + static_cast<std::size_t>(t.a) % 200, 'x')};
}
tuple24 checked(text t) {
  const auto n = static_cast<std::uint64_t>(t.number);
  return t.letters.size() == 40 + n % 200 ? bench::tuple_number(n) : tuple24();
}

struct circling {
  tuple24 tuple;
  std::int64_t laps;
};

// Looks at resident memory until the time has passed.
class memory_log {
 public:
  void watch(std::int64_t begin_ns, std::int64_t end_ns) {
    for (std::int64_t now = now_ns(); now < end_ns; now = now_ns()) {
      const double share =
          static_cast<double>(now - begin_ns) / static_cast<double>(end_ns - begin_ns);
      if (share >= 0.1 && share < 0.3) early_ = std::max(early_, bench::resident_bytes());
      if (share >= 0.8) late_ = std::max(late_, bench::resident_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // between two looks
    }
  }
  void into(bench::result& out) const {
    constexpr std::uint64_t allowed = 1'000'000;
    if (early_ == 0 || late_ == 0) out.error("too short to look at the memory");
    const std::uint64_t grown = late_ > early_ ? late_ - early_ : 0;
    if (grown > allowed)
      out.error("memory has grown by " + std::to_string(grown) + " bytes, from " +
                std::to_string(early_));
    out.detail("resident_bytes", static_cast<double>(late_));
    out.detail("grown_bytes", static_cast<double>(grown));
  }

 private:
  std::uint64_t early_ = 0;  // the most from a tenth of the time to three tenths
  std::uint64_t late_ = 0;   // the most in the last fifth
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t seconds = args.count("seconds", 60);

  memory_log memory;
  std::uint64_t tuples = 0;
  const stretch all;
  const std::int64_t begin = now_ns();
  const std::int64_t end = begin + static_cast<std::int64_t>(seconds) * 1'000'000'000;
  const double took = run_system(args, [&](garrick::actor_system& system) {
    const auto in_a_row = spawn(
        system, pipeline(seq(source{end}), [](tuple24 t) { return t; }, sum24()), {.fuse = false});
    const auto by_key = spawn(system,
                              pipeline(seq(source{end}), written,
                                       farm(checked).replicas(2).by_key(&text::number), sum24()),
                              {.in_place = false});
    const auto round =
        spawn(system, pipeline(
                          seq(source{end}), [](tuple24 t) { return circling{t, t.a % 4}; },
                          feedback([](circling c) { return circling{c.tuple, c.laps - 1}; },
                                   [](const circling& c) { return c.laps > 0; }),
                          [](circling c) { return c.tuple; }, sum24()));
    memory.watch(begin, end);
    const auto check = [&](const char* name, const auto& stream) {
      const seen24 found = system.request(stream, join{}).get().value();
      const stream_report r = system.request(stream, get_report{}).get().value();
      found.check(out, r.stages.front().figures.out);
      out.detail(name, static_cast<double>(found.count));
      tuples += found.count;
    };
    check("in_a_row", in_a_row);
    check("by_key", by_key);
    check("round", round);
  });
  all.into(out, tuples, took);
  memory.into(out);
}
