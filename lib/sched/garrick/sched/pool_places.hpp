// Where the threads of one pool stand on the machine, and how they are kept there.
//
// Reading the machine takes milliseconds, so it is done only for a policy that knows places or a pool that pins its threads.
//
// Thread safety: immutable after construction, but `bind_worker` is called by each worker thread for itself.
#pragma once

#include <garrick/sched/affinity.hpp>
#include <garrick/sched/scheduler.hpp>
#include <garrick/sched/worker_places.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace garrick::sched {

class pool_places {
 public:
  /// Requires checked options. `for_policy`: the policy needs places.
  pool_places(const scheduler_options& options, bool for_policy);

  /// Null: nobody needs them.
  [[nodiscard]] const worker_places* get() const noexcept { return places_ ? &*places_ : nullptr; }

  /// Binds the calling thread, which is worker `index`, as the options say. Error: the system refuses.
  [[nodiscard]] base::error bind_worker(std::uint32_t index);

  /// Why a machine was taken for flat that perhaps is not; empty: it is known.
  [[nodiscard]] std::string flat_reason() const { return places_ ? places_->machine().flat_reason() : std::string(); }

 private:
  enum class pin : std::uint8_t { unit, cache, node, system };
  static pin pin_of(const scheduler_options& options, bool for_policy) noexcept;

  pin pin_;
  affinity affinity_;
  std::optional<worker_places> places_;
};

}  // namespace garrick::sched
