// The object that takes a stage's results.
//
// Thread safety: an `emit` belongs to the call that it is given to, and to that call's thread.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/detail/checks.hpp>

#include <cstddef>
#include <utility>

namespace garrick::patterns {

/// Takes a stage's results: any number for each input, each visible to the next stage when the
/// input is done. It is valid for the call that it is given to, on the thread of that call. It
/// never waits: results without room are kept, and then the stage gets no further input until there
/// is room.
///
///     seq([](line l, emit<word> out) { for (auto& w : words_of(l)) out(std::move(w)); })
template <class T>
class emit {
 public:
  /// For the framework: puts results into `to`.
  explicit emit(detail::slots<T>& to) noexcept : to_(&to) {}

  /// Puts out a copy. Throws the exceptions of the copy, and std::bad_alloc.
  void operator()(const T& value) {
    if constexpr (requires { T(value); })
      to_->put(value);
    else
      static_assert(
          requires { T(value); },
          "garrick: this stage's output cannot be copied: out(std::move(x))");
  }
  /// Puts out a result by moving it.
  void operator()(T&& value) { to_->put(std::move(value)); }
  /// This overload refuses a value that is no T.
  template <class Call = T>
  void operator()(detail::anything /*value*/) {
    static_assert(detail::is_right_call<Call>,
                  "garrick: a stage with an emit<T> puts out a T, and nothing else");
  }

  /// Puts `value` out if fewer than `limit` tuples wait in the channel to the next stage. Otherwise
  /// returns the error `overload` and leaves `value` as before: a source can wait, drop or keep it.
  /// With a limit of zero it always returns `overload`.
  ///
  /// In front of a farm it looks at the channel of the chosen replica. With round_robin,
  /// random_member and least_loaded it tries every replica before it fails; with broadcast, each
  /// replica needs room. Throws the exceptions of a key function, and std::bad_alloc.
  [[nodiscard]] error try_send_next(std::size_t limit, T&& value) {
    if (to_->try_put(limit, value)) return {};
    return make_error(errc::overload, "try_send_next()", "the next stage's channel is full");
  }

 private:
  detail::slots<T>* to_;
};

}  // namespace garrick::patterns
