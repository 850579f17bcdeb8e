// Supervision: children that are restarted when they fail. The users of a child notice no more than
// a lost message.
//
// Any actor can supervise:
//
//   class pool : public garrick::actor<pool_protocol> {
//     ref<job_protocol> worker_;
//    public:
//     void on_start() {
//       set_supervision({.strategy = one_for_one,
//                        .max_restarts = 3,
//                        .window = 5s,
//                        .delay = {.first = 100ms}});
//       worker_ = supervise<worker>(child_options{.name = "worker"}, config_);
//     }
//   };
//
// And `supervisor` is an actor that does nothing else:
//
//   auto top = system.spawn<supervisor>(supervision{.strategy = rest_for_one},
//                                       child<store>(path), child<server>(port));
//   auto extra = supervise<worker>(top, child_options{.restart = transient}, 7);   // any thread
//
// The handle stays valid over restarts.
//
// A restart is not an end. The child keeps its address and its unread mail. Its object is rebuilt
// from copies of its arguments. Its timers and requests are cancelled, and late responses are
// ignored. Links and monitors fire only when it ends for good. A request that the failed child held
// gets `receiver_failed`, and the message that killed it is a dead letter. A constructor that
// throws on a restart is a failure again.
//
// A supervisor gives up after more failures than `max_restarts` within `window`. It also gives up
// if a child does not return within `stop_within` when its group must be restarted. Then it stops
// its children and fails itself, and its own supervisor, links and monitors are told.
//
// Names of children are unique: a second child of the same name ends with `spawn_failed` when the
// supervisor takes it in. If it was started from outside, it may have handled messages by then.
//
// Ownership: a supervisor holds its children, not the other way round. When the last handle to a
// supervisor is gone, it stops its children, youngest first, and ends.
//
// Thread safety: that of the actors; `supervise(top, ...)` and `child` from any thread. The first
// object is built on the calling thread. Paper 001 §4.5.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/cell/supervised.hpp>
#include <garrick/core/result.hpp>
#include <garrick/core/spawn.hpp>
#include <garrick/core/supervision/supervision.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::core {

namespace detail {

/// Builds an A from copies of the arguments, as often as called. Lent arguments are passed on.
template <class A, class... Args>
class class_factory final : public object_factory {
 public:
  template <class... Us>
  explicit class_factory(Us&&... args) : args_(std::forward<Us>(args)...) {}
  void build(void* storage) override {
    std::apply([storage](const Args&... args) { ::new (storage) A(given<const Args&>(args)...); },
               args_);
  }

