// Spawning: class-based actors, and functions or lambdas that take `self`.
//
//   spawn<account_actor>(args...)                          a class
//   spawn([](dynamic_actor& self) -> behavior { … })       a function that returns a behavior, or
//                                                          sets one with become
//   spawn([](typed_actor<P>& self, int x) -> typed_behavior<P> { … }, 7)   the same, typed
//   spawn([](stateful<state>& self) -> behavior { … })     with members
//   spawn([](blocking_actor& self) { self.receive(…); })   on a thread of its own; or a class with
//                                                          `void run()`
//   spawn(spawn_options{.name = "clock", .linked = true}, …)   with options
//
// Errors: if a constructor throws, the handle names an actor that has ended with that reason. A
// request to it gets `not_handled` with the text, and a monitor gets the reason. `try_spawn`
// returns the error as a value, and that of `on_start`, too. After the system has begun to stop,
// every spawn fails with `shutting_down`.
//
// Thread safety: any thread. The object is built on the calling thread, and its handlers run
// elsewhere; the hand-over synchronises.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/blocking.hpp>
#include <garrick/core/detail/actor_cell.hpp>
#include <garrick/core/detail/spawn_check.hpp>
#include <garrick/core/dynamic_actor.hpp>
#include <garrick/core/spawn_options.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::core {

namespace detail {

/// Applies the options. Returns false if the actor cannot live; then the cell has ended.
bool prepare_cell(cell& c, environment& env, const spawn_options* o, cell* spawner);
/// Lists the cell after its object was built. Returns false if the system has begun to stop; then
/// the cell has ended.
[[nodiscard]] bool list_cell(cell& c) noexcept;
/// Lists the cell and schedules it, or leaves it idle if it starts lazily and no message has come
/// yet. With `why`, its start hook runs here and now, unless it has a thread of its own or starts
/// lazily; a failure is left in `*why`.
void launch_cell(cell& c, const spawn_options* o, cell* spawner, base::error* why) noexcept;
/// Returns the reason why `c`, which no other code knows yet, has ended.
[[nodiscard]] base::error spawn_error(const cell& c);
/// Ends a cell after its object's constructor threw.
void abort_cell(cell& c, const std::exception_ptr& why) noexcept;
/// Ends a cell that no other code knows yet.
void refuse_cell(cell& c, base::exit_reason why) noexcept;

template <class A>
inline constexpr bool is_blocking = std::is_base_of_v<blocking_actor, A>;

template <class A>
[[nodiscard]] constexpr cell_kind kind_of(bool detached) noexcept {
  return is_blocking<A> ? cell_kind::blocking : detached ? cell_kind::detached : cell_kind::event;
}

/// Makes an A of these arguments, which are passed on as they are. A null `why` means that the
/// caller does not ask whether A has started.
template <class A, class... Args>
ref<protocol_of<A>> spawn_cell(environment& env, cell* spawner, const spawn_options* o,
                               base::error* why, Args&&... args) {
  using cell_type = actor_cell<A>;
  const cell_kind kind = kind_of<A>(o != nullptr && o->detached);
  const bool lazy = kind == cell_kind::event && (!has_start<A> || (o != nullptr && o->lazy));
  auto* const c =
      ::new (allocate_cell(env, o != nullptr ? o->hint : base::locality_hint(), sizeof(cell_type)))
          cell_type(env, kind, lazy);
  auto handle = handle_access::adopt<typename A::protocol_type>(c);
  try {
    if (kind != cell_kind::event || o != nullptr) [[unlikely]]
      if (!prepare_cell(*c, env, o, spawner)) {
        if (why != nullptr) *why = spawn_error(*c);
        return handle;
      }
    const constructing_scope scope(*c);
    c->build(std::forward<Args>(args)...);
  } catch (...) {
    abort_cell(*c, std::current_exception());
    if (why != nullptr) *why = spawn_error(*c);
    return handle;
  }
  launch_cell(*c, o, spawner, why);
  return handle;
}

template <class A, class... Args>
ref<protocol_of<A>> spawn_class(environment& env, cell* spawner, const spawn_options* o,
                                Args&&... args) {
  return spawn_cell<A>(env, spawner, o, nullptr, std::forward<Args>(args)...);
}

/// The type of `self` that a function actor asks for, and the type that the function returns.
template <class F>
struct self_of : self_of<decltype(&F::operator())> {};
template <class R, class C>
struct self_of<R (C::*)() const> {
  using type = dynamic_actor;
  using result = R;
  static constexpr bool takes = false;
};
template <class R, class C>
struct self_of<R (C::*)()> : self_of<R (C::*)() const> {};
template <class R, class C, class S, class... Args>
struct self_of<R (C::*)(S, Args...) const> {
  static constexpr bool takes = std::is_base_of_v<actor_base, std::remove_cvref_t<S>>;
  using type = std::conditional_t<takes, std::remove_cvref_t<S>, dynamic_actor>;
  using result = R;
};
template <class R, class C, class S, class... Args>
struct self_of<R (C::*)(S, Args...)> : self_of<R (C::*)(S, Args...) const> {};
template <class R, class C, class... Args>
struct self_of<R (C::*)(Args...) const noexcept> : self_of<R (C::*)(Args...) const> {};
template <class R, class C, class... Args>
struct self_of<R (C::*)(Args...) noexcept> : self_of<R (C::*)(Args...) const> {};
template <class R>
struct self_of<R (*)()> {
  using type = dynamic_actor;
  using result = R;
  static constexpr bool takes = false;
};
template <class R, class S, class... Args>
struct self_of<R (*)(S, Args...)> {
  static constexpr bool takes = std::is_base_of_v<actor_base, std::remove_cvref_t<S>>;
  using type = std::conditional_t<takes, std::remove_cvref_t<S>, dynamic_actor>;
  using result = R;
};

template <class R, class... Args>
struct self_of<R (*)(Args...) noexcept> : self_of<R (*)(Args...)> {};

/// An actor with a function as its body. An argument of type X& was lent.
template <class F, class... Args>
class function_actor final : public self_of<F>::type {
  using base_type = typename self_of<F>::type;

