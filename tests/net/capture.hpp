// The text of a capture, which tools/wire/decode.py reads; tests/net/golden/README.md has its
// format.
//
// Thread safety: one thread at a time.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/types/wire_name.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace garrick_test {

/// The text of a capture.
class capture {
 public:
  /// Makes a capture with times from `begin` on.
  capture(std::string_view stack, garrick::base::instant begin) : begin_(begin) {
    text_ = "# capture 1 of " + std::string(stack) + '\n';
  }
  /// Adds the type `T` with the content `words`, in the words of decode.py. Requires that there is
  /// no record yet.
  template <class T>
  void declare(std::string_view words) {
    text_ += "# type " + std::string(garrick::base::wire_name<T>) + " = " + std::string(words);
    text_ += '\n';
  }
  /// Adds an event of end `i`: `up` or `lost`.
  void note(garrick::base::instant now, std::string_view what, std::size_t i) {
    text_ += time_of(now) + ' ' + std::string(what) + ' ' + name_of(i) + '\n';
  }
  /// Adds bytes that end `to` was given, or those of a datagram for it that never came.
  void bytes(garrick::base::instant now, std::size_t to, std::span<const std::byte> all,
             bool came = true) {
    static constexpr std::string_view digits = "0123456789abcdef";
    const char mark = came ? '>' : '|';
    text_ += time_of(now) + ' ' + name_of(1 - to) + mark + name_of(to) + ' ';
    text_ += std::to_string(all.size());
    for (std::size_t i = 0; i != all.size(); ++i) {
      const auto byte = std::to_integer<std::size_t>(all[i]);
      text_ += i % 32 == 0 ? "\n  " : "";
      text_ += {digits[byte / 16], digits[byte % 16]};
      if (i % 32 != 31 && i + 1 != all.size()) text_ += ' ';
    }
    text_ += '\n';
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  [[nodiscard]] std::string time_of(garrick::base::instant now) const {
    return std::to_string((now - begin_).count() / 1000);
  }
  static char name_of(std::size_t i) { return i == 0 ? 'a' : 'b'; }

  garrick::base::instant begin_;
  std::string text_;
};

}  // namespace garrick_test