 private:
  const std::tuple<Args...> args_;
};

/// Applies the options of a child. Returns false if the cell has ended, with the reason.
bool prepare_child(cell& c, cell& supervisor, bool on_its_turn, const child_options& o,
                   std::shared_ptr<object_factory> factory);
/// Builds the first object, gives the child to its supervisor and lets it run.
void launch_child(cell& c, cell& supervisor, bool on_its_turn, const child_options& o) noexcept;

template <class A, class... Args>
ref<protocol_of<A>> spawn_child(cell& supervisor, bool on_its_turn, const child_options& o,
                                Args&&... args) {
  using cell_type = actor_cell<A>;
  const cell_kind kind = kind_of<A>(o.detached);
  const bool lazy = kind == cell_kind::event && (!has_start<A> || o.spawn.lazy);
  auto* const made = ::new (allocate_cell(supervisor.env(), o.spawn.hint, sizeof(cell_type)))
      cell_type(supervisor.env(), kind, lazy);
  auto handle = handle_access::adopt<typename A::protocol_type>(made);
  if (prepare_child(
          *made, supervisor, on_its_turn, o,
          std::make_shared<class_factory<A, std::decay_t<Args>...>>(std::forward<Args>(args)...)))
    launch_child(*made, supervisor, on_its_turn, o);
  return handle;
}

template <class F, class... Args>
auto spawn_child_function(cell& supervisor, bool on_its_turn, const child_options& o, F&& f,
                          Args&&... args) {
  return spawn_child<actor_of_function<F, Args...>>(
      supervisor, on_its_turn, o, kept_function<F>(given<F>(f)), std::forward<Args>(args)...);
}

template <bool Copied, class... Args>
struct children_are_made_of_copies : base::detail::failed_check {
  static_assert(Copied,
                "garrick: a supervised child's arguments must be copyable: every start gets copies "
                "of its own");
};

/// The check of a child, or the error that its arguments cannot be copied.
template <class Check, class... Args>
using copied_check =
    std::conditional_t<passes<Check> && !(base::copyable_message<std::decay_t<Args>> && ...),
                       children_are_made_of_copies<false, Args...>, Check>;

/// The first failing check of a child. Its arguments may begin with options, which are not checked.
template <class A, class... Args>
struct check_of_child {
  using type = copied_check<spawn_check<A, Args...>, Args...>;
};
template <class A, class First, class... Rest>
  requires std::is_same_v<std::decay_t<First>, child_options>
struct check_of_child<A, First, Rest...> : check_of_child<A, Rest...> {};
template <class A, class... Args>
using child_check = typename check_of_child<A, Args...>::type;

/// The same for a function's child.
template <class F, class... Args>
struct check_of_child_function {
  using type = copied_check<function_check<F, Args...>, F, Args...>;
};
template <class First, class F, class... Args>
  requires std::is_same_v<std::decay_t<First>, child_options>
struct check_of_child_function<First, F, Args...> : check_of_child_function<F, Args...> {};
template <class F, class... Args>
using child_function_check = typename check_of_child_function<F, Args...>::type;

/// Calls f(options, rest...): with the first argument as options if it is a child_options,
/// otherwise with defaults.
template <class F, class... Args>
auto with_child_options(F f, Args&&... args) {
  if constexpr (sizeof...(Args) == 0) {
    return f(child_options{});
  } else if constexpr (std::is_same_v<std::decay_t<std::tuple_element_t<0, std::tuple<Args...>>>,
                                      child_options>) {
    return f(std::forward<Args>(args)...);
  } else {
    return f(child_options{}, std::forward<Args>(args)...);
  }
}

/// Starts a child; the options may be the first of `args`.
template <class A, class... Args>
auto start_child(cell& supervisor, bool on_its_turn, Args&&... args) {
  return with_child_options(
      [&]<class... Rest>(const child_options& o, Rest&&... arguments) {
        return spawn_child<A>(supervisor, on_its_turn, o, std::forward<Rest>(arguments)...);
      },
      std::forward<Args>(args)...);
}
/// The same for a function; `args` holds the options, the function and its arguments.
template <class... Args>
auto start_child_function(cell& supervisor, bool on_its_turn, Args&&... args) {
  return with_child_options(
      [&]<class... Rest>(const child_options& o, Rest&&... arguments) {
        return spawn_child_function(supervisor, on_its_turn, o, std::forward<Rest>(arguments)...);
      },
      std::forward<Args>(args)...);
}

}  // namespace detail

/// A child of a `supervisor`, described before it exists. Copies share the description.
class child_spec {
 public:
  /// For the framework: starts the described child.
  class starter {
   public:
    virtual ~starter() = default;
    /// Starts the child under an actor, on that actor's turn. Returns a handle to an ended actor if
    /// that failed.
    [[nodiscard]] virtual any_ref start(cell& supervisor) const = 0;
  };
  /// For the framework: `child` makes one.
  explicit child_spec(std::shared_ptr<const starter> s) noexcept : starter_(std::move(s)) {}
  /// For the framework: starts the child under an actor, on the actor's turn. Returns its handle.
  [[nodiscard]] any_ref start(cell& supervisor) const { return starter_->start(supervisor); }

 private:
  std::shared_ptr<const starter> starter_;
};

namespace detail {

template <class Start>
class starter_of final : public child_spec::starter {
 public:
  explicit starter_of(Start s) : start_(std::move(s)) {}
  [[nodiscard]] any_ref start(cell& supervisor) const override {
    return any_ref(start_(supervisor));
  }

 private:
  Start start_;
};

template <class Start>
[[nodiscard]] child_spec make_child_spec(Start s) {
  return child_spec(std::make_shared<starter_of<Start>>(std::move(s)));
}

/// Returns the description of a child of the class A; the arguments have passed the checks.
template <class A, class... Args>
[[nodiscard]] child_spec describe_child(const child_options& o, Args&&... args) {
  return make_child_spec(
      [o, kept = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)](cell& parent) {
        return std::apply([&](const auto&... xs) { return spawn_child<A>(parent, true, o, xs...); },
                          kept);
      });
}

}  // namespace detail

