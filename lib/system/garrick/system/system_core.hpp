// The environment behind an actor system: workers, clock, detached threads, the list of living
// actors, dead letters.
//
// It is a separate object because cells may outlive their `actor_system`: the last handle to the
// last ended actor destroys the environment. All threads have been stopped by then.
//
// Thread safety: every function may be called from any thread.
//
// Invariants of the list: S1 a cell is in exactly the list that its `shard` names, under that
// list's lock; S2 a listed cell's block is not freed: `left` is called before the last reference is
// dropped; S3 after `closed` was set under a list's lock, no cell joins it; S4 under a list's lock
// no thread allocates, blocks or calls a user, and none passes more than 256 cells.
#pragma once

#include <garrick/base/concurrency/spin_lock.hpp>
#include <garrick/base/time/timer_service.hpp>
#include <garrick/core/seam/environment.hpp>
#include <garrick/sched/scheduler.hpp>
#include <garrick/system/diagnosis/dead_letters.hpp>
#include <garrick/system/diagnosis/limited_log.hpp>
#include <garrick/system/diagnosis/watchdog.hpp>
#include <garrick/system/names/directory.hpp>
#include <garrick/system/settings/settings.hpp>
#include <garrick/system/threads/detached_pool.hpp>
#include <garrick/system/threads/memory_keeper.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace garrick::system {

/// The implementation behind `actor_system`, for the framework and its tests. Any thread.
class system_core final : public core::environment, public watchdog_listener {
 public:
  /// Checks the settings, builds every part and starts the workers. Throws std::invalid_argument,
  /// which names the wrong setting, or std::system_error if a thread cannot be created.
  explicit system_core(const settings& values);

  /// Ends every thread. Called once, by the system's destructor, after the actors were told to end.
  void stop_threads() noexcept;

  // core::environment
  void dead_letter(const core::undelivered& what) noexcept override;
  bool joined(core::cell& who) noexcept override;
  void left(core::cell& who) noexcept override;
  void failed(const core::cell& who, const base::error& why) noexcept override;
  void warn(std::string_view who, std::string_view what, std::string_view text) noexcept override;
  base::result<core::waiting_executor*> detached_executor(
      bool blocking, std::string_view affinity) noexcept override;
  void scoped_joined(core::scoped_entry& who) noexcept override;
  void scoped_left(core::scoped_entry& who) noexcept override;

  /// Returns the number of living actors, hidden ones counted or not.
  [[nodiscard]] std::size_t living(bool hidden_too = false) const noexcept;
  /// Waits until no actor lives, hidden ones counted or not. Returns false if `limit` has passed
  /// first.
  bool wait_until_empty(base::duration limit, bool hidden_too = false);
  /// Waits until no actor runs or has work to run, and no answer is due from outside. Returns false
  /// if `limit` has passed first.
  bool wait_until_quiet(base::duration limit);
  /// Makes every later spawn fail with `shutting_down`, and refuses names and memberships in
  /// groups.
  void refuse_newcomers() noexcept;
  /// Tells every actor to end, repeats the order for actors that it did not reach, and waits.
  /// Without `kill`, actors that trap exits end when no actor has work and they wait for no answer.
  /// Returns false if `limit` has passed first.
  bool end_all_and_wait(bool kill, base::duration limit);
  /// Tells every scoped actor to end, including those that join later. Does not wait for their
  /// threads.
  void end_scoped() noexcept;
  /// Calls `f` with each living actor's cell (core::cell&), hidden ones too. An actor that lives
  /// throughout the call is seen exactly once. An actor that is spawned or ends meanwhile may be
  /// left out. `f` may block, spawn and throw; no lock is held. The actor that it gets may have
  /// ended.
  template <class F>
  void for_each_cell(F f) const {
    for (const shard& s : shards_) {
      core::cell_walk walk(s.lock, s.actors);
      for (auto some = walk.next(); !some.empty(); some = walk.next())
        for (core::cell* const c : some) f(*c);
    }
  }
  /// Returns every living actor, or only those that have work, each with its activity: "name#id in
  /// its handler of int".
  [[nodiscard]] std::vector<std::string> names_of_the_living(bool idle_too = true) const;
  /// Returns true if the caller is a worker or a detached thread of this system. Such a thread must
  /// not wait for the system.
  [[nodiscard]] bool on_own_thread() const noexcept;

  /// Sets the watchdog's time; see `actor_system::set_watchdog`.
  base::result<void> set_watchdog(base::duration after);

  [[nodiscard]] dead_letters& letters() noexcept { return letters_; }         ///< of this system
  [[nodiscard]] limited_log& log() noexcept { return log_; }                  ///< of this system
  [[nodiscard]] registry& names() noexcept { return directory_.names; }       ///< of this system
  [[nodiscard]] groups& topics() noexcept { return directory_.topics; }       ///< of this system
  [[nodiscard]] sched::scheduler& workers_pool() noexcept { return *pool_; }  ///< of this system
  /// Returns the settings that the system was built with.
  [[nodiscard]] const settings& settings_of() const noexcept { return settings_; }

 private:
  ~system_core() = default;
  subject about(std::uint64_t actor) override;
  void tell(std::string_view who, const std::string& text) override;
  void destroy() noexcept override { delete this; }

  struct alignas(64) shard {
    mutable base::spin_lock lock;
    mutable core::cell_list actors;  // under `lock`; walks leave their places in it
    std::size_t all = 0;             // under `lock`
    std::size_t visible = 0;         // under `lock`: cells that are not hidden
    bool closed = false;             // under `lock`
  };
  static constexpr std::size_t shard_count = 16;

  enum class order : std::uint8_t { exit, leave, kill };
  /// Gives every living actor this order. Returns the actors that it did not reach, because no
  /// handle to them is left: they end by themselves, unless they handle a time-out or a request
  /// first.
  std::vector<core::address> order_all(order what);
  /// Gives these actors the order, and removes from `who` those that it reached.
  static void order_some(std::vector<core::address>& who, order what);
  /// Names in the log the actors for which an ending system has waited too long.
  class patience;
  [[nodiscard]] std::size_t my_shard() const noexcept;
  [[nodiscard]] bool looks_quiet(std::uint64_t& fingerprint) const;

  // constant after construction
  const settings settings_;
  core::drain_lot drain_lot_;
  core::wait_graph wait_graph_;
  std::unique_ptr<base::timer_service> clock_;
  memory_keeper memory_;
  limited_log log_;
  std::unique_ptr<sched::scheduler> pool_;
  std::mutex watchdog_mutex_;
  std::unique_ptr<watchdog> watchdog_;  ///< after the start under `watchdog_mutex_`; may be null
  detached_pool detached_;
  dead_letters letters_;
  directory directory_{*this};

  std::array<shard, shard_count> shards_;

  std::mutex scoped_mutex_;
  // under `scoped_mutex_`
  core::scoped_entry* scoped_ = nullptr;  ///< the first one
  bool scoped_end_ = false;               ///< scoped actors have been told to end

  std::atomic<std::uint32_t> waiters_{0};  ///< threads in wait_until_empty
  std::mutex empty_mutex_;
  std::condition_variable empty_;
};

}  // namespace garrick::system
