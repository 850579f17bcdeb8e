// The functions of `monitor`; and the errors of the compiler for arguments of `monitor`, `link` and
// `quit` that do not fit.
//
// Private: installed because templates need it.
//
// Thread safety: the actor's turn only.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/base/values/exit_reason.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/continuation.hpp>
#include <garrick/core/cell/handle.hpp>
#include <garrick/core/detail/invoke.hpp>
#include <garrick/core/life/signals.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace garrick::core {

/// The number of a monitor, for `demonitor`.
struct monitor_id {
  std::uint64_t value = 0;  ///< counts from 1 within one actor; 0: no monitor
};

namespace detail {

monitor_id monitor_cell(cell& self, const address& other, continuation* callback);

template <class F>
class down_continuation final : public continuation {
 public:
  explicit down_continuation(F f) : f_(std::move(f)) {}
  void on_response(cell&, envelope* e) override {
    struct cleanup {
      down_continuation* k;
      ~cleanup() { k->abandon(); }
    } const guard{this};
    static_cast<void>(f_(*static_cast<const down*>(e->raw())));
  }
  void abandon() noexcept override {
    this->~down_continuation();
    base::block_pool::deallocate(this, sizeof(down_continuation));
  }
  [[nodiscard]] static continuation* make(F f) {
    return ::new (base::block_pool::allocate(sizeof(down_continuation)))
        down_continuation(std::move(f));
  }

 private:
  ~down_continuation() = default;
  F f_;
};

template <class F, bool Plain = false>
struct function_of_monitor_is_a_coroutine : base::detail::failed_check {
  static_assert(Plain,
                "garrick: the function of monitor is no coroutine: it would never run. Say "
                "monitor(who), and hear of it in a handler task<> on(down d)");
};
template <class F, bool Takes = false>
struct function_of_monitor_takes_no_down : base::detail::failed_check {
  static_assert(Takes,
                "garrick: the function of monitor takes a const down&, as in "
                "monitor(who, [this](const down& d) { replace(d.who); })");
};
template <class F>
inline constexpr bool hears_down_at_once = !requires(F& f, const down& d) {
  { f(d) } -> coroutine;
};

template <class F>
inline constexpr bool takes_down = std::is_invocable_v<F&, const down&>;
/// The first check of a function of `monitor` that fails.
template <class F>
using monitor_check = base::detail::first_failure<
    base::detail::unless<takes_down<F>, function_of_monitor_takes_no_down<F>>,
    base::detail::unless<hears_down_at_once<F>, function_of_monitor_is_a_coroutine<F>>>;

/// Monitors `other` for `self` if f passes the check; otherwise returns no monitor.
template <class F>
monitor_id monitor_by_function(cell& self, const address& other, F f) {
  if constexpr (base::detail::passes<monitor_check<F>>)
    return monitor_cell(self, other, down_continuation<F>::make(std::move(f)));
  else
    return {};
}

/// True for an argument that names no actor.
template <class T>
concept names_no_actor =
    !std::is_convertible_v<T, const handle&> && !std::is_convertible_v<T, const address&>;
template <class T, bool Names = false>
struct this_names_no_actor : base::detail::failed_check {
  static_assert(Names,
                "garrick: link(who), unlink(who) and monitor(who, f) take a handle or an address; "
                "a weak_ref's is w.address()");
};
/// An argument that names no actor. A function template with such a parameter refuses the argument.
/// Overload resolution prefers each function that takes it, such as one of a derived class.
struct refused_actor {
  template <names_no_actor T>
  refused_actor(T&& /*other*/) noexcept {
    static_assert(this_names_no_actor<T>::reported);
  }
};
/// Takes any function, as the second argument of a refused `monitor`.
struct any_function {
  any_function() noexcept = default;
  template <class F>
  any_function(F&& /*f*/) noexcept {}
};

/// True for an argument that is not a reason to end.
template <class T>
concept no_exit_reason = !std::is_convertible_v<T, base::exit_reason>;
template <class T, bool Is = false>
struct quit_without_reason : base::detail::failed_check {
  static_assert(Is,
                "garrick: quit(reason) takes an exit_code, an error or both with a text, as in "
                "quit(exit_code::user_shutdown) or quit({exit_code::failure, \"no disk\"})");
};
/// An argument that is not a reason to end. Works as `refused_actor` does.
struct refused_reason {
  template <no_exit_reason T>
  refused_reason(T&& /*reason*/) noexcept {
    static_assert(quit_without_reason<T>::reported);
  }
};

}  // namespace detail

}  // namespace garrick::core
