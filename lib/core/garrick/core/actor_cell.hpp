// A cell with room for one user's object, and the dispatch that the compiler generates for its protocol.
//
// The message's identity is an address, so a short protocol is a chain of comparisons and a long one a perfect hash that is built when the first
// actor of the type is dispatched to; either way sublinear in time and without a virtual call per argument (paper 001 §5.3).
//
// Thread safety: as cell.
#pragma once

#include <garrick/core/actor.hpp>
#include <garrick/core/behavior.hpp>
#include <garrick/core/cell.hpp>
#include <garrick/core/invoke.hpp>
#include <garrick/core/signals.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace garrick::core {

/// Builds the user's object anew when a supervisor restarts its actor.
class object_factory {
 public:
  virtual ~object_factory() = default;
  virtual void build(void* storage) = 0;
};

namespace detail {

/// `a.on(xs...)` as a function object, so that overload resolution decides.
template <class A>
struct on_caller {
  A& a;
  // B makes the look-up of `on` wait for the call: an actor without any `on` is then an answer (no), not an error here.
  template <class... Ts, class B = A>
  auto operator()(Ts&&... xs) const -> decltype(std::declval<B&>().on(std::forward<Ts>(xs)...)) {
    return static_cast<B&>(a).on(std::forward<Ts>(xs)...);
  }
};

template <class R, class Answer>
inline constexpr bool answers = false;
template <class R, class... Ts>
inline constexpr bool answers<R, response<Ts...>> = [] {
  using plain = std::remove_cvref_t<R>;
  using own = typename response_of<plain>::type;
  if constexpr (std::is_same_v<own, response<Ts...>> || std::is_same_v<plain, base::error>)
    return true;
  else if constexpr (std::is_void_v<R> || is_task<plain> || is_promise<plain> || is_core_result<plain> || is_base_result<plain>)
    return requires { requires is_base_result<plain> && std::is_same_v<plain, base::result<Ts...>>; } ||
           (is_promise<plain> && sizeof...(Ts) == 0) || (sizeof...(Ts) == 0 && std::is_same_v<plain, base::result<void>>);
  else if constexpr (sizeof...(Ts) == 1 && (std::is_arithmetic_v<Ts> && ...))
    return (requires(R&& r) { Ts{std::forward<R>(r)}; } && ...);  // a number that may lose its value is no answer
  else
    return sizeof...(Ts) == 1 && (std::is_convertible_v<R, Ts> && ...);
}();

/// Stands for a number and converts to exactly its type: a handler that takes it takes no other number.
template <class T>
struct exact_value {
  template <class U>
    requires std::is_same_v<U, T>
  operator U() const noexcept;
};
template <class T>
struct exact_reference {
  template <class U>
    requires std::is_same_v<U, T>
  operator U&() const noexcept;
};
template <template <class> class Probe, class T>
using exact_argument = std::conditional_t<std::is_arithmetic_v<T>, Probe<T>, T>;

/// False where a handler is only found because C++ converts numbers silently: on(double) for an int.
template <class F, class Content>
inline constexpr bool handles_exactly =
    handles<F, exact_argument<exact_value, Content>> || handles<F, exact_argument<exact_reference, Content>>;
template <class F, class... Ts>
inline constexpr bool handles_exactly<F, pack<Ts...>> =
    handles<F, pack<exact_argument<exact_value, Ts>...>> || handles<F, pack<exact_argument<exact_reference, Ts>...>>;

template <class F, class Content>
using handler_result = decltype(call_owned<Content>(std::declval<F&>(), std::declval<Content&>()));

/// Instantiated once per actor type and signature: its name and arguments are the error text.
template <class Actor, class Signature>
struct handler_of {
  using content = typename signature<Signature>::content;
  using answer = typename signature<Signature>::answer;
  static constexpr bool exists = [] {
    if constexpr (requires { typename Actor::garrick_generic_handlers; })
      return handles<on_caller<Actor>, content>;
    else
      return handles<on_caller<Actor>, content> && handles_exactly<on_caller<Actor>, content>;
  }();
  static_assert(exists, "garrick: the actor has no fitting (or an ambiguous) handler on(...) for this signature of its protocol");
  static constexpr bool right_result = [] {
    if constexpr (exists)
      return answers<handler_result<on_caller<Actor>, content>, answer>;
    else
      return true;
  }();
  static_assert(right_result, "garrick: the handler on(...) for this signature of the protocol returns something else");
  static constexpr bool value = exists && right_result;
};

template <class Actor, class Signature>
void handle_signature(cell& self, Actor& a, envelope* e) {
  if constexpr (handler_of<Actor, Signature>::value)
    handle_content<typename signature<Signature>::content, typename signature<Signature>::answer>(self, e, on_caller<Actor>{a});
}

/// A perfect hash over descriptor addresses, found by trying multipliers.
template <class Entry, std::size_t N>
class address_hash {
 public:
  static constexpr std::size_t slots = std::bit_ceil(2 * N);
  explicit address_hash(const std::array<std::pair<const void*, Entry>, N>& entries) noexcept {
    for (std::uint64_t m = 0x9e3779b97f4a7c15ull;; m = m * 6364136223846793005ull + 1442695040888963407ull) {
      multiplier_ = m | 1;
      if (fill(entries)) return;
    }
  }
  [[nodiscard]] Entry find(const void* key) const noexcept {
    const auto& s = table_[index(key)];
    return s.first == key ? s.second : Entry{};
  }

