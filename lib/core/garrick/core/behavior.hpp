// Behaviors of dynamic actors: lists of cases, which are tried in order. The first case that
// matches takes the message (paper 001 §4.2, §4.3).
//
//   become({
//     [](int x) { return x + 1; },                                   // by type
//     on(42, any<std::string>) >> [](std::string s) { … },           // by value; wildcards bind
//     on(any<int>).when([](int x) { return x > 0; }) >> [](int x) { … },   // with a guard
//     on([](const std::string& s) { return parse_port(s); })         // by a projection: a function
//         >> [](port p) { … },                                       //   that returns optional<U>
//     otherwise >> [](const message& m) { … },                       // catch-all
//     after(100ms) >> [] { … },                                      // 100 ms without a message
//   });
//
// A message that no case takes is reported, skipped, dropped or bounced, as the actor chose with
// `set_unmatched`.
//
// A behavior is one block of memory: two words, and the captures of its functions.
//
// Thread safety: a behavior runs on its actor's turn, and may be built anywhere. Its functions
// should own their captures.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/detail/by_value.hpp>
#include <garrick/core/detail/invoke.hpp>
#include <garrick/core/detail/isolation.hpp>
#include <garrick/core/message.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::core {

/// For the framework: the operations of a behavior.
class behavior_impl {
 public:
  behavior_impl() noexcept = default;
  behavior_impl(const behavior_impl&) = delete;
  behavior_impl& operator=(const behavior_impl&) = delete;
  virtual ~behavior_impl() = default;
  /// Returns true if a case took the message.
  virtual bool invoke(cell& self, envelope* e) = 0;
  /// Returns true if a case takes messages of the type `message`, perhaps not with every value, and
  /// answers with the type `answer`.
  [[nodiscard]] virtual bool understands(const base::message_type* message,
                                         const base::message_type* answer) const noexcept = 0;
  static constexpr std::int64_t at_once = 1;  ///< the shortest time-out
  /// Returns the nanoseconds after which `timed_out` is due if no message arrives; 0: never.
  [[nodiscard]] virtual std::int64_t timeout_ns() const noexcept { return 0; }
  virtual void timed_out() {}

