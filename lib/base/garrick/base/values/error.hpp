// Errors are values: what happened (a code of a category), and if known where and why (a text).
//
// An error travels in messages and in every `result`, so it is 16 bytes and cheap to copy: a
// pointer to the category, and one word that holds either the code itself or a pointer to a shared,
// immutable block with the code and the text.
//
// Categories are extended by users: derive from `error_category`, make one object of it with static
// storage duration, and provide `const error_category& error_category_of(my_enum)` beside the
// enumeration. Then `error e = my_enum::disk_full;` works.
//
// Thread safety: copies of one error may be used on different threads; one object may not be
// written and read at once. Invariants: E1 category null <=> no error, and then the word is zero.
// E2 the word's lowest bit says "code inside"; otherwise it is the address of a detail block on
// which this object holds one reference.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace garrick::base {

/// A family of error codes with its texts. Identity is the object's address, so there must be one
/// object a family.
class error_category {
 public:
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// What happened, in plain words and without a full stop, for any code of the family.
  [[nodiscard]] virtual std::string message(std::uint32_t code) const = 0;

  error_category(const error_category&) = delete;
  error_category& operator=(const error_category&) = delete;

 protected:
  constexpr error_category() noexcept = default;
  ~error_category() = default;
};

/// What can go wrong in the framework itself. `user` is for programs that want a text and no
/// category of their own.
enum class errc : std::uint32_t {
  receiver_gone = 1,   ///< the receiver had ended, or ended before it took the request
  receiver_failed,     ///< the receiver failed while it held the request
  timeout,             ///< no response came in time
  unexpected_message,  ///< the receiver has no handler for this message
  overload,            ///< the receiver's mailbox was at its limit
  broken_promise,      ///< the receiver dropped the promise of a response
  spawn_failed,        ///< an actor's constructor or set-up failed
  shutting_down,       ///< the system has begun to stop
  config_invalid,      ///< a configuration key or value was refused
  would_block,         ///< a blocking wait on a worker thread
  request_cycle,       ///< actors that await each other in a circle
  cancelled,           ///< the caller withdrew the request
  user,                ///< an error of the program, explained by its text
  not_found,           ///< nothing has the name that was asked for
};

namespace detail {

class core_error_category final : public error_category {
 public:
  constexpr core_error_category() noexcept = default;
  [[nodiscard]] std::string_view name() const noexcept override;
  [[nodiscard]] std::string message(std::uint32_t code) const override;
};

extern const core_error_category core_errors;

/// Makes the shared block and returns its address with one reference held.
[[nodiscard]] std::uintptr_t make_error_detail(std::uint32_t code, std::string_view where,
                                               std::string_view why);
void retain_error_detail(std::uintptr_t word) noexcept;
void release_error_detail(std::uintptr_t word) noexcept;

}  // namespace detail

[[nodiscard]] inline const error_category& error_category_of(errc) noexcept {
  return detail::core_errors;
}

/// An enumeration that belongs to an error category.
template <class E>
concept error_enum = std::is_enum_v<E> && requires(E e) {
  { error_category_of(e) } -> std::same_as<const error_category&>;
};

class [[nodiscard]] error {
 public:
  using garrick_sendable = void;

  /// No error.
  constexpr error() noexcept = default;

  template <error_enum E>
  error(E code) noexcept : error(static_cast<std::uint32_t>(code), error_category_of(code)) {}

  /// `where` and `why` may be empty; both empty allocates nothing. Without memory for the text, the
  /// error has its code alone: what reports a failure must not fail.
  template <error_enum E>
  error(E code, std::string_view where, std::string_view why)
      : error(static_cast<std::uint32_t>(code), error_category_of(code), where, why) {}

  error(std::uint32_t code, const error_category& category) noexcept
      : category_(&category), word_((std::uintptr_t{code} << 1) | 1) {}

  error(std::uint32_t code, const error_category& category, std::string_view where,
        std::string_view why);

  constexpr error(const error& other) noexcept : category_(other.category_), word_(other.word_) {
    if (shared()) detail::retain_error_detail(word_);
  }
  constexpr error(error&& other) noexcept
      : category_(std::exchange(other.category_, nullptr)), word_(std::exchange(other.word_, 0)) {}
  constexpr error& operator=(error other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~error() {
    if (shared()) detail::release_error_detail(word_);
  }

  constexpr void swap(error& other) noexcept {
    std::swap(category_, other.category_);
    std::swap(word_, other.word_);
  }

  /// True if this is an error.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return category_ != nullptr; }

  /// Zero where there is no error.
  [[nodiscard]] std::uint32_t code() const noexcept;
  /// Null where there is no error.
  [[nodiscard]] const error_category* category() const noexcept { return category_; }
  /// "where: why", as far as known. Valid while this object, or a copy of it, lives.
  [[nodiscard]] std::string_view detail() const noexcept;
  /// What happened, as the category says it; "no error" where there is none.
  [[nodiscard]] std::string message() const;
  /// "what happened: where: why".
  [[nodiscard]] std::string to_string() const;
  /// A copy whose detail begins with `where`: for a caller that knows more than who found the
  /// error.
  [[nodiscard]] error at(std::string_view where) const;

  /// Equal category and code; the text does not count.
  [[nodiscard]] friend bool operator==(const error& a, const error& b) noexcept {
    return a.category_ == b.category_ && a.code() == b.code();
  }
  template <error_enum E>
  [[nodiscard]] friend bool operator==(const error& a, E b) noexcept {
    return a.category_ == &error_category_of(b) && a.code() == static_cast<std::uint32_t>(b);
  }

 private:
  [[nodiscard]] constexpr bool shared() const noexcept { return (word_ & 1) == 0 && word_ != 0; }

  const error_category* category_ = nullptr;
  std::uintptr_t word_ = 0;
};

static_assert(sizeof(error) == 2 * sizeof(void*));

/// An error with a text that says where or why; put "where: why" in it, or use the other overload.
template <error_enum E>
[[nodiscard]] error make_error(E code, std::string_view detail = {}) {
  return detail.empty() ? error(code) : error(code, std::string_view{}, detail);
}
template <error_enum E>
[[nodiscard]] error make_error(E code, std::string_view where, std::string_view why) {
  return error(code, where, why);
}

}  // namespace garrick::base