 public:
  explicit function_actor(F f, Args... args)
      : f_(std::move(f)), args_(std::forward<Args>(args)...) {}

  void run()
    requires is_blocking<base_type>
  {
    call();
  }
  void on_start()
    requires(!is_blocking<base_type>)
  {
    using R = decltype(call());
    if constexpr (std::is_void_v<R>) {
      call();
      if (!this->has_behavior()) this->quit();
    } else {
      this->become(call());
    }
  }

 private:
  decltype(auto) call() {
    return std::apply(
        [this](Args&... args) -> decltype(auto) {
          if constexpr (self_of<F>::takes)
            return f_(static_cast<base_type&>(*this), std::forward<Args>(args)...);
          else
            return f_(std::forward<Args>(args)...);
        },
        args_);
  }
  [[no_unique_address]] F f_;
  [[no_unique_address]] std::tuple<Args...> args_;
};

/// The type in which a function actor keeps its function.
template <class F>
using kept_function = std::decay_t<kept<F>>;
/// The class of a function's actor.
template <class F, class... Args>
using actor_of_function = function_actor<kept_function<F>, kept<Args>...>;

/// True if the type of `self` can be read from F.
template <class F>
inline constexpr bool names_self = std::is_pointer_v<F> || requires { &F::operator(); };

/// False if F names the type of its self, but cannot be called with such a self and these
/// arguments.
template <class F, class... Args>
consteval bool takes_arguments() {
  if constexpr (!names_self<F>)
    return true;
  else if constexpr (self_of<F>::takes)
    return std::is_invocable_v<F&, typename self_of<F>::type&, Args...>;
  else
    return std::is_invocable_v<F&, Args...>;
}

template <class F, bool Named = false>
struct function_without_self : base::detail::failed_check {
  static_assert(Named,
                "garrick: a function actor says which self it takes: `dynamic_actor& self`, "
                "typed_actor<P>&, ...; not `auto&`");
};
template <bool Taken, class F, class... Args>
struct function_takes_others : base::detail::failed_check {
  static_assert(Taken,
                "garrick: a function actor takes its self, such as `dynamic_actor& self`, if it "
                "wants it, and then the arguments that follow it in the call, and no others");
};
template <class F, bool Plain = false>
struct function_is_no_body : base::detail::failed_check {
  static_assert(Plain,
                "garrick: an actor's function is no coroutine: it would never run. A class may "
                "have task<> on_start(), and a case of a behavior may return a task");
};

template <class F, class... Args>
consteval auto check_function() {
  using body_check = decltype(check_argument<F, in_function>());
  using arguments_check = decltype(check_arguments<0, Args...>());
  if constexpr (!std::is_same_v<body_check, passed_check*>)
    return body_check{};
  else if constexpr (!std::is_same_v<arguments_check, passed_check*>)
    return arguments_check{};
  else if constexpr (!names_self<kept_function<F>>)
    return verdict<function_without_self<F>>;
  else if constexpr (!takes_arguments<kept_function<F>, kept<Args>...>())
    return verdict<function_takes_others<false, F, Args...>>;
  else if constexpr (coroutine<typename self_of<kept_function<F>>::result>)
    return verdict<function_is_no_body<kept_function<F>>>;
  else if constexpr (!fits_as_actor<actor_of_function<F, Args...>>)
    return verdict<checked_actor<actor_of_function<F, Args...>>>;
  else
    return verdict<passed_check>;
}

/// Like spawn_check, for a function and its arguments.
template <class F, class... Args>
using function_check = std::remove_pointer_t<decltype(check_function<F, Args...>())>;
template <class F, class... Args>
inline constexpr bool function_can_be_spawned = passes<function_check<F, Args...>>;

template <class F, class... Args>
auto spawn_function(environment& env, cell* spawner, const spawn_options* o, F&& f,
                    Args&&... args) {
  if constexpr (function_can_be_spawned<F, Args...>)
    return spawn_class<actor_of_function<F, Args...>>(env, spawner, o, given<F>(f),
                                                      given<Args>(args)...);
  else
    return any_ref();
}

/// Spawns an A if it passes the checks. If not, the caller has reported the reason.
template <class A, class... Args>
ref<protocol_of<A>> spawn_checked(environment& env, cell* spawner, const spawn_options* o,
                                  base::error* why, Args&&... args) {
  if constexpr (can_be_spawned<A, Args...>)
    return spawn_cell<A>(env, spawner, o, why, given<Args>(args)...);
  else
    return {};
}

/// The same for arguments that may begin with options.
template <class A, class... Args>
ref<protocol_of<A>> spawn_with(environment& env, cell* spawner, base::error* why, Args&&... args) {
  if constexpr (sizeof...(Args) > 0)
    return [&]<class First, class... Rest>(First&& first, Rest&&... rest) {
      if constexpr (std::is_same_v<std::decay_t<First>, spawn_options>)
        return spawn_checked<A>(env, spawner, &first, why, std::forward<Rest>(rest)...);
      else
        return spawn_checked<A>(env, spawner, nullptr, why, std::forward<First>(first),
                                std::forward<Rest>(rest)...);
    }(std::forward<Args>(args)...);
  else
    return spawn_checked<A>(env, spawner, nullptr, why);
}
template <class A, class... Args>
base::result<ref<protocol_of<A>>> try_spawn_with(environment& env, cell* spawner, Args&&... args) {
  base::error why;
  auto handle = spawn_with<A>(env, spawner, &why, std::forward<Args>(args)...);
  if (why) return why;
  return handle;
}

/// The checks of the arguments after the options, which may come first.
template <class Options, class A, class... Args>
struct check_behind {
  using type = spawn_check<A, Args...>;
};
template <class Options, class A, class First, class... Rest>
  requires std::is_same_v<std::decay_t<First>, Options>
struct check_behind<Options, A, First, Rest...> {
  using type = spawn_check<A, Rest...>;
};

}  // namespace detail