 private:
  [[nodiscard]] std::size_t index(const void* key) const noexcept {
    return static_cast<std::size_t>((reinterpret_cast<std::uint64_t>(key) * multiplier_) >> (64 - std::countr_zero(slots)));
  }
  bool fill(const std::array<std::pair<const void*, Entry>, N>& entries) noexcept {
    table_ = {};
    for (const auto& e : entries) {
      auto& s = table_[index(e.first)];
      if (s.first != nullptr) return false;
      s = e;
    }
    return true;
  }
  std::uint64_t multiplier_ = 1;
  std::array<std::pair<const void*, Entry>, slots> table_{};
};

/// Offers a message to the behavior on top of the stack. Defined in actor.cpp.
[[nodiscard]] dispatch_outcome dispatch_to_behavior(cell& self, envelope* e);
[[nodiscard]] bool offer_to_behavior(cell& self, envelope* e);

/// An actor whose handlers may be behaviors alone: typed_actor and what derives from it.
template <class Actor>
concept uses_behaviors = requires { typename Actor::garrick_uses_behaviors; };

template <class Actor, class P>
struct dispatcher;

template <class Actor>
struct dispatcher<Actor, any_protocol> {
  static dispatch_outcome dispatch(cell&, Actor&, envelope*) { return dispatch_outcome::unexpected; }
};

template <class Actor, class... Sigs>
struct dispatcher<Actor, protocol<Sigs...>> {
  static constexpr std::size_t longest_chain = 6;

  static dispatch_outcome dispatch(cell& self, Actor& a, envelope* e) {
    if constexpr (uses_behaviors<Actor> && !(handles<on_caller<Actor>, typename signature<Sigs>::content> || ...)) {
      return dispatch_to_behavior(self, e);  // its first behavior is not set yet, or it has ended its last
    } else if constexpr (sizeof...(Sigs) <= longest_chain) {
      const bool taken = ((e->type == &base::message_type_of<typename signature<Sigs>::content> &&
                           (handle_signature<Actor, Sigs>(self, a, e), true)) ||
                          ...);
      return taken ? dispatch_outcome::handled : dispatch_outcome::unexpected;
    } else {
      using entry = void (*)(cell&, Actor&, envelope*);
      static const address_hash<entry, sizeof...(Sigs)> table(
          std::array<std::pair<const void*, entry>, sizeof...(Sigs)>{std::pair<const void*, entry>{
              &base::message_type_of<typename signature<Sigs>::content>, &handle_signature<Actor, Sigs>}...});
      const entry f = table.find(e->type);
      if (f == nullptr) return dispatch_outcome::unexpected;
      f(self, a, e);
      return dispatch_outcome::handled;
    }
  }
};

template <class A, class Content>
bool offer(cell& self, A& a, envelope* e) {
  if constexpr (requires { a.on(std::declval<const Content&>()); }) {
    if (e->type != &base::message_type_of<Content>) return false;
    a.on(*static_cast<const Content*>(e->raw()));
    return true;
  } else {
    static_cast<void>(self), static_cast<void>(a), static_cast<void>(e);
    return false;
  }
}

/// Builds the object for a restart. Defined in spawn.cpp.
void rebuild_with_factory(cell& self, void* storage);

template <class A>
concept has_start = requires(A& a) { a.on_start(); };
/// A blocking actor with a body.
template <class A>
concept has_body = requires(A& a) {
  typename A::garrick_blocking;
  a.run();
};
template <class A>
concept has_exit = requires(A& a, const base::exit_reason& r) { a.on_exit(r); };

}  // namespace detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // as in cell.hpp
#endif

template <class A>
class actor_cell final : public cell {
 public:
  using protocol_type = typename A::protocol_type;

  actor_cell(environment& env, cell_kind kind, bool born_idle) noexcept : cell(env, kind, born_idle) {}

  /// Builds the object; the caller has set the constructing cell.
  template <class... Args>
  void build(Args&&... args) {
    ::new (static_cast<void*>(storage_)) A(std::forward<Args>(args)...);
    alive_ = true;
  }
  [[nodiscard]] A& object() noexcept { return *std::launder(reinterpret_cast<A*>(storage_)); }

  std::string_view type_name() const noexcept override { return base::type_name<A>; }

 protected:
  dispatch_outcome dispatch(envelope* e) override {
    if constexpr (std::is_same_v<protocol_type, any_protocol>) {
      return detail::dispatch_to_behavior(*this, e);
    } else {
      if (has_behavior()) [[unlikely]]
        return detail::dispatch_to_behavior(*this, e);
      return detail::dispatcher<A, protocol_type>::dispatch(*this, object(), e);
    }
  }

  bool dispatch_system(envelope* e) override {
    if (!alive_) return false;
    A& a = object();
    return detail::offer<A, down>(*this, a, e) || detail::offer<A, exit_signal>(*this, a, e) ||
           detail::offer<A, signals::child_failed>(*this, a, e) || detail::offer_to_behavior(*this, e);
  }

  void start() override {
    if constexpr (detail::has_body<A>) {
      if (alive_) A::live(object());
    } else if constexpr (detail::has_start<A>) {
      if (alive_) object().on_start();
    }
  }
  void object_exits(const base::exit_reason& reason) override {
    static_cast<void>(reason);
    if constexpr (detail::has_exit<A>)
      if (alive_) object().on_exit(reason);
  }
  void destroy_object() noexcept override {
    if (!alive_) return;
    alive_ = false;
    object().~A();
  }
  void rebuild_object() override {
    detail::rebuild_with_factory(*this, storage_);
    alive_ = true;
  }
  void free_self() noexcept override {
    this->~actor_cell();
    base::block_pool::deallocate(this, sizeof(actor_cell));
  }

 private:
  ~actor_cell() = default;
  bool alive_ = false;
  alignas(A) std::byte storage_[sizeof(A)];
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace garrick::core
