// What a supervised child knows of its supervisor.
//
// Private: installed because templates need it.
//
// Thread safety: the child's turn; `supervisor` and `factory` are constant after spawn.
#pragma once

#include <garrick/core/cell/handle.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace garrick::core {

/// Builds the user's object anew when a supervisor restarts its actor.
class object_factory {
 public:
  virtual ~object_factory() = default;
  virtual void build(void* storage) = 0;
};

/// What a supervisor has asked its child for.
enum class demand : std::uint8_t { none, suspend, restart };

struct supervised {
  address supervisor;
  std::shared_ptr<object_factory> factory;
  bool restarts_after_failure = true;  ///< or after a kill
  bool restarts_after_quit = true;     ///< or any other end without a failure
  bool restartable = true;             ///< false: the supervisor has let go; the next end is final
  bool keep_mail = true;               ///< of the restart that is due
  demand due = demand::none;           ///< carried out at the next end of a turn
  std::atomic<std::uint32_t> restarts{0};  ///< the child writes it; any thread reads it
  /// It is suspended and has told its supervisor: senders may wait for its restart or its end
  /// (invariant 5 of drain_lot.hpp). The child writes it, any thread reads it.
  std::atomic<bool> awaits_restart{false};
};

}  // namespace garrick::core