template <class A, class... Args>
auto actor_base::spawn(Args&&... args) {
  static_assert(detail::check_behind<spawn_options, A, Args...>::type::reported);
  return detail::spawn_with<A>(cell_->env(), cell_, nullptr, std::forward<Args>(args)...);
}

template <class A, class... Args>
auto actor_base::spawn(const spawn_options& o, Args&&... args) {
  static_assert(detail::spawn_check<A, Args...>::reported);
  return detail::spawn_checked<A>(cell_->env(), cell_, &o, nullptr, std::forward<Args>(args)...);
}

template <class A, class... Args>
base::result<ref<detail::protocol_of<A>>> actor_base::try_spawn(Args&&... args) {
  static_assert(detail::check_behind<spawn_options, A, Args...>::type::reported);
  return detail::try_spawn_with<A>(cell_->env(), cell_, std::forward<Args>(args)...);
}

template <class A, class... Args>
base::result<ref<detail::protocol_of<A>>> actor_base::try_spawn(const spawn_options& o,
                                                                Args&&... args) {
  static_assert(detail::spawn_check<A, Args...>::reported);
  return detail::try_spawn_with<A>(cell_->env(), cell_, o, std::forward<Args>(args)...);
}

template <class F, class... Args>
  requires(!std::is_same_v<std::decay_t<F>, spawn_options>)
