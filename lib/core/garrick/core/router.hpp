// Pools and routers: several actors behind one handle. The sender's call picks the member, so a
// message makes no extra hop.
//
//   auto pool = spawn_pool<worker, round_robin>(system, 8, args...);
//   send(pool, job{1});                   // as with any handle; also send_urgent, try_send
//   request(pool, job{2}).then(…);        // also delegate
//   auto shards = route_by_key(stores, &put::key, &get::key);
//
//   round_robin    one after the other
//   random_member  uniformly, from a seed
//   by_key<F...>   equal keys go to the same member; each F is a function that takes the message's
//                  arguments, or a pointer to a member of the message, and returns a key that
//                  std::hash takes; the first F that takes the message counts. Every sender calls
//                  it, so it must not share data with its creator, unless it is lent(f)
//   least_loaded   the member with the least work: the shortest mailbox, an idle one first, ties in
//                  turn
//   broadcast      all: a send is one shared block; a request answers with a vector that holds each
//                  member's answer or error; no try_send, no delegate
//
// Members are fixed; make a new router to change them. A member that has ended is passed over for
// the next living one. If none lives, messages become dead letters. A member that its supervisor
// restarts keeps its place. `try_send` tries the picked member only.
//
// Thread safety: any thread. Copies share their state, and are one pointer. A router may be sent in
// messages.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/composition.hpp>
#include <garrick/core/detail/handlers.hpp>
#include <garrick/core/detail/invoke.hpp>
#include <garrick/core/detail/spawn_check.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::core {

/// A router's policy: one member after the other, over all senders together.
class round_robin {
 public:
  /// Returns the index of the member that gets a message with these arguments. Any thread.
  template <class Members, class... Args>
  std::size_t choose(const Members& members, const Args&...) noexcept {
    // order: any turn will do
    return next_.fetch_add(1, std::memory_order_relaxed) % members.size();
  }

 private:
  std::atomic<std::size_t> next_{0};
};

/// A router's policy: any member, each as likely as the others.
class random_member {
 public:
  /// Makes a policy from a seed. The same seed gives the same choices, over all senders together.
  explicit random_member(std::uint64_t seed = 1) noexcept : state_(seed) {}
  /// Returns the index of the member that gets a message with these arguments. Any thread.
  template <class Members, class... Args>
  std::size_t choose(const Members& members, const Args&...) noexcept {
    // SplitMix64 mixes a counter, so concurrent senders need only one addition.
    // order: uniqueness only
    std::uint64_t z = state_.fetch_add(0x9e3779b97f4a7c15ull, std::memory_order_relaxed);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<std::size_t>((z ^ (z >> 31)) % members.size());
  }

 private:
  std::atomic<std::uint64_t> state_;
};

/// A router's policy: the living member with the shortest mailbox; of two members with empty
/// mailboxes the idle one; of equal members each in turn. Costs a look at each member. While a
/// member runs, its number of messages is known to within a millisecond.
class least_loaded {
 public:
  /// Returns the index of the member that gets a message with these arguments. Any thread.
  template <class Members, class... Args>
  std::size_t choose(const Members& members, const Args&...) noexcept {
    const std::size_t count = members.size();
    // order: any turn will do
    const std::size_t start = next_.fetch_add(1, std::memory_order_relaxed) % count;
    std::size_t best = start;
    std::uint32_t least = ~std::uint32_t{0};
    for (std::size_t i = 0; i < count && least != 0; ++i) {
      const std::size_t at = start + i < count ? start + i : start + i - count;
      const cell* const c = handle_access::get(members[at]);
      const std::uint32_t load = c->has_ended() ? ~std::uint32_t{0} : c->load();
      if (load < least) {
        least = load;
        best = at;
      }
    }
    return best;
  }

 private:
  std::atomic<std::size_t> next_{0};
};