/// Returns the description of a class-based child, for the constructor of a `supervisor`. Keeps the
/// arguments, which must be copyable. A leading child_options argument has the child's options. Any
/// thread.
///
///     child<worker>(7);
///     child<worker>(child_options{.name = "seventh"}, 7);
template <class A, class... Args>
[[nodiscard]] child_spec child(Args&&... args) {
  static_assert(detail::child_check<A, Args...>::reported);
  if constexpr (!detail::passes<detail::child_check<A, Args...>>)
    return child_spec(nullptr);
  else
    return detail::with_child_options(
        []<class... Rest>(const child_options& o, Rest&&... arguments) {
          return detail::describe_child<A>(o, std::forward<Rest>(arguments)...);
        },
        std::forward<Args>(args)...);
}
/// Returns the same with options, which may be a list in braces.
///
///     child<worker>({.name = "seventh"}, 7);
template <class A, class... Args>
[[nodiscard]] child_spec child(const child_options& o, Args&&... args) {
  static_assert(detail::child_check<A, Args...>::reported);
  if constexpr (!detail::passes<detail::child_check<A, Args...>>)
    return child_spec(nullptr);
  else
    return detail::describe_child<A>(o, std::forward<Args>(args)...);
}

/// Returns the description of a function-based child: `child(f, args...)`,
/// `child(child_options{…}, f, args...)`.
template <class F, class... Args>
[[nodiscard]] child_spec child(F&& f, Args&&... args) {
  static_assert(detail::child_function_check<F, Args...>::reported);
  if constexpr (!detail::passes<detail::child_function_check<F, Args...>>)
    return child_spec(nullptr);
  else
    return detail::with_child_options(
        []<class G, class... Rest>(const child_options& o, G&& g, Rest&&... arguments) {
          return detail::make_child_spec([o, run = detail::kept_function<G>(detail::given<G>(g)),
                                          kept = std::tuple<std::decay_t<Rest>...>(
                                              std::forward<Rest>(arguments)...)](cell& parent) {
            return std::apply(
                [&](const auto&... xs) {
                  return detail::spawn_child_function(parent, true, o, run, xs...);
                },
                kept);
          });
        },
        std::forward<F>(f), std::forward<Args>(args)...);
}

/// Asks a `supervisor` for its children. The answer is a vector of child_info, oldest first.
struct list_children {};
/// Asks a `supervisor` for a child's handle, which stays valid over restarts; the oldest child if
/// several have the name. Errors: `not_found`.
struct find_child {
  std::string name;  ///< as child_info has it
};
/// Tells a `supervisor` to stop a child for good. The answer comes when the child has ended, or
/// when it is still alive after its `stop_within`: success in both cases. Errors: `not_found`.
struct stop_child {
  std::string name;  ///< as child_info has it
};
/// Tells a `supervisor` to stop all children, youngest first; the supervisor itself continues. The
/// answer, a stop_report, comes when each has ended or was given up as still alive.
struct stop_children {};

/// The protocol of a `supervisor`.
using supervisor_protocol =
    protocol<std::vector<child_info>(list_children), result<any_ref>(find_child),
             result<void>(stop_child), stop_report(stop_children)>;

/// An actor that only supervises. Keep its handle: without one, it stops its children and ends.
///
///     auto top = system.spawn<supervisor>(supervision{}, child<store>(path), child<server>(80));
///     auto extra = supervise<worker>(top, 7);
class supervisor : public actor<supervisor_protocol> {
 public:
  /// Makes a supervisor with the rules `how`. It starts the children in this order, on its own
  /// first turn; if one cannot be started, the supervisor fails. Throws std::invalid_argument that
  /// names a bad setting, so the spawn fails with `spawn_failed`.
  template <class... Specs>
    requires(std::is_same_v<Specs, child_spec> && ...)
  explicit supervisor(const supervision& how, const Specs&... children)
      : how_(checked(how)), specs_{children...} {}
  /// Makes a supervisor with the defaults of `supervision`, and no child yet.
  supervisor() = default;

  void on_start();                            ///< for the framework: starts the children
  std::vector<child_info> on(list_children);  ///< see list_children
  result<any_ref> on(const find_child& f);    ///< see find_child
  result<void> on(const stop_child& s);       ///< see stop_child
  result<stop_report> on(stop_children);      ///< see stop_children

