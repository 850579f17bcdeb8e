// Where streams begin.
//
//   from(std::vector{3, 1, 2})      the elements of a range, each once
//   counting(1, 1'000'001)          whole numbers
//   generate(f)                     what f() gives, until it gives nothing
//
// A stream can also be fed by actors: see stream.hpp. Any function or class is a source that takes
// no tuple: see seq.hpp.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/seq.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// Puts out the elements of a container, which each replica has a copy of.
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
    out(std::move(*at_));
    ++at_;
    return true;
  }

 private:
  Container all_;
  decltype(std::declval<Container&>().begin()) at_{};
  bool begun_ = false;
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

}  // namespace detail

/// The elements of a container, which becomes part of the pattern: each spawn puts out a copy.
template <class Container>
[[nodiscard]] auto from(Container all) {
  return seq(detail::elements<Container>(std::move(all))).named("from");
}

/// The whole numbers from `first` on, without `end`.
template <std::integral T>
[[nodiscard]] auto counting(T first, T end) {
  return seq(detail::numbers<T>{first, end}).named("counting");
}

/// What `f()` gives, a std::optional, until it gives nothing.
template <class F>
[[nodiscard]] auto generate(F f) {
  auto s = seq(std::move(f));
  static_assert(std::is_void_v<typename decltype(s)::input>,
                "garrick: generate takes a function without arguments");
  return s.named("generate");
}

}  // namespace garrick::patterns
