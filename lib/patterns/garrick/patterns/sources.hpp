// Sources: the beginnings of streams.
//
//   from(std::vector{3, 1, 2})      the elements of a range, each once
//   counting(1, 1'000'001)          whole numbers
//   generate(f)                     the results of f(), until it gives nothing
//   lines_of(path)                  the lines of a file
//
// A stream can also be fed by actors: see stream.hpp. Any function or class that takes no tuple is
// a source, too: see seq.hpp.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/containers/slice.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/seq.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// Puts out the elements of a container; each replica has a copy of it.
template <class Container>
class elements {
 public:
  explicit elements(Container all) : all_(std::move(all)) {}
  elements(const elements& o) : all_(o.all_) {}
  elements(elements&& o) noexcept : all_(std::move(o.all_)) {}
  elements& operator=(const elements&) = delete;
  elements& operator=(elements&&) = delete;
  ~elements() = default;

  bool operator()(emit<std::iter_value_t<decltype(std::declval<Container&>().begin())>> out) {
    if (!begun_) {
      at_ = all_.begin();
      begun_ = true;
    }
    if (at_ == all_.end()) return false;
    const auto here = at_;
    ++at_;  // first, so that an element that throws can be left out
    out(std::move(*here));
    return true;
  }

 private:
  Container all_;
  decltype(std::declval<Container&>().begin()) at_{};
  bool begun_ = false;
};

/// Puts out the lines of a file, which it opens at the start.
class file_lines : public stage_defaults {
 public:
  explicit file_lines(std::string path) : path_(std::move(path)) {}
  file_lines(const file_lines& o) : path_(o.path_) {}
  file_lines(file_lines&&) noexcept = default;
  file_lines& operator=(const file_lines&) = delete;
  ~file_lines() = default;

  void start() {
    file_.emplace(slice_of_file(path_));
    rest_ = file_->whole().text();
  }
  template <class To>
  void stop(To& /*out*/) noexcept {
    file_.reset();
  }
  template <class To>
  bool produce(To& out) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.put(file_->of(line));
    return true;
  }

 private:
  std::string path_;
  std::optional<slicer> file_;
  std::string_view rest_;
};

template <class T>
struct numbers {
  T next;
  T end;
  bool operator()(emit<T> out) {
    if (!(next < end)) return false;
    out(next);
    ++next;
    return true;
  }
};

template <class Container, bool Has = false>
struct from_no_container : failed_check {
  static_assert(
      Has, "garrick: from takes a container, such as a std::vector: from(std::vector{3, 1, 2})");
};
template <class F, bool None = false>
struct generate_takes_tuples : failed_check {
  static_assert(None,
                "garrick: generate takes a function `std::optional<Tuple> f()`, without arguments");
};

template <class C>
using from_check =
    first_failure<unless<requires(C c) { c.begin() != c.end(); }, from_no_container<C>>,
                  part_check<C>>;

}  // namespace detail

/// Returns a source of the elements of a container, which becomes part of the pattern: each spawn
/// puts out a copy.
template <class Container>
[[nodiscard]] auto from(Container all) {
  using check = detail::from_check<Container>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return seq(detail::elements<Container>(std::move(all))).named("from");
  else
    return detail::refused_pattern();
}

/// This overload refuses iterators: `from` takes one container, which the pattern owns.
template <class Call = void>
[[nodiscard]] detail::refused_pattern from(detail::anything /*begin*/, detail::anything /*end*/,
                                           detail::anything /*third*/ = {}) {
  static_assert(detail::from_no_container<Call>::reported);
  return {};
}
/// This overload refuses from({1, 2, 3}).
template <class T>
[[nodiscard]] detail::refused_pattern from(std::initializer_list<T> /*all*/) {
  static_assert(detail::from_no_container<std::initializer_list<T>>::reported);
  return {};
}

/// Returns a source of the whole numbers from `first` to before `end`.
template <std::integral T>
[[nodiscard]] auto counting(T first, T end) {
  return seq(detail::numbers<T>{first, end}).named("counting");
}

/// This overload refuses arguments that are not two whole numbers of one type.
template <class Call = void>
[[nodiscard]] detail::refused_pattern counting(detail::anything /*first*/,
                                               detail::anything /*end*/ = {}) {
  static_assert(detail::is_right_call<Call>,
                "garrick: counting(first, end) takes two whole numbers of one type, as in "
                "counting(0L, n) or counting<long>(0, n)");
  return {};
}

/// Returns a source of the lines of a file, each a `slice` without its line end, "\n" or "\r\n".
/// The last line may lack a line end; an empty file has no lines. The file is mapped into memory
/// when the stream begins. A file that is missing, that may not be read or that is not a regular
/// file ends the stream with an error that names it. If the file is shortened while it is mapped, a
/// read behind its end ends the program (SIGBUS).
[[nodiscard]] inline auto lines_of(std::string path) {
  return seq_stage<detail::file_lines, void, slice>(detail::file_lines(std::move(path)),
                                                    "lines_of");
}

/// Returns a source of the results of `f()`, a std::optional, until a result is empty. Exceptions
/// of `f` follow the stage's policy.
template <class F = detail::several_functions>
[[nodiscard]] auto generate(F f) {
  auto s = seq(std::move(f));
  constexpr bool fits = std::is_void_v<typename decltype(s)::input>;
  static_assert(detail::unless<fits, detail::generate_takes_tuples<F>>::reported);
  if constexpr (fits)
    return s.named("generate");
  else
    return detail::refused_pattern();
}

}  // namespace garrick::patterns
