// The composition root: one object owns workers, clock, detached threads and the list of living actors. Many systems may live in one process.
//
//   garrick::actor_system system;
//   auto acc = system.spawn<account_actor>();
//   send(acc, deposit{500});
//   long left = system.request(acc, withdraw{120}, 1s).get().value();   // from an ordinary thread
//
// The destructor drains: it waits until nothing is left to do (at most `options.shutdown_deadline`), tells every actor to end, and names
// those that do not. Other ways to end: `await_all`, `shutdown`.
//
// Thread safety: every function may be called from any thread, but: `await_all`, `shutdown` and the destructor may not be called on one of the system's own
// workers (an error with advice, not a hang); the constructor and destructor are one thread's.
#pragma once

#include <garrick/core/blocking.hpp>
#include <garrick/core/spawn.hpp>
#include <garrick/system/dead_letters.hpp>
#include <garrick/system/options.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace garrick::system {

class system_core;

/// The answer to a request that a thread waits for.
template <class... Rs>
class [[nodiscard]] blocking_response {
 public:
  using value = std::conditional_t<sizeof...(Rs) == 0, core::result<void>, core::result<Rs...>>;

  template <class Start>
  blocking_response(core::environment& env, Start start) : scope_(new core::scoped_actor(env)), pending_(start(**scope_)) {}
  blocking_response(const blocking_response&) = delete;
  blocking_response& operator=(const blocking_response&) = delete;
  ~blocking_response() { delete scope_; }

  /// Waits for the answer. On a worker thread this is the error `would_block`, at once: use then, await or co_await there.
  [[nodiscard]] value get() {
    if (base::this_thread.worker_of != nullptr)
      return base::make_error(base::errc::would_block, "get()", "this is a worker thread: use .then, .await or co_await in an actor");
    return (*scope_)->get(std::move(pending_));
  }

 private:
  core::scoped_actor* scope_;
  core::pending_response<Rs...> pending_;
};

/// Who was still alive when a deadline passed, by name and id, and in which message's handler, if in any.
struct shutdown_report {
  bool complete = true;
  std::vector<std::string> still_alive;
};

class actor_system {
 public:
  /// Throws std::invalid_argument that names a bad option, std::system_error if a thread cannot be created.
  explicit actor_system(const options& o = {});
  ~actor_system();
  actor_system(const actor_system&) = delete;
  actor_system& operator=(const actor_system&) = delete;

  /// A class-based actor. If its constructor throws, the handle names an actor that ended with that error; see try_spawn.
  template <class A, class... Args>
  core::ref<typename A::protocol_type> spawn(Args&&... args) {
    return core::detail::spawn_class<A>(env(), nullptr, nullptr, std::forward<Args>(args)...);
  }
  template <class A, class... Args>
  core::ref<typename A::protocol_type> spawn(const core::spawn_options& o, Args&&... args) {
    return core::detail::spawn_class<A>(env(), nullptr, &o, std::forward<Args>(args)...);
  }
  /// A function-based actor.
  template <class F, class... Args>
    requires(!std::is_same_v<std::decay_t<F>, core::spawn_options>)
  auto spawn(F&& f, Args&&... args) {
    return core::detail::spawn_function(env(), nullptr, nullptr, std::forward<F>(f), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  auto spawn(const core::spawn_options& o, F&& f, Args&&... args) {
    return core::detail::spawn_function(env(), nullptr, &o, std::forward<F>(f), std::forward<Args>(args)...);
  }
  /// As spawn, with the constructor's failure as an error value.
  template <class A, class... Args>
  base::result<core::ref<typename A::protocol_type>> try_spawn(Args&&... args) {
    auto handle = spawn<A>(std::forward<Args>(args)...);
    core::cell* const c = core::handle_access::get(handle);
    if (c->has_ended() && c->end_reason().as_error() == base::errc::spawn_failed) return c->end_reason().as_error();
    return handle;
  }

  /// A request from an ordinary thread; the last argument may be a time-out.
  template <class P, class... Args>
    requires(!std::is_same_v<P, core::any_protocol>)
  auto request(const core::ref<P>& to, Args&&... args) {
    return request_with([&](core::blocking_actor& self) { return self.request(to, std::forward<Args>(args)...); });
  }
  /// The same for a wildcard handle.
  template <class... Rs, class... Args>
  auto request_as(const core::any_ref& to, Args&&... args) {
    return request_with([&](core::blocking_actor& self) { return self.request_as<Rs...>(to, std::forward<Args>(args)...); });
  }

  /// Waits until every actor that is not hidden has ended. Fails with `would_block` on a worker.
  base::result<void> await_all();
  /// The same, at most so long.
  shutdown_report await_all(base::duration limit);

  /// Waits until nothing is left to do, at most `deadline`; then tells every actor to end, and waits again for at most `deadline`. Later spawns fail.
  shutdown_report shutdown(base::duration deadline);
  /// Tells every actor to end now: what is in the mailboxes becomes dead letters.
  shutdown_report stop_now(base::duration deadline);

  /// Asks an actor to end as an exit signal would, or ends it without asking.
  void exit(const core::handle& who, base::exit_reason reason = base::exit_code::user_shutdown) { core::detail::exit_cell(nullptr, who.address(), std::move(reason)); }
  void kill(const core::handle& who) { core::detail::kill_cell(who.address(), base::exit_code::kill); }

  /// Actors that live now, without hidden ones.
  [[nodiscard]] std::size_t actor_count() const;
  /// What could not be delivered so far, by reason; `total` if the code is 0.
  [[nodiscard]] std::uint64_t dead_letter_count(base::errc reason) const noexcept;
  [[nodiscard]] std::uint64_t dead_letter_count() const noexcept;

  /// Subscribe here to hear of each.
  [[nodiscard]] system::dead_letters& dead_letters() noexcept;

  [[nodiscard]] core::environment& env() noexcept;
  [[nodiscard]] system_core& core() noexcept { return *core_; }

 private:
  template <class Start>
  auto request_with(Start start) {
    return make_blocking(static_cast<decltype(start(std::declval<core::blocking_actor&>()))*>(nullptr), start);
  }
  template <class... Rs, class Start>
  blocking_response<Rs...> make_blocking(core::pending_response<Rs...>*, Start& start) {
    return blocking_response<Rs...>(env(), start);
  }

  system_core* core_;
};

}  // namespace garrick::system
