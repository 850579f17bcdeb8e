// Errors are values: the event (a code of a category) and, if known, its place and cause (a text).
//
//   error e = make_error(errc::invalid_setting, "scheduler.workers", "0 is below 1");
//   e == errc::invalid_setting;  // true: the text does not count
//   e.to_string();     // "a setting is not valid: scheduler.workers: 0 is below 1"
//
// An error travels in messages and in every `result`, so it is 16 bytes and cheap to copy: a
// pointer to the category, and one word that holds either the code itself or a pointer to a shared,
// immutable block with the code and the text.
//
// Users add categories of their own: derive from `error_category`, make one object of it with
// static storage duration, and write `const error_category& error_category_of(my_enum)` beside the
// enumeration. Then `error e = my_enum::disk_full;` works.
//
// A category needs no registration. A program that makes or compares an error of an enumeration
// anywhere lists its category before main, or when the library with that code is loaded. Other
// processes name a category by its text, and `find_error_category` finds the category of an error
// that arrives from there.
//
// Thread safety: copies of one error may be used on different threads; one object may not be
// written and read at once.
//
// Invariants:
// E1 The category is null exactly if there is no error, and then the word is zero.
// E2 The word's lowest bit says "the code is inside". If it is clear and the word is not zero, the
//    word is the address of a detail block on which this object holds one reference.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace garrick::base {

/// A family of error codes with its texts.
///
/// A category is identified by its object's address, so each family has exactly one object, with
/// static storage duration. Thread safety: the functions of an implementation are called on any
/// thread.
class error_category {
 public:
  /// Returns a short name for logs, such as "garrick". The text must stay valid as long as the
  /// program runs.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Returns the event in plain words and without a full stop, for any code of the family.
  [[nodiscard]] virtual std::string message(std::uint32_t code) const = 0;

  error_category(const error_category&) = delete;
  error_category& operator=(const error_category&) = delete;

 protected:
  constexpr error_category() noexcept = default;
  ~error_category() = default;
};

/// The failures of the framework itself. `user` is for programs that want a text but no category of
/// their own.
enum class errc : std::uint32_t {
  not_handled = 1,     ///< certainly no handler has seen it: the receiver ended, or was restarted
  receiver_failed,     ///< the receiver failed while it handled the request or held its promise
  timeout,             ///< no response came in time
  unexpected_message,  ///< the receiver has no handler for this message
  overload,            ///< a mailbox, or another place for messages, was at its limit
  broken_promise,      ///< a handler has seen the request and will not answer it
  spawn_failed,        ///< an actor's constructor or set-up failed
  shutting_down,       ///< the system has begun to stop
  invalid_setting,     ///< a setting, or its key, was refused
  would_block,         ///< a wait on a worker thread, or a call in a forked process
  request_cycle,       ///< actors that await each other in a circle
  cancelled,           ///< the caller withdrew the request, or took its answer before
  user,                ///< an error of the program, explained by its text
  not_found,           ///< the name that was asked for is unknown
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

/// Returns the category of the framework's own errors, named "garrick".
[[nodiscard]] inline const error_category& error_category_of(errc) noexcept {
  return detail::core_errors;
}

/// An enumeration that belongs to an error category: `error_category_of(e)` is found beside it.
template <class E>
concept error_enum = std::is_enum_v<E> && requires(E e) {
  { error_category_of(e) } -> std::same_as<const error_category&>;
};

namespace detail {

/// Lists a category in the process as long as this object lives.
class category_entry {
 public:
  explicit category_entry(const error_category& listed) noexcept;
  ~category_entry();
  category_entry(const category_entry&) = delete;
  category_entry& operator=(const category_entry&) = delete;

  const error_category* const category;
  category_entry* next = nullptr;  // under the list's lock
};

/// The framework's own most common categories are listed once, not by each file that uses them.
template <class E>
inline constexpr bool is_listed_by_base = false;
template <>
inline constexpr bool is_listed_by_base<errc> = true;

template <class E>
struct listed_category {
  static inline const category_entry entry{error_category_of(E{})};
};

/// Lists the category of E. The instantiation lists it; a call costs nothing.
template <class E>
constexpr void list_category() noexcept {
  if constexpr (!is_listed_by_base<E>) static_cast<void>(&listed_category<E>::entry);
}

}  // namespace detail

/// Returns the category with this `name`, of those used by errors that this program makes or
/// compares somewhere. Returns null if there is none, or if two have that name and the right one is
/// unknown. Takes a short lock. Any thread.
///
///     if (const error_category* c = find_error_category("disk")) return error(code, *c, "", text);
[[nodiscard]] const error_category* find_error_category(std::string_view name) noexcept;

/// An event, and perhaps its place and cause; or no error.
///
///     error e = errc::timeout;
///     if (e) log(e.to_string());            // "no response came in time"
///
/// 16 bytes. Copying costs at most one atomic addition, and never allocates. Thread safety: as a
/// value; copies share nothing that can be changed.
class [[nodiscard]] error {
 public:
  using garrick_sendable = void;  ///< an error may be sent

