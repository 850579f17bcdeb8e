// The composition root: one object owns workers, clock, detached threads and the list of living
// actors. Many systems may live in one process.
//
//   garrick::actor_system system;
//   auto acc = system.spawn<account_actor>();
//   send(acc, deposit{500});
//   long left = system.request(acc, withdraw{120}, 1s).get().value();   // from an ordinary thread
//
// The destructor drains: it waits until nothing is left to do (at most
// `options.shutdown_deadline`), tells every actor to end, and names those that do not. Other ways
// to end: `await_all`, `shutdown`.
//
// Thread safety: every function may be called from any thread, but: `await_all`, `shutdown` and the
// destructor may not be called on one of the system's own workers (an error with advice, not a
// hang); the constructor and destructor are one thread's.
#pragma once

#include <garrick/system/diagnosis/dead_letters.hpp>
#include <garrick/system/settings/options.hpp>
#include <garrick/system/spawner.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace garrick::system {

class groups;
class registry;
class system_core;

/// Who was still alive when a deadline passed, by name and id, and in which message's handler, if
/// in any.
struct shutdown_report {
  bool complete = true;
  /// `would_block` with advice: asked by one of the system's own threads, nothing was done
  base::error error{};
  std::vector<std::string> still_alive;
};

class actor_system : public spawner<actor_system> {
 public:
  /// Throws std::invalid_argument that names a bad option, std::system_error if a thread cannot be
  /// created.
  explicit actor_system(const options& o = {});
  ~actor_system();
  actor_system(const actor_system&) = delete;
  actor_system& operator=(const actor_system&) = delete;

  /// Waits until every actor that is not hidden has ended. Fails with `would_block` on a worker.
  base::result<void> await_all();
  /// The same, at most so long.
  shutdown_report await_all(base::duration limit);

  /// Waits until nothing is left to do, at most `deadline`; then tells every actor to end, and
  /// waits again for at most `deadline`. Later spawns fail. Delayed and periodic sends are left
  /// undone from here on; time-outs of requests still come.
  shutdown_report shutdown(base::duration deadline);
  /// Tells every actor to end now: what is in the mailboxes becomes dead letters.
  shutdown_report stop_now(base::duration deadline);

  /// Actors that live now, without hidden ones.
  [[nodiscard]] std::size_t actor_count() const;
  /// What could not be delivered so far, by reason; `total` if the code is 0.
  [[nodiscard]] std::uint64_t dead_letter_count(base::errc reason) const noexcept;
  [[nodiscard]] std::uint64_t dead_letter_count() const noexcept;

  /// Subscribe here to hear of each.
  [[nodiscard]] system::dead_letters& dead_letters() noexcept;
  /// Actors by name; an actor says `registry_of(*this)`. Include
  /// <garrick/system/names/registry.hpp>.
  [[nodiscard]] system::registry& registry() noexcept;
  /// Publish and subscribe; an actor says `groups_of(*this)`. Include
  /// <garrick/system/names/groups.hpp>.
  [[nodiscard]] system::groups& groups() noexcept;

  [[nodiscard]] core::environment& env() noexcept;
  [[nodiscard]] system_core& core() noexcept { return *core_; }

 private:
  system_core* core_;
};

}  // namespace garrick::system
