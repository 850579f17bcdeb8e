// A host's view of time: the network's, with an offset and a rate.
//
// local = local_base + (time - base) * (1 + ppm / 10^6), rounded down. The way back is rounded up,
// so a deadline is due when the network's time is the result. Both are exact, and a clock that is
// read never goes back.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/testkit/internal/timeline.hpp"

namespace garrick::net::testkit::internal {

class host_clock final : public base::clock_service {
 public:
  explicit host_clock(timeline& t);
  ~host_clock() { drop_all(); }

  [[nodiscard]] base::instant now() const noexcept override;
  base::timer_id arm(base::instant deadline, const base::timer_task& task) override;
  bool cancel(base::timer_id id) noexcept override;

  /// Returns the earliest time at which the host's clock shows `local`; in the past if it did
  /// already.
  [[nodiscard]] base::instant time_of(base::instant local) const noexcept;
  /// Returns the first deadline, local.
  [[nodiscard]] base::instant first_deadline() const noexcept;
  /// Fires the timer of the first deadline.
  void fire_first();
  void drop_all() noexcept;
  void jump(base::duration by);
  void set_rate(std::int64_t ppm);

 private:
  using key = std::pair<base::instant, std::uint64_t>;
  [[nodiscard]] base::instant local_of(base::instant time) const noexcept;
  [[nodiscard]] static std::uint64_t number_of(base::timer_id id) noexcept {
    return std::uint64_t{id.generation} << 32 | id.index;
  }
  void rebase();

  timeline& time_;
  base::instant base_;
  base::instant local_base_;
  std::int64_t rate_ = 1'000'000;                ///< in local microseconds a second
  std::uint64_t last_ = std::uint64_t{1} << 32;  ///< starts so that no generation is zero
  std::map<key, base::timer_task> timers_;
  std::unordered_map<std::uint64_t, key> keys_;
};

}  // namespace garrick::net::testkit::internal
