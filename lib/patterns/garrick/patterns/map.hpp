// Calls a function for every element of a container, several at once (paper 003 §7.2.1).
//
//   map([](int& x) { x *= 2; })                             in place
//   map([](pixel& p, std::size_t at) { … })                 with the element's number
//   map([](std::span<double> part) { … })                   a piece at a time; or (part, first)
//   map([](const line& l) { return l.size(); })             from a vector to a vector; or (l, at)
//   map<std::deque<int>>([](int& x) { … })                  another container
//
// A container has a size, and its elements are reached by number, as true references; no other part
// of it is used during the work.
//
// Thread safety: patterns are plain values. The function is called by several threads at once, for
// different elements.
#pragma once

#include <garrick/patterns/data_pattern.hpp>
#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/element_function.hpp>
#include <garrick/patterns/team/range_work.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

namespace detail {

/// Returns an object for access to a container's elements by number: if they are contiguous, a
/// pointer, which the called functions cannot change; otherwise the container.
template <class C>
[[nodiscard]] decltype(auto) elements_of(C& all) noexcept {
  using element = std::remove_reference_t<decltype(all[0])>;
  if constexpr (requires {
                  { all.data() } -> std::same_as<element*>;
                })
    return all.data();
  else
    return (all);
}

/// The work of a map that changes its container in place.
template <class F, class C>
class map_in_place final : public answered_work<C, range_work> {
  using kind = element_function<F>;

 public:
  map_in_place(const F& f, C&& all, const cut& c, std::string name)
      : answered_work<C, range_work>(c, kind::takes_range, std::move(name)),
        f_(f),
        all_(std::move(all)) {}

 private:
  void run(const piece& part) noexcept override {
    std::size_t i = part.begin;
    try {
      if constexpr (kind::takes_range) {
        kind::call_with_range(f_, all_.data() + part.begin, part.end - part.begin, part.begin);
      } else {
        auto&& elements = elements_of(all_);
        for (const std::size_t end = part.end; i < end; ++i) kind::change(f_, elements[i], i);
      }
    } catch (...) { this->failed(kind::takes_range ? "piece at" : "element", i); }
  }
  C take() override { return std::move(all_); }

  const F f_;
  C all_;
};

/// The work of a map from a container to a vector.
template <class F, class C, class U>
class map_to_another final : public answered_work<std::vector<U>, range_work> {
  using kind = element_function<F>;

 public:
  map_to_another(const F& f, C&& all, const cut& c, std::string name)
      : answered_work<std::vector<U>, range_work>(c, false, std::move(name)),
        f_(f),
        all_(std::move(all)),
        results_(this->size()) {}

 private:
  void run(const piece& part) noexcept override {
    std::size_t i = part.begin;
    try {
      auto&& elements = elements_of(all_);
      U* const results = results_.data();
      for (const std::size_t end = part.end; i < end; ++i)
        results[i] = kind::result_of(f_, elements[i], i);
    } catch (...) { this->failed_at(i); }
  }
  std::vector<U> take() override {
    const C gone = std::move(all_);  // a late helper may keep this object alive for longer
    return std::move(results_);
  }

  const F f_;
  C all_;
  std::vector<U> results_;
};

/// The body of a map.
template <class F, class C>
struct map_body {
  using kind = element_function<F>;
  using element = typename kind::element;
  using made = typename kind::made;
  static constexpr bool in_place = std::is_void_v<made> || std::is_same_v<made, element>;
  using input = C;
  using output = std::conditional_t<in_place, C, std::vector<made>>;
  using work = std::conditional_t<in_place, map_in_place<F, C>, map_to_another<F, C, made>>;

  F f;

  [[nodiscard]] std::shared_ptr<awaited_work<output>> begin(input&& all,
                                                            const cut_options& o) const {
    const std::size_t n = all.size();
    const std::size_t each = pieces_each(n, o.hands);
    const cut c = o.chunk != 0 ? cut::by_length(n, o.chunk) : cut::for_hands(n, o.hands, each);
    return share_work<output>(new work(f, std::move(all), c, o.name));
  }

 private:
  /// Returns the number of pieces for each participant. If each has several pieces, the others do
  /// the rest of a participant that is late. But many participants that claim often get in each
  /// other's way (docs/internals/simulated-machine.md), so each of many gets fewer pieces. A
  /// function that takes a piece gets as few pieces as possible.
  [[nodiscard]] static constexpr std::size_t pieces_each(std::size_t elements,
                                                         std::size_t hands) noexcept {
    if (kind::takes_range) return 1;
    const std::size_t least = std::clamp<std::size_t>(256 / hands, 4, 16);
    return std::clamp<std::size_t>(elements / hands / 64, least, 4 * least);
  }
};

}  // namespace detail

/// Returns a pattern that calls `f` for every element, several at once; the forms are at the top of
/// this file. The result is the container with its changes, or, if `f` returns another type, a
/// vector of the results in the order of the elements. If `f` throws, no further piece is worked
/// on, the request fails and the container is dropped. C is a std::vector unless it is given.
///
/// A result type other than the element's is default-constructible and can be assigned, and is not
/// bool.
template <class C = void, class F>
[[nodiscard]] auto map(F f) {
  using check = detail::map_check<F, C>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using container = detail::container_for<C, F>;
    return data_pattern<detail::map_body<F, container>>({std::move(f)}, "map");
  } else {
    return detail::refused_pattern();
  }
}

}  // namespace garrick::patterns