auto actor_base::spawn(F&& f, Args&&... args) {
  static_assert(detail::function_check<F, Args...>::reported);
  return detail::spawn_function(cell_->env(), cell_, nullptr, std::forward<F>(f),
                                std::forward<Args>(args)...);
}

template <class F, class... Args>
auto actor_base::spawn(const spawn_options& o, F&& f, Args&&... args) {
  static_assert(detail::function_check<F, Args...>::reported);
  return detail::spawn_function(cell_->env(), cell_, &o, std::forward<F>(f),
                                std::forward<Args>(args)...);
}

#if defined(__clang__)
template <class A>
ref<detail::protocol_of<A>> actor_base::spawn(...) volatile {
  static_assert(detail::takes_braces<A>,
                "garrick: in braces stand members of spawn_options, in the order of their "
                "declaration; an argument of the constructor names its type, as in "
                "spawn<supervisor>(supervision{.strategy = one_for_all})");
  return {};
}
#endif

namespace detail {

/// The name of a lambda's actor, such as "function actor at main()" or, as clang names lambdas,
/// "function actor at main.cpp:12:3". For any other function the name holds the function's type.
template <class F>
struct function_actor_name {
  static constexpr std::string_view before = "function actor ";
  char text[before.size() + 3 + base::type_name<F>.size()]{};
  std::size_t size = 0;

  constexpr function_actor_name() noexcept {
    constexpr std::string_view gcc = "::<lambda";
    constexpr std::string_view clang = "(lambda at";
    std::string_view name = base::type_name<F>;
    put(before);
    if (const std::size_t end = name.rfind(gcc); end != name.npos) {
      put("at ");
      put(name.substr(0, end));
    } else if (const std::size_t begin = name.rfind(clang); begin != name.npos) {
      name.remove_prefix(begin + clang.size() + 1);
      name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
      put("at ");
      put(name.substr(0, name.find(')')));
    } else {
      put(name);
    }
  }
  constexpr void put(std::string_view s) noexcept {
    for (const char c : s) text[size++] = c;
  }
};
template <class F>
inline constexpr function_actor_name<F> written_function_actor_name{};

}  // namespace detail

}  // namespace garrick::core

template <class F, class... Args>
inline constexpr std::string_view
    garrick::base::shown_name<garrick::core::detail::function_actor<F, Args...>>{
        garrick::core::detail::written_function_actor_name<F>.text,
        garrick::core::detail::written_function_actor_name<F>.size};