  void add_holder() noexcept {
    // order: the caller is a holder, so the count cannot be zero
    holders_.fetch_add(1, std::memory_order_relaxed);
  }
  void drop_holder() noexcept {
    // order: acquire pairs with the other holders' drops: the last holder destroys after their last
    // use. A sole holder cannot gain another, so no locked operation is needed
    if (holders_.load(std::memory_order_acquire) == 1 ||
        // order: acq_rel: the last holder destroys after all others' last use
        holders_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

 private:
  std::atomic<std::uint32_t> holders_{1};
};

namespace detail {

template <class F>
struct callable {};  // not a function, or one with unknown arguments (a generic lambda)
template <class F>
  requires requires { &F::operator(); }
struct callable<F> : callable<decltype(&F::operator())> {};
template <class R, class C, class... Args>
struct callable<R (C::*)(Args...)> {
  using result = R;
  using content = content_of<std::decay_t<Args>...>;
  static constexpr bool takes_values = !(std::is_reference_v<Args> || ...);
};
template <class R, class C, class... Args>
struct callable<R (C::*)(Args...) const> : callable<R (C::*)(Args...)> {};
template <class R, class C, class... Args>
struct callable<R (C::*)(Args...) noexcept> : callable<R (C::*)(Args...)> {};
template <class R, class C, class... Args>
struct callable<R (C::*)(Args...) const noexcept> : callable<R (C::*)(Args...)> {};
template <class R, class... Args>
struct callable<R (*)(Args...)> {
  using result = R;
  using content = content_of<std::decay_t<Args>...>;
  static constexpr bool takes_values = !(std::is_reference_v<Args> || ...);
};

/// The answer of a case whose function returns an R.
template <class R>
using answer_of_function = typename response_of<std::remove_cvref_t<R>>::type;

template <class F>
concept plain_function = requires { typename callable<std::decay_t<F>>::content; };

/// True if a case's function is a coroutine that takes some of the values Ts by reference.
template <class F, class R, class... Ts>
inline constexpr bool case_borrows = [] {
  if constexpr (!is_task<std::remove_cvref_t<R>>)
    return false;
  else if constexpr (plain_function<F>)
    return !callable<F>::takes_values;
  else
    return !called_with_values<F, R, Ts...>;
}();

/// A case that matches by type alone.
template <class F>
struct function_case {
  [[no_unique_address]] F f;  // without captures it takes no room
  using content = typename callable<F>::content;
  using answer = typename response_of<typename callable<F>::result>::type;
  static constexpr bool borrows = case_borrows<F, typename callable<F>::result>;
  bool try_invoke(cell& self, envelope* e) {
    if (e->type != &base::message_type_of<content>) return false;
    handle_content<content, answer>(self, e, f);
    return true;
  }
  static bool takes(const base::message_type* message) noexcept {
    return message == &base::message_type_of<content>;
  }
};

/// A wildcard that binds.
template <class T>
struct wildcard {
  using input = T;
  using output = std::tuple<const T&>;
  static constexpr bool literal = false;
  std::optional<output> match(const T& x) const { return output(x); }
};

/// A value to compare with; matched, not bound.
template <class T>
struct value_pattern {
  using input = T;
  using output = std::tuple<>;
  static constexpr bool literal = true;
  T expected;
  std::optional<output> match(const T& x) const {
    return x == expected ? std::optional<output>(std::in_place) : std::nullopt;
  }
};

template <class T>
struct optional_value;
template <class T>
struct optional_value<std::optional<T>> {
  using type = T;
};

/// A function from the element to an optional, whose value is bound.
template <class F, class In, class Out>
struct projection {
  using input = In;
  using output = std::tuple<Out>;
  F f;
  std::optional<output> match(const In& x) const {
    auto r = f(x);
    return r ? std::optional<output>(std::in_place, std::move(*r)) : std::nullopt;
  }
};

template <class F>
struct projection_of {};
template <class F>
  requires requires { &F::operator(); }
struct projection_of<F> : projection_of<decltype(&F::operator())> {};
template <class R, class C, class A>
struct projection_of<R (C::*)(A) const> {
  using in = std::decay_t<A>;
  using out = typename optional_value<R>::type;
};
template <class R, class A>
struct projection_of<R (*)(A)> {
  using in = std::decay_t<A>;
  using out = typename optional_value<R>::type;
};
template <class F>
concept projecting = requires { typename projection_of<std::decay_t<F>>::out; };

template <class T>
struct is_wildcard : std::false_type {};
template <class T>
struct is_wildcard<wildcard<T>> : std::true_type {};

template <class A>
auto to_pattern(A&& a) {
  using plain = std::decay_t<A>;
  if constexpr (is_wildcard<plain>::value)
    return plain{};
  else if constexpr (projecting<plain>)
    return projection<plain, typename projection_of<plain>::in, typename projection_of<plain>::out>{
        std::forward<A>(a)};
  else if constexpr (std::is_convertible_v<plain, const char*> &&
                     !std::is_same_v<plain, std::nullptr_t>)
    return value_pattern<std::string>{std::string(a)};
  else
    return value_pattern<plain>{std::forward<A>(a)};
}

struct no_guard {
  template <class... Ts>
  bool operator()(const Ts&...) const {
    return true;
  }
};

template <class Guard, class F, class... Patterns>
struct pattern_case {
  std::tuple<Patterns...> patterns;
  Guard guard;
  F f;
  using content = content_of<typename Patterns::input...>;
  using bound_values = decltype(std::tuple_cat(std::declval<typename Patterns::output>()...));
  using result = decltype(std::apply(std::declval<F&>(), std::declval<bound_values>()));
  using answer = answer_of_function<result>;
  template <class... Ts>
  static consteval bool borrows_of(std::type_identity<std::tuple<Ts...>>) {
    return case_borrows<F, result, std::decay_t<Ts>...>;
  }
  static constexpr bool borrows = borrows_of(std::type_identity<bound_values>());

  bool try_invoke(cell& self, envelope* e) {
    if (e->type != &base::message_type_of<content>) return false;
    const auto& c = *static_cast<const content*>(content_pointer(e));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto matched = std::make_tuple(std::get<I>(patterns).match(element<I>(c))...);
      if (!(std::get<I>(matched).has_value() && ...)) return false;
      bound_values bound = std::tuple_cat(std::move(*std::get<I>(matched))...);
      if (!std::apply([&](const auto&... xs) { return static_cast<bool>(guard(xs...)); }, bound))
        return false;
      answer_with<answer>(self, e,
                          [&]() -> decltype(auto) { return std::apply(f, std::move(bound)); });
      return true;
    }(std::index_sequence_for<Patterns...>{});
  }
  static bool takes(const base::message_type* message) noexcept {
    return message == &base::message_type_of<content>;
  }

 private:
  template <std::size_t I>
  static decltype(auto) element(const content& c) {
    if constexpr (sizeof...(Patterns) == 1)
      return (c);
    else
      return (std::get<I>(c.values));
  }
};

template <class Guard, class... Patterns>
struct pattern_builder {
  std::tuple<Patterns...> patterns;
  Guard guard;

  template <class G>
  auto when(G g) && {
    return pattern_builder<G, Patterns...>{std::move(patterns), std::move(g)};
  }
  template <class F>
  auto operator>>(F f) && {
    return pattern_case<Guard, F, Patterns...>{std::move(patterns), std::move(guard), std::move(f)};
  }
};

template <class F>
struct otherwise_case {
  F f;
  using result = decltype(std::declval<F&>()(std::declval<const message&>()));
  using answer = answer_of_function<result>;
  static constexpr bool borrows = case_borrows<F, result, message>;
  bool try_invoke(cell& self, envelope* e) {
    answer_with<answer>(self, e,
                        [&]() -> decltype(auto) { return f(message_access::from_envelope(e)); });
    return true;
  }
  static bool takes(const base::message_type*) noexcept { return true; }
};

struct otherwise_builder {
  template <class F>
  auto operator>>(F f) const {
    return otherwise_case<F>{std::move(f)};
  }
};

template <class F>
struct timeout_case {
  using answer = void;  // there is no request
  std::int64_t ns;
  F f;
};
template <class F, bool Plain = false>
struct function_of_after_is_a_coroutine : base::detail::failed_check {
  static_assert(Plain,
                "garrick: the function of after(d) is no coroutine: it would never run. Let it "
                "send a message to self(), whose case returns a task");
};
struct timeout_builder {
  std::int64_t ns;
  template <class F>
  auto operator>>(F f) const {
    constexpr bool plain = !requires(F& called) {
      { called() } -> coroutine;
    };
    static_assert(base::detail::unless<plain, function_of_after_is_a_coroutine<F>>::reported);
    return timeout_case<F>{ns, std::move(f)};
  }
};
template <class T>
struct is_timeout : std::false_type {};
template <class F>
struct is_timeout<timeout_case<F>> : std::true_type {};

template <class C>
auto to_case(C&& c) {
  if constexpr (plain_function<C>)
    return function_case<std::decay_t<C>>{std::forward<C>(c)};
  else
    return std::decay_t<C>(std::forward<C>(c));
}

/// True for an element of a behavior's list: a case, or a function that to_case makes a case.
template <class C>
inline constexpr bool is_case =
    plain_function<C> || is_timeout<C>::value || requires { typename C::garrick_case; };
template <class Guard, class F, class... Patterns>
inline constexpr bool is_case<pattern_case<Guard, F, Patterns...>> = true;
template <class F>
inline constexpr bool is_case<otherwise_case<F>> = true;

/// Instantiated only to fail.
template <class C>
struct not_a_case : base::detail::failed_check {
  static_assert(is_case<C>,
                "garrick: a case is a function whose parameters have types (not auto), or "
                "on(...) >> f, otherwise >> f or after(d) >> f");
};

/// Instantiated only to fail.
template <class C>
struct coroutine_case_takes_references : base::detail::failed_check {
  static_assert(!is_case<C>,
                "garrick: the case's function returns a task, and the message is gone at its first "
                "wait: take each part of it by value, [](M m) instead of [](const M& m)");
};

template <class C>
inline constexpr bool is_borrowing_case = false;
template <class C>
  requires requires { C::borrows; }
inline constexpr bool is_borrowing_case<C> = C::borrows;

/// Checks that C is a case, and no coroutine that takes its message by reference.
template <class C>
consteval auto check_as_case() {
  if constexpr (!is_case<C>)
    return std::type_identity<not_a_case<C>>{};
  else if constexpr (is_borrowing_case<decltype(to_case(std::declval<C>()))>)
    return std::type_identity<coroutine_case_takes_references<C>>{};
  else
    return std::type_identity<base::detail::passed_check>{};
}
template <class C>
using checked_as_case = typename decltype(check_as_case<C>())::type;

/// True if the message that a case's function takes owns all that it refers to, as far as is known.
template <class C>
inline constexpr bool owned_case_content = true;
template <plain_function C>
inline constexpr bool owned_case_content<C> = owned_content<typename callable<C>::content>;

template <class C>
consteval auto check_of_case() {
  if constexpr (!std::is_same_v<checked_as_case<C>, base::detail::passed_check>)
    return std::type_identity<checked_as_case<C>>{};
  else if constexpr (!owned_case_content<C>)
    return std::type_identity<checked_content<typename callable<C>::content>>{};
  else
    return std::type_identity<
        checked_answer<typename decltype(to_case(std::declval<C>()))::answer>>{};
}

/// The checks of one case of a behavior: that it is a case, that its function does not refer to a
/// message that is gone, and that its message and its answer are owned.
template <class C>
using checked_case = typename decltype(check_of_case<C>())::type;

template <class... Cases>
class behavior_of final : public behavior_impl {
 public:
  explicit behavior_of(Cases... cases) : cases_(std::move(cases)...) {}
  bool invoke(cell& self, envelope* e) override {
    return std::apply([&](auto&... c) { return (try_one(c, self, e) || ...); }, cases_);
  }
  bool understands(const base::message_type* message,
                   const base::message_type* answer) const noexcept override {
    return (case_understands<Cases>(message, answer) || ...);
  }
  std::int64_t timeout_ns() const noexcept override {
    std::int64_t ns = 0;
    std::apply([&](const auto&... c) { (note_timeout(c, ns), ...); }, cases_);
    return ns;
  }
  void timed_out() override {
    std::apply([](auto&... c) { (run_timeout(c), ...); }, cases_);
  }

 private:
  template <class C>
  static bool try_one(C& c, cell& self, envelope* e) {
    if constexpr (is_timeout<C>::value)
      return false;
    else
      return c.try_invoke(self, e);
  }
  template <class C>
  static bool case_understands(const base::message_type* message,
                               const base::message_type* answer) noexcept {
    if constexpr (requires { C::takes(message); })
      return C::takes(message) && answer == &base::message_type_of<typename C::answer::content>;
    else
      return false;  // a time-out; or a pipe, which would have to ask others
  }
  template <class C>
  static void note_timeout(const C& c, std::int64_t& ns) noexcept {
    if constexpr (is_timeout<C>::value) ns = c.ns > 0 ? c.ns : at_once;
  }
  template <class C>
  static void run_timeout(C& c) {
    if constexpr (is_timeout<C>::value) static_cast<void>(c.f());
  }
  std::tuple<Cases...> cases_;
};

template <class... Cases>
using behavior_for = behavior_of<decltype(to_case(std::declval<Cases>()))...>;

/// Returns a new behavior of these cases; null if any argument is not a case.
template <class... Cases>
[[nodiscard]] behavior_impl* make_behavior(Cases&&... cases) {
  if constexpr ((is_case<Cases> && ...))
    return new behavior_for<Cases...>(to_case(std::move(cases))...);
  else
    return nullptr;
}

}  // namespace detail

/// The rules by which an actor handles messages at present: a list of cases, which are tried in
/// order. The first case that matches takes the message. Cases are functions (by type), patterns
/// `on(…) >> f`, one `otherwise >> f`, one `after(d) >> f`. A function's result is the answer.
///
/// A behavior may be built on any thread, and runs on its actor's turn. A copy shares the functions
/// and their captures. A behavior made without cases is empty.
///
///     become({[](int x) { return x + 1; },
///             on(42, any<std::string>) >> [](std::string s) {…}});
class behavior {
 public:
  behavior() noexcept = default;
  /// Makes a behavior of these cases. Costs one allocation. Throws std::bad_alloc, and any
  /// exception of copying the functions.
  template <class First, class... Rest>
    requires(!std::is_base_of_v<behavior, First> && !std::is_same_v<First, behavior_impl*>)
  behavior(First first_case, Rest... other_cases)
      : impl_(detail::make_behavior(std::move(first_case), std::move(other_cases)...)) {
    static_assert(detail::checked_case<First>::reported &&
                  (detail::checked_case<Rest>::reported && ...));
  }
  behavior(const behavior& o) noexcept : impl_(o.impl_) {
    if (impl_ != nullptr) impl_->add_holder();
  }
  behavior(behavior&& o) noexcept : impl_(std::exchange(o.impl_, nullptr)) {}
  behavior& operator=(behavior o) noexcept {
    std::swap(impl_, o.impl_);
    return *this;
  }
  ~behavior() {
    if (impl_ != nullptr) impl_->drop_holder();
  }

