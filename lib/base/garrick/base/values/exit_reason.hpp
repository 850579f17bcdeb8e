// The reason why an actor ended: normally, on request, because no handle to it was left, by an
// exception, or with an error of its own.
//
// An exit reason is an `error` of a category of its own, and "no error" means normal. So it takes
// 16 bytes, may be sent in messages and can be printed.
//
// Thread safety: as for `error`.
#pragma once

#include "garrick/base/values/error.hpp"

namespace garrick::base {

/// The kinds of ends.
enum class exit_code : std::uint32_t {
  /// the actor quit, or its behavior was empty; linked actors ignore this unless they trap exits
  normal,
  kill,                 ///< ended at once by order; cannot be trapped
  user_shutdown,        ///< the program or a supervisor asked it to stop
  unreachable,          ///< no handle to it was left and nothing could wake it
  unhandled_exception,  ///< an exception left a handler; the detail is the exception's text
  failure,              ///< ended with an error, see `exit_reason::as_error`
};

namespace detail {

class exit_error_category final : public error_category {
 public:
  constexpr exit_error_category() noexcept = default;
  [[nodiscard]] std::string_view name() const noexcept override;
  [[nodiscard]] std::string message(std::uint32_t code) const override;
};

extern const exit_error_category exit_errors;
template <>
inline constexpr bool is_listed_by_base<exit_code> = true;

}  // namespace detail

/// Returns the category of exit codes, named "exit".
[[nodiscard]] inline const error_category& error_category_of(exit_code) noexcept {
  return detail::exit_errors;
}

/// The reason why an actor ended: monitors receive it and links pass it on.
///
///     if (down.reason.is_failure()) log(down.reason.to_string());
///
/// Thread safety and cost: as `error`.
class exit_reason {
 public:
  using garrick_sendable = void;  ///< an exit reason may be sent

  /// Makes the reason of a normal end.
  constexpr exit_reason() noexcept = default;
  /// Makes a reason with this code and without a text. Allocates nothing.
  exit_reason(exit_code code) noexcept {
    if (code != exit_code::normal) error_ = error(code);
  }
  /// Makes a reason with this code and a text; without memory for the text, only with the code.
  exit_reason(exit_code code, std::string_view detail)
      : error_(error(code, std::string_view{}, detail)) {}
  /// Makes the reason of an actor that failed with `e`; "no error" is a normal end.
  exit_reason(error e) noexcept : error_(std::move(e)) {}
  /// Makes the reason of an actor that failed with this error.
  template <error_enum E>
  exit_reason(E e) noexcept : error_(e) {}

  /// Returns the reason of an exception that left a handler; `text` is the exception's text.
  [[nodiscard]] static exit_reason exception(std::string_view text) {
    return {exit_code::unhandled_exception, text};
  }

  /// Returns true if the actor ended by itself, without an error.
  [[nodiscard]] bool is_normal() const noexcept { return !error_ || error_ == exit_code::normal; }
  /// Returns true if the actor failed: it neither ended normally, nor was asked or forced to end,
  /// nor was merely unreachable.
  [[nodiscard]] bool is_failure() const noexcept;
  /// Returns the kind of end; every error that is not an exit code itself counts as
  /// `exit_code::failure`.
  [[nodiscard]] exit_code code() const noexcept;
  /// Returns the reason as an error; "no error" if normal. Valid while this object lives.
  [[nodiscard]] const error& as_error() const noexcept { return error_; }
  /// Returns the exception's or the error's text, if any. Valid while this object, or a copy of it,
  /// lives.
  [[nodiscard]] std::string_view detail() const noexcept { return error_.detail(); }
  /// Returns "normal", or the error as text.
  [[nodiscard]] std::string to_string() const {
    return is_normal() ? "normal" : error_.to_string();
  }

  [[nodiscard]] friend bool operator==(const exit_reason& a, const exit_reason& b) noexcept {
    return (a.is_normal() && b.is_normal()) || a.error_ == b.error_;
  }
  [[nodiscard]] friend bool operator==(const exit_reason& a, exit_code b) noexcept {
    return a.code() == b;
  }

 private:
  error error_;
};

}  // namespace garrick::base