namespace detail {

struct in_key_function {
  static constexpr std::string_view name = "key function";
};

/// Instantiated only to fail: the compiler prints the path, the type and the reason.
template <auto Path, class Type, class Reason>
struct cannot_be_a_key : base::detail::failed_check {
  static_assert(base::detail::is_owned_by_the_message<Type>,
                "garrick: every sender calls a router's key function, on any thread: "
                "cannot_be_a_key<path, type, reason> names the part that would be shared. Give a "
                "function without captures, or say lent(f)");
};

/// Returns the failing check of the first bad key function, or passed_check.
template <std::size_t I>
consteval passed_check* check_keys() {
  return nullptr;
}
template <std::size_t I, class F, class... Rest>
consteval auto check_keys() {
  if constexpr (std::is_member_pointer_v<F>) {
    return check_keys<I + 1, Rest...>();
  } else {
    using owned = base::detail::ownership_check<
        cannot_be_a_key, typename base::detail::search_argument<F>::type, in_key_function, I>;
    if constexpr (passes<owned>)
      return check_keys<I + 1, Rest...>();
    else
      return verdict<owned>;
  }
}

template <class... F>
using key_check = std::remove_pointer_t<decltype(check_keys<0, F...>())>;

/// Returns the function of the key: `f` itself, or the function that was lent.
template <class F>
constexpr const auto& key_function(const F& f) noexcept {
  if constexpr (requires { typename F::garrick_lent; })
    return f.get();
  else
    return f;
}
template <class F, class... Args>
inline constexpr bool takes =
    std::is_invocable_v<decltype(key_function(std::declval<const F&>())), const Args&...>;

}  // namespace detail

/// A router's policy: messages with equal keys go to the same member, as long as that member lives.
/// The first of the `F` that takes a message computes its key.
template <class... F>
class by_key {
  static_assert(sizeof...(F) != 0, "garrick: by_key needs a function or a pointer to a member");
  static_assert(detail::key_check<F...>::reported);

 public:
  /// Makes a policy of key functions: each of `key_of` takes a message's arguments and returns
  /// their key, or is a pointer to the member of the message that is the key. std::hash must take
  /// the key. Every sender calls the functions, on any thread, several at once: a function that is
  /// lent (`lent(f)`) must allow that, and outlive the router.
  explicit by_key(F... key_of) : key_of_(std::move(key_of)...) {}

  /// Returns the index of the member that gets a message with these arguments. Any thread.
  template <class Members, class... Args>
  std::size_t choose(const Members& members, const Args&... args) const {
    if constexpr (detail::message_value<Args...>) {
      return choose_by_content(members, args...);
    } else if constexpr ((detail::takes<F, Args...> || ...)) {
      const auto& key = key_from<0>(args...);
      // std::hash of a number is the number itself. It is mixed, so that keys in steps still
      // spread.
      std::uint64_t h = std::hash<std::remove_cvref_t<decltype(key)>>()(key);
      h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ull;
      return static_cast<std::size_t>((h ^ (h >> 29)) % members.size());
    } else {
      static_assert(sizeof...(Args) > 1,
                    "garrick: the key function does not take this message's arguments");
      return without_last(members, std::make_index_sequence<sizeof...(Args) - 1>(), args...);
    }
  }

 private:
  /// Returns the member for a message value: its key is that of its content.
  template <class Members, class Message>
  std::size_t choose_by_content(const Members& members, const Message& m) const {
    using content = typename Message::garrick_message;
    static_assert(!std::is_same_v<content, message>,
                  "garrick: a key needs a message whose type is known, as make_message returns it");
    const auto chosen = [&](const auto&... parts) { return choose(members, parts...); };
    return detail::content_access<content>::apply_const(
        chosen, *static_cast<const content*>(message_access::block(m)->value()));
  }
  /// Returns the member for all arguments but the last, which may be a request's time-out.
  template <class Members, std::size_t... I, class... Args>
  std::size_t without_last(const Members& members, std::index_sequence<I...>,
                           const Args&... args) const {
    const auto all = std::tie(args...);
    return choose(members, std::get<I>(all)...);
  }
  /// Returns the key from the first function, from `I` on, that takes the arguments.
  template <std::size_t I, class... Args>
  decltype(auto) key_from(const Args&... args) const {
    const auto& key_of = detail::key_function(std::get<I>(key_of_));
    using function = std::remove_cvref_t<decltype(key_of)>;
    if constexpr (!std::is_invocable_v<const function&, const Args&...>)
      return key_from<I + 1>(args...);
    else if constexpr (std::is_member_object_pointer_v<function>)
      return ((args.*key_of), ...);
    else if constexpr (std::is_member_function_pointer_v<function>)
      return ((args.*key_of)(), ...);
    else
      return key_of(args...);
  }
  std::tuple<F...> key_of_;
};