  [[nodiscard]] explicit operator bool() const noexcept { return impl_ != nullptr; }
  /// For the framework: returns the implementation; null if the behavior is empty.
  [[nodiscard]] behavior_impl* impl() const noexcept { return impl_; }

 protected:
  /// For the framework: takes over the result of make_behavior.
  explicit behavior(behavior_impl* adopted) noexcept : impl_(adopted) {}

 private:
  behavior_impl* impl_ = nullptr;
};

/// A behavior that handles every signature of P, which the compiler checks; for typed actors.
template <class P>
class typed_behavior;

/// A behavior that handles each of these signatures.
template <class... Sigs>
class typed_behavior<protocol<Sigs...>> : public behavior {
  static_assert(detail::looked_at<protocol<Sigs...>>);

 public:
  /// Makes a behavior of functions, one for each signature, and at most one `after`. A signature
  /// without a function is a compile error. Throws as the constructor of `behavior` does.
  template <class... Fs>
    requires(sizeof...(Fs) > 0 && (!std::is_base_of_v<behavior, Fs> && ...))
  typed_behavior(Fs... fs) : behavior(detail::make_behavior(std::move(fs)...)) {
    static_assert((detail::checked_as_case<Fs>::reported && ...));
    if constexpr ((detail::is_case<Fs> && ...) && detail::distinct_contents<Sigs...>()) {
      static_assert(((detail::plain_function<Fs> || detail::is_timeout<Fs>::value) && ...),
                    "garrick: a typed behavior is made of functions, one for each signature, and "
                    "at most one after(d) >> f");
      (check<Sigs, Fs...>(), ...);
    }
  }

