// The data of a supervised child about its supervisor.
//
// Private: installed because templates need it.
//
// Thread safety: the child's turn; `supervisor` and `factory` are constant after spawn; any thread
// for `asked_child`.
#pragma once

#include <garrick/base/concurrency/spin_lock.hpp>
#include <garrick/core/cell/handle.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace garrick::core {

/// Rebuilds the user's object when a supervisor restarts its actor.
class object_factory {
 public:
  virtual ~object_factory() = default;
  virtual void build(void* storage) = 0;
};

/// The request of a supervisor to its child.
enum class demand : std::uint8_t { none, suspend, restart };

/// The child from which a supervisor waits for an answer, while the supervisor restarts a group or
/// ends its children. Senders to the other children of the group may have to run that child
/// (`room_wait::run_now`).
class asked_child {
 public:
  /// Sets the child that the supervisor has asked; the supervisor waits for no other child.
  void set(address who) noexcept {
    const std::lock_guard guard(lock_);
    // order: relaxed; the signal to the child or the count of waiting workers publishes it
    is_set_.store(static_cast<bool>(who), std::memory_order_relaxed);
    std::swap(who_, who);  // the earlier one is dropped after the lock: that may free a block
  }
  /// Clears the child with this id: it has answered, or the supervisor no longer waits for it.
  void clear(std::uint64_t id) noexcept {
    if (id == who_.id()) set({});  // only the supervisor writes it
  }
  /// Returns the child; an empty address if there is none.
  [[nodiscard]] address get() const noexcept {
    // order: relaxed; as in set
    if (!is_set_.load(std::memory_order_relaxed)) return {};
    const std::lock_guard guard(lock_);
    return who_;
  }

 private:
  mutable base::spin_lock lock_;
  std::atomic<bool> is_set_{false};
  address who_;
};

struct supervised {
  address supervisor;
  std::shared_ptr<object_factory> factory;
  bool restarts_after_failure = true;  ///< or after a kill
  bool restarts_after_quit = true;     ///< or after any other end without a failure
  bool restartable = true;             ///< false: the supervisor has let go; the next end is final
  bool keep_mail = true;               ///< of the restart that is due
  demand due = demand::none;           ///< carried out at the next end of a turn
  std::atomic<std::uint32_t> restarts{0};  ///< the child writes it; any thread reads it
  /// The child is suspended and has told its supervisor: senders may wait for its restart or its
  /// end (invariant 5 of drain_lot.hpp). The child writes it, any thread reads it.
  std::atomic<bool> awaits_restart{false};
  /// Set when the supervisor adopts the child, and constant from then on; null before. Any thread
  /// reads it.
  std::atomic<asked_child*> asked{nullptr};
  std::shared_ptr<asked_child> keeps_asked;  ///< the supervisor writes it before `asked`
};

}  // namespace garrick::core
