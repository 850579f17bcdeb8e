// Why an actor ended: normally, on request, unreachable, by an exception, or with any error of its
// own.
//
// It is an `error` of a category of its own (no error: normal), so it is 16 bytes, travels in
// messages and prints.
//
// Thread safety: as for `error`.
#pragma once

#include "garrick/base/values/error.hpp"

namespace garrick::base {

enum class exit_code : std::uint32_t {
  /// it quit, or its behavior was empty; links ignore it unless they trap exits
  normal,
  kill,                 ///< ended at once by somebody's order; cannot be trapped
  user_shutdown,        ///< the program or a supervisor asked it to stop
  unreachable,          ///< nobody held a handle to it any more and nothing could wake it
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

}  // namespace detail

[[nodiscard]] inline const error_category& error_category_of(exit_code) noexcept {
  return detail::exit_errors;
}

class exit_reason {
 public:
  using garrick_sendable = void;

  /// Normal.
  constexpr exit_reason() noexcept = default;
  exit_reason(exit_code code) noexcept {
    if (code != exit_code::normal) error_ = error(code);
  }
  exit_reason(exit_code code, std::string_view detail)
      : error_(error(code, std::string_view{}, detail)) {}
  /// The actor failed with `e`; no error is normal.
  exit_reason(error e) noexcept : error_(std::move(e)) {}
  template <error_enum E>
  exit_reason(E e) noexcept : error_(e) {}

  /// An exception left a handler; `text` is what it said.
  [[nodiscard]] static exit_reason exception(std::string_view text) {
    return {exit_code::unhandled_exception, text};
  }

  [[nodiscard]] bool is_normal() const noexcept { return !error_ || error_ == exit_code::normal; }
  /// True if the actor failed: neither normal nor asked to end nor merely unreachable.
  [[nodiscard]] bool is_failure() const noexcept;
  [[nodiscard]] exit_code code() const noexcept;
  [[nodiscard]] const error& as_error() const noexcept { return error_; }
  /// The exception's or the error's text, if any.
  [[nodiscard]] std::string_view detail() const noexcept { return error_.detail(); }
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
