// A router with members that come and go while it is used.
//
//   changing_router<worker, least_loaded> pool(system);
//   pool.add(system.spawn<worker_actor>());
//   send(pool, job{1});               // as with a router: also request, delegate, broadcast, …
//   pool.remove(tired);
//
// It is a class apart from `router` because it costs more: each use holds a lock while it copies
// one pointer.
//
// Guarantees: a use picks among the members at one moment. If the picked member leaves just then,
// the message still goes to it. The policy keeps its state when the members change; `by_key`
// spreads the keys again. Members that have ended are forgotten at the next change.
//
// Thread safety: any thread. Copies share members and policy, and are one pointer.
#pragma once

#include <garrick/core/router.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::core {

namespace detail {

/// A policy that several routers share, one after the other.
template <class Policy>
class shared_policy {
 public:
  explicit shared_policy(std::shared_ptr<Policy> p) noexcept : policy_(std::move(p)) {}
  template <class Members, class... Args>
  std::size_t choose(const Members& members, const Args&... args) {
    return policy_->choose(members, args...);
  }

 private:
  std::shared_ptr<Policy> policy_;
};

/// Spawns an actor that has ended, as the only member of a router without members. Returns a strong
/// reference.
[[nodiscard]] cell* spawn_nobody(environment& env);

[[nodiscard]] inline environment& environment_of(actor_base& self) noexcept {
  return actor_access::get(self).env();
}
template <class System>
  requires(!std::is_base_of_v<actor_base, System>)
[[nodiscard]] environment& environment_of(System& system) noexcept {
  return system.env();
}

}  // namespace detail

/// A handle to actors of one protocol that join and leave. Used like a `router`, with the same
/// policies. It keeps its members alive, and may be sent in messages. Without a living member,
/// messages are dead letters and a request gets `not_handled`. Thread safety: any thread.
///
///     changing_router<worker> pool(system);
///     pool.add(w);  send(pool, job{1});  pool.remove(w);
template <class P, class Policy = round_robin>
class changing_router {
 public:
  using garrick_sendable = void;
  using garrick_only_here = void;  ///< its members are kept in this process
  using garrick_router = void;
  using protocol_type = P;  ///< the messages that it accepts

  /// Makes a router without members, with a policy made of `args`. `from` is a system or, on its
  /// turn, an actor. Throws std::bad_alloc.
  template <class Spawner, class... PolicyArgs>
    requires(!std::is_same_v<std::remove_cv_t<Spawner>, changing_router>)
  explicit changing_router(Spawner& from, PolicyArgs&&... args)
      : state_(std::make_shared<state>(
            handle_access::adopt<P>(detail::spawn_nobody(detail::environment_of(from))),
            std::make_shared<Policy>(std::forward<PolicyArgs>(args)...))) {}

  /// Lets an actor join. Returns false if it is a member already. Never waits. Throws
  /// std::invalid_argument for an empty handle, std::bad_alloc; then the members are as before.
  bool add(ref<P> member) const {
    if (!member)
      throw std::invalid_argument("garrick: changing_router: an empty handle cannot join");
    std::optional<fixed> before;
    const std::lock_guard guard(state_->mutex);
    std::vector<ref<P>> all = state_->living();
    for (const ref<P>& m : all)
      if (m == member) return false;
    all.push_back(std::move(member));
    before = state_->change_to(std::move(all));
    return true;
  }
  /// Lets a member leave. Returns false if it is not a member. Its earlier messages stay with it.
  /// Never waits. Throws std::bad_alloc; then the members are as before.
  bool remove(const address& member) const {
    std::optional<fixed> before;
    const std::lock_guard guard(state_->mutex);
    std::vector<ref<P>> all = state_->living();
    const auto gone = std::erase_if(all, [&](const ref<P>& m) { return m == member; });
    before = state_->change_to(std::move(all));
    return gone != 0;
  }
  /// The same for a handle.
  bool remove(const handle& member) const { return remove(member.address()); }

  /// Returns the members that have not ended now.
  [[nodiscard]] std::vector<ref<P>> members() const {
    const std::lock_guard guard(state_->mutex);
    return state_->living();
  }
  /// Returns the member for a message with these arguments, as `router::pick`; an actor that has
  /// ended if there are no members.
  template <class... Args>
  [[nodiscard]] ref<P> pick(const Args&... args) const {
    return now().pick(args...);
  }

  /// For the framework: implements `send` and `actor_base::send`.
  template <class... Args>
  void send_from_here(Args&&... args) const {
    now().send_from_here(std::forward<Args>(args)...);
  }
  /// For the framework: implements `send_urgent`.
  template <class... Args>
  void send_urgent_from_here(Args&&... args) const {
    now().send_urgent_from_here(std::forward<Args>(args)...);
  }
  /// For the framework: implements `try_send`.
  template <class... Args>
  [[nodiscard]] base::error try_send_from_here(Args&&... args) const {
    return now().try_send_from_here(std::forward<Args>(args)...);
  }
  /// For the framework: implements `actor_base::request`.
  template <class... Args>
  [[nodiscard]] auto request_from(actor_base& self, Args&&... args) const {
    return now().request_from(self, std::forward<Args>(args)...);
  }
  /// For the framework: implements `actor_base::delegate`.
  template <class... Args>
  auto delegate_from(actor_base& self, Args&&... args) const {
    return now().delegate_from(self, std::forward<Args>(args)...);
  }

  friend bool operator==(const changing_router& a, const changing_router& b) noexcept {
    return a.state_ == b.state_;
  }

 private:
  static constexpr bool is_broadcast = std::is_same_v<Policy, broadcast>;
  using fixed =
      router<P, std::conditional_t<is_broadcast, broadcast, detail::shared_policy<Policy>>>;

  struct state {
    state(ref<P> nobody_here, std::shared_ptr<Policy> kept)
        : nobody(std::move(nobody_here)), policy(std::move(kept)), current(made_of({})) {}

    /// Returns a router to these members; without members, to `nobody`, an actor that has ended.
    [[nodiscard]] fixed made_of(std::vector<ref<P>> all) const {
      if (all.empty()) all.push_back(nobody);
      if constexpr (is_broadcast)
        return fixed(std::move(all));
      else
        return fixed(std::move(all), policy);
    }
    [[nodiscard]] std::vector<ref<P>> living() const {
      std::vector<ref<P>> all = current.members();
      std::erase_if(all, [](const ref<P>& m) { return handle_access::get(m)->has_ended(); });
      return all;
    }
    /// Sets the members. Returns the previous ones, which the caller drops without the lock, since
    /// that may end actors.
    [[nodiscard]] fixed change_to(std::vector<ref<P>> all) {
      return std::exchange(current, made_of(std::move(all)));
    }

    std::mutex mutex;
    const ref<P> nobody;
    const std::shared_ptr<Policy> policy;
    fixed current;  // under `mutex`
  };

  /// Returns a router to the present members.
  [[nodiscard]] fixed now() const {
    const std::lock_guard guard(state_->mutex);
    return state_->current;
  }

  std::shared_ptr<state> state_;
};

}  // namespace garrick::core