/// A router's policy: a message goes to all members, as one shared block.
class broadcast {};

/// A handle to several actors of one protocol. Used like a `ref`, with `send`, `send_urgent`,
/// `try_send`, `request` and `delegate`; each call picks the member. It keeps its members alive,
/// may be sent in messages, and may outlive its system. Thread safety: any thread; copies share
/// their members and their policy's state, and are one pointer.
///
///     router<store> stores({a, b, c});
///     send(stores, put{key, value});
template <class P, class Policy = round_robin>
class router {
  static_assert(sizeof(Policy) != 0);  // the checks of Policy itself come first

 public:
  using garrick_sendable = void;
  using garrick_router = void;
  using protocol_type = P;  ///< the messages that it accepts

  /// Makes a router to these members, with a policy made of `args`. Throws std::invalid_argument if
  /// there are no members or one is an empty handle; std::bad_alloc.
  template <class... PolicyArgs>
  explicit router(std::vector<ref<P>> members, PolicyArgs&&... args)
      : state_(std::make_shared<state>(std::move(members), std::forward<PolicyArgs>(args)...)) {
    bool good = !state_->members.empty();
    for (const ref<P>& m : state_->members) good = good && m;
    if (!good)
      throw std::invalid_argument(
          "garrick: a router needs at least one member, and no empty handles");
  }

  /// Returns all members, also those that have ended. Valid as long as this object or a copy of it.
  [[nodiscard]] const std::vector<ref<P>>& members() const noexcept { return state_->members; }

  /// Returns the member for a message with these arguments. For the policy, the call counts as a
  /// send. If that member has ended, returns the next living one; if none lives, one that has
  /// ended. Not for a broadcast.
  template <class... Args>
  [[nodiscard]] const ref<P>& pick(const Args&... args) const {
    const auto& all = state_->members;
    const std::size_t first = state_->policy.choose(all, args...);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t at = first + i < all.size() ? first + i : first + i - all.size();
      if (!handle_access::get(all[at])->has_ended()) return all[at];
    }
    return all[first];
  }

  /// For the framework: implements `send` and `actor_base::send`.
  template <class... Args>
  void send_from_here(Args&&... args) const {
    if constexpr (is_broadcast) {
      const auto m = make_message(std::forward<Args>(args)...);
      for (const ref<P>& member : members()) core::send(member, m);
    } else {
      core::send(pick(args...), std::forward<Args>(args)...);
    }
  }
  /// For the framework: implements `send_urgent`.
  template <class... Args>
  void send_urgent_from_here(Args&&... args) const {
    if constexpr (is_broadcast) {
      const auto m = make_message(std::forward<Args>(args)...);
      for (const ref<P>& member : members()) core::send_urgent(member, m);
    } else {
      core::send_urgent(pick(args...), std::forward<Args>(args)...);
    }
  }
  /// For the framework: implements `try_send`.
  template <class... Args>
  [[nodiscard]] base::error try_send_from_here(Args&&... args) const {
    static_assert(!is_broadcast,
                  "garrick: a broadcast cannot be tried: some members may have room and others "
                  "not; try_send to each of members()");
    return core::try_send(pick(args...), std::forward<Args>(args)...);
  }

  /// For the framework: implements `actor_base::request`.
  template <class... Args>
  [[nodiscard]] auto request_from(actor_base& self, Args&&... args) const {
    if constexpr (!is_broadcast)
      return self.request(pick(args...), std::forward<Args>(args)...);
    else if constexpr (detail::ends_with_limit<P, Args...>)
      return ask_all_within(self, std::forward_as_tuple(std::forward<Args>(args)...),
                            std::make_index_sequence<sizeof...(Args) - 1>());
    else
      return fan_out(self, members(), std::forward<Args>(args)...);
  }
  /// For the framework: implements `actor_base::delegate`.
  template <class... Args>
  auto delegate_from(actor_base& self, Args&&... args) const {
    static_assert(!is_broadcast,
                  "garrick: nothing can be delegated to a broadcast: it has many answers; request "
                  "it, and answer with one value made of them");
    if constexpr (is_broadcast)
      return base::error();  // it fits every handler's return type
    else
      return self.delegate(pick(args...), std::forward<Args>(args)...);
  }

  friend bool operator==(const router& a, const router& b) noexcept { return a.state_ == b.state_; }

 private:
  static constexpr bool is_broadcast = std::is_same_v<Policy, broadcast>;

  template <class Tuple, std::size_t... I>
  auto ask_all_within(actor_base& self, Tuple&& t, std::index_sequence<I...>) const {
    return fan_out(self, members(), std::get<I>(std::forward<Tuple>(t))...)
        .within(std::get<sizeof...(I)>(t));
  }

  struct state {
    template <class... PolicyArgs>
    explicit state(std::vector<ref<P>> m, PolicyArgs&&... args)
        : members(std::move(m)), policy(std::forward<PolicyArgs>(args)...) {}
    const std::vector<ref<P>> members;
    Policy policy;
  };
  std::shared_ptr<state> state_;
};