 private:
  static const supervision& checked(const supervision& how);

  supervision how_;
  std::vector<child_spec> specs_;
};

/// Starts a class-based child under a supervisor, and returns a handle to it, which is never empty
/// and stays valid over restarts. The first object is built here, on this thread, from copies of
/// the arguments, which must be copyable; a child_options before them is for the child.
///
/// Errors: if the constructor throws or an option is refused, the handle names an actor that has
/// ended with `spawn_failed`. If the supervisor has ended, the child ends at once. Throws
/// std::logic_error for an empty handle, std::bad_alloc. Thread safety: any thread.
///
///     auto w = supervise<worker>(top, child_options{.restart = transient}, 7);
template <class A, class... Args>
auto supervise(const ref<supervisor_protocol>& under, Args&&... args) {
  static_assert(detail::child_check<A, Args...>::reported);
  if constexpr (!detail::passes<detail::child_check<A, Args...>>)
    return ref<detail::protocol_of<A>>();
  else
    return detail::start_child<A>(detail::target_of(under, "supervise()"), false,
                                  std::forward<Args>(args)...);
}
/// The same with options, which may be a list in braces.
template <class A, class... Args>
auto supervise(const ref<supervisor_protocol>& under, const child_options& o, Args&&... args) {
  static_assert(detail::child_check<A, Args...>::reported);
  if constexpr (!detail::passes<detail::child_check<A, Args...>>)
    return ref<detail::protocol_of<A>>();
  else
    return detail::spawn_child<A>(detail::target_of(under, "supervise()"), false, o,
                                  std::forward<Args>(args)...);
}
/// The same for a function-based child: `supervise(top, f, args...)`.
template <class F, class... Args>
auto supervise(const ref<supervisor_protocol>& under, F&& f, Args&&... args) {
  static_assert(detail::child_function_check<F, Args...>::reported);
  if constexpr (!detail::passes<detail::child_function_check<F, Args...>>)
    return any_ref();
  else
    return detail::start_child_function(detail::target_of(under, "supervise()"), false,
                                        std::forward<F>(f), std::forward<Args>(args)...);
}

template <class A, class... Args>
auto actor_base::supervise(Args&&... args) {
  static_assert(detail::child_check<A, Args...>::reported);
  if constexpr (!detail::passes<detail::child_check<A, Args...>>)
    return ref<detail::protocol_of<A>>();
  else
    return detail::start_child<A>(*cell_, true, std::forward<Args>(args)...);
}
template <class A, class... Args>
auto actor_base::supervise(const child_options& o, Args&&... args) {
  static_assert(detail::child_check<A, Args...>::reported);
  if constexpr (!detail::passes<detail::child_check<A, Args...>>)
    return ref<detail::protocol_of<A>>();
  else
    return detail::spawn_child<A>(*cell_, true, o, std::forward<Args>(args)...);
}
template <class F, class... Args>
auto actor_base::supervise(F&& f, Args&&... args) {
  static_assert(detail::child_function_check<F, Args...>::reported);
  if constexpr (!detail::passes<detail::child_function_check<F, Args...>>)
    return any_ref();
  else
    return detail::start_child_function(*cell_, true, std::forward<F>(f),
                                        std::forward<Args>(args)...);
}

// Braces that are not options, as in spawner.hpp. There is no overload for the braces of `child`:
// it would match a call without arguments as well as the others do.
#if defined(__clang__)
/// This overload refuses braces that are not options.
template <class A = void>
ref<detail::protocol_of<A>> supervise(const volatile ref<supervisor_protocol>& /*under*/, ...) {
  static_assert(detail::takes_braces<A>,
                "garrick: in braces stand members of child_options, in the order of their "
                "declaration; an argument of the constructor names its type");
  return {};
}
template <class A>
ref<detail::protocol_of<A>> actor_base::supervise(...) volatile {
  static_assert(detail::takes_braces<A>,
                "garrick: in braces stand members of child_options, in the order of their "
                "declaration; an argument of the constructor names its type");
  return {};
}
#else
/// This overload refuses braces that are not options.
template <class A = void, class Garrick = detail::options_in_braces_have_no_such_member>
ref<detail::protocol_of<A>> supervise(const volatile ref<supervisor_protocol>& under, ...) = delete;
#endif

}  // namespace garrick::core
