// The figures of a run that every program of this group reports: processor time for each tuple, and
// how often its threads went to sleep.
#pragma once

#include <sys/resource.h>

#include "common/measure.hpp"

namespace bench {

// The time and the switches since it was made.
class stretch {
 public:
  // Fills in the seconds, the tuples, and the details `cpu_ns_per_tuple` and
  // `switches_per_1000_tuples` (voluntary ones). The clock stops when this is called, unless
  // `seconds` says how long the stretch was.
  void into(result& out, std::uint64_t tuples, double seconds = -1) const {
    out.seconds = seconds < 0 ? seconds_since(start_ns_) : seconds;
    out.items = tuples;
    const auto n = static_cast<double>(tuples);
    out.detail("cpu_ns_per_tuple", (bench::cpu_seconds() - cpu_) * 1e9 / n);
    out.detail("switches_per_1000_tuples",
               static_cast<double>(voluntary_switches() - switches_) * 1000 / n);
  }

 private:
  static long voluntary_switches() {
    rusage u{};
    getrusage(RUSAGE_SELF, &u);
    return u.ru_nvcsw;
  }

  double cpu_ = bench::cpu_seconds();
  long switches_ = voluntary_switches();
  std::int64_t start_ns_ = now_ns();
};

// Makes the compiler suppose that other code has computed `number`.
template <class T>
void keep(T& number) {
  asm volatile("" : "+r"(number));
}

}  // namespace bench
