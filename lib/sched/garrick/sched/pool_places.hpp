// The places of one pool's threads on the machine, and the binding of the threads.
//
// Reading the machine takes milliseconds, so it is done only for a policy that knows places or a
// pool that pins its threads.
//
// Thread safety: immutable after construction, but `bind_worker` is called by each worker thread
// for itself.
#pragma once

#include <garrick/sched/places/affinity.hpp>
#include <garrick/sched/places/worker_places.hpp>
#include <garrick/sched/scheduler_settings.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace garrick::sched {

/// The places of one pool's threads.
class pool_places {
 public:
  /// Reads the machine if `for_policy`, since the policy needs places, or if the settings pin the
  /// threads. Requires settings that were `checked`.
  pool_places(const scheduler_settings& settings, bool for_policy);

  /// Returns the workers' places; null if neither the policy nor the settings need them.
  [[nodiscard]] const worker_places* get() const noexcept { return places_ ? &*places_ : nullptr; }

  /// Binds the calling thread, which is worker `index`, as the settings say.
  ///
  /// Returns the error `invalid_setting` if the system refuses. It names the setting.
  [[nodiscard]] base::error bind_worker(std::uint32_t index);

  /// Returns a note for a user that asked for places: they make no difference here, since the
  /// machine is flat or cannot be read. `policy` is the name of the policy, if it needs places;
  /// it is empty if threads are only pinned. Returns an empty text if there is nothing to tell.
  [[nodiscard]] std::string warning(std::string_view policy) const;

 private:
  enum class pin : std::uint8_t { unit, cache, node, system };
  static pin pin_of(const scheduler_settings& settings, bool for_policy) noexcept;
  /// Returns the processors that worker `index` is pinned to: its own and those that share its
  /// cache or node, as `pin_` says.
  [[nodiscard]] affinity::processors group_of(std::uint32_t index) const;

  pin pin_;
  affinity affinity_;
  std::optional<worker_places> places_;
};

}  // namespace garrick::sched