  /// Makes "no error".
  constexpr error() noexcept = default;

  /// Makes an error with this code and without a text. Allocates nothing.
  template <error_enum E>
  error(E code) noexcept : error(static_cast<std::uint32_t>(code), error_category_of(code)) {
    detail::list_category<E>();
  }

  /// Makes an error with this code and the text "where: why". Either part may be empty; if both
  /// are, nothing is allocated. Without memory for the text, the error has its code alone: the
  /// report of a failure must not fail.
  template <error_enum E>
  error(E code, std::string_view where, std::string_view why)
      : error(static_cast<std::uint32_t>(code), error_category_of(code), where, why) {
    detail::list_category<E>();
  }

  /// Makes an error of a code and its category, without the enumeration. Allocates nothing.
  error(std::uint32_t code, const error_category& category) noexcept
      : category_(&category), word_((std::uintptr_t{code} << 1) | 1) {}

  /// Like the constructor above, with the text "where: why"; without memory for it, only the code.
  error(std::uint32_t code, const error_category& category, std::string_view where,
        std::string_view why);

  /// Copies the error. Costs at most one atomic addition.
  constexpr error(const error& other) noexcept : category_(other.category_), word_(other.word_) {
    if (shared()) detail::retain_error_detail(word_);
  }
  /// Takes the error over; `other` is "no error" then.
  constexpr error(error&& other) noexcept
      : category_(std::exchange(other.category_, nullptr)), word_(std::exchange(other.word_, 0)) {}
  constexpr error& operator=(error other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~error() {
    if (shared()) detail::release_error_detail(word_);
  }

  /// Exchanges two errors.
  constexpr void swap(error& other) noexcept {
    std::swap(category_, other.category_);
    std::swap(word_, other.word_);
  }

  /// Returns true if this is an error.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return category_ != nullptr; }

  /// Returns the number of the code within its category; zero if there is no error.
  [[nodiscard]] std::uint32_t code() const noexcept;
  /// Returns the family that the code belongs to; null if there is no error.
  [[nodiscard]] const error_category* category() const noexcept { return category_; }
  /// Returns "where: why", as far as known; otherwise empty. Valid while this object, or a copy of
  /// it, lives.
  [[nodiscard]] std::string_view detail() const noexcept;
  /// Returns the event in the category's words; "no error" if there is none.
  [[nodiscard]] std::string message() const;
  /// Returns the whole text, for logs and people: "event: where: why".
  [[nodiscard]] std::string to_string() const;
  /// Returns a copy with a detail that begins with `where`: for a caller that knows more than the
  /// function that found the error. Returns "no error" for "no error". Without memory, the text is
  /// lost.
  [[nodiscard]] error at(std::string_view where) const;

  /// Returns true if category and code are equal; the text does not count.
  [[nodiscard]] friend bool operator==(const error& a, const error& b) noexcept {
    return a.category_ == b.category_ && a.code() == b.code();
  }
  template <error_enum E>
  [[nodiscard]] friend bool operator==(const error& a, E b) noexcept {
    detail::list_category<E>();
    return a.category_ == &error_category_of(b) && a.code() == static_cast<std::uint32_t>(b);
  }

 private:
  [[nodiscard]] constexpr bool shared() const noexcept { return (word_ & 1) == 0 && word_ != 0; }

  const error_category* category_ = nullptr;
  std::uintptr_t word_ = 0;
};

static_assert(sizeof(error) == 2 * sizeof(void*));

/// Returns an error with a text that tells the place or the cause.
///
///     return make_error(errc::user, "line 7: the price is negative");
///
/// An empty text allocates nothing. Without memory for the text, the error has its code alone.
template <error_enum E>
[[nodiscard]] error make_error(E code, std::string_view detail = {}) {
  return detail.empty() ? error(code) : error(code, std::string_view{}, detail);
}
/// Returns an error as above; the text is "where: why".
template <error_enum E>
[[nodiscard]] error make_error(E code, std::string_view where, std::string_view why) {
  return error(code, where, why);
}

}  // namespace garrick::base