 private:
  template <class Sig, class F>
  static constexpr bool takes = [] {
    if constexpr (detail::plain_function<F>)
      return std::is_same_v<typename detail::signature<Sig>::content,
                            typename detail::callable<F>::content> &&
             std::is_same_v<
                 typename detail::signature<Sig>::answer,
                 typename detail::response_of<typename detail::callable<F>::result>::type>;
    else
      return false;
  }();
  template <class Sig, class... Fs>
  static constexpr void check() {
    static_assert((takes<Sig, Fs> || ...),
                  "garrick: the behavior has no function for this signature of the protocol");
  }
};

/// A wildcard of one type in a pattern: matches every value of that type and binds it.
template <class T>
inline constexpr detail::wildcard<T> any{};

/// Returns a pattern for a message, with one argument for each part of it. A value is compared, and
/// not bound; `any<T>` binds; a function to `optional<U>` binds the value inside, and does not
/// match if the optional is empty. `.when(guard)` adds a condition on the bound values, and `>> f`
/// makes the case.
///
///     on(42, any<int>).when([](int x) { return x > 0; }) >> [](int x) {…}
template <class... Patterns>
[[nodiscard]] auto on(Patterns&&... patterns) {
  return detail::pattern_builder<detail::no_guard,
                                 decltype(detail::to_pattern(std::forward<Patterns>(patterns)))...>{
      {detail::to_pattern(std::forward<Patterns>(patterns))...}, {}};
}

/// Takes every message that no earlier case took, as a `message`.
///
///     otherwise >> [](const message& m) {…}
inline constexpr detail::otherwise_builder otherwise{};

/// Returns a part of a behavior that runs its function when no message was handled for the time
/// `d`, and again after each further such time; if `d` is zero or less, whenever no message waits.
/// Skipped messages do not count. While the actor awaits, the function does not run, and the time
/// starts again when the await has ended.
///
/// In `receive` the function runs once, and ends the receive; if `d` is zero or less, `receive`
/// takes a message that waits already, and does not wait for one.
///
///     after(100ms) >> [] { … }
[[nodiscard]] inline detail::timeout_builder after(base::duration d) noexcept {
  return {d.count()};
}

}  // namespace garrick::core