/// Like `send` to the member that the router picks, or to all members of a broadcast.
template <router_handle R, class... Args>
void send(const R& to, Args&&... args) {
  static_assert(sizeof(detail::checked_message<typename R::protocol_type, Args...>) != 0);
  to.send_from_here(std::forward<Args>(args)...);
}
/// Like `send_urgent` to the member that the router picks, or to all members of a broadcast.
template <router_handle R, class... Args>
void send_urgent(const R& to, Args&&... args) {
  static_assert(sizeof(detail::checked_message<typename R::protocol_type, Args...>) != 0);
  to.send_urgent_from_here(std::forward<Args>(args)...);
}
/// Returns the result of `try_send` to the member that the router picks; tries no other member. Not
/// for a broadcast.
template <router_handle R, class... Args>
[[nodiscard]] base::error try_send(const R& to, Args&&... args) {
  static_assert(sizeof(detail::checked_message<typename R::protocol_type, Args...>) != 0);
  return to.try_send_from_here(std::forward<Args>(args)...);
}

/// Returns a router by key. Deduces the types of the key functions, or of the pointers to the
/// members that are the keys. See `by_key` and `router`.
///
///     auto shards = route_by_key(stores, &put::key, &get::key);
template <class P, class... F>
[[nodiscard]] router<P, by_key<F...>> route_by_key(std::vector<ref<P>> members, F... key_of) {
  static_assert(detail::key_check<F...>::reported);
  return router<P, by_key<F...>>(std::move(members), std::move(key_of)...);
}

/// Spawns `count` actors of class A with the options and copies of the arguments. Returns a router
/// to them. `from` is a system or, on its turn, an actor. A name in the options is followed by
/// the member's number, from 1. A member that could not be spawned counts as one that has ended.
/// Throws std::invalid_argument for a count of 0, std::bad_alloc.
///
///     auto pool = spawn_pool<worker>(system, spawn_options{.name = "worker"}, 8, path);
template <class A, class Policy = round_robin, class Spawner, class... Args>
[[nodiscard]] router<detail::protocol_of<A>, Policy> spawn_pool(Spawner& from,
                                                                const spawn_options& o,
                                                                std::size_t count,
                                                                const Args&... args) {
  static_assert(
      std::is_default_constructible_v<Policy>,
      "garrick: this policy needs arguments: spawn the members, then make a router of them");
  static_assert(detail::spawn_check<A, const Args&...>::reported);
  if constexpr (std::is_default_constructible_v<Policy>) {
    std::vector<ref<detail::protocol_of<A>>> members;
    for (std::size_t i = 0; i < count; ++i) {
      spawn_options mine = o;
      if (!o.name.empty()) (mine.name += ' ') += std::to_string(i + 1);
      members.push_back(from.template spawn<A>(mine, args...));
    }
    return router<detail::protocol_of<A>, Policy>(std::move(members));
  } else {
    throw std::logic_error("");  // does not compile
  }
}
/// Returns the same without options: `spawn_pool<worker, least_loaded>(system, 8, path)`.
template <class A, class Policy = round_robin, class Spawner, class... Args>
[[nodiscard]] router<detail::protocol_of<A>, Policy> spawn_pool(Spawner& from, std::size_t count,
                                                                const Args&... args) {
  return spawn_pool<A, Policy>(from, spawn_options(), count, args...);
}

}  // namespace garrick::core
