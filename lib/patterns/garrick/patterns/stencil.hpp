// Stencils: each element is computed from its neighbours, again and again, several elements at
// once.
//
//   stencil([](const neighbourhood<double>& n) { return (n[-1] + n[0] + n[+1]) / 3; }, 1, 100)
//   stencil([](const grid_neighbourhood<bool>& n) { … }, 1, 1, edges::wrap)         on a grid<bool>
//
// In each iteration all elements are made from those of the iteration before: there are two
// containers, which swap their roles. So the result does not depend on how the work is shared.
//
// Data flow: the container of the request is the first, and the second is made with the request.
// Away from the edges, the function reads the elements where they are. At the edges it reads a copy
// of a stretch's surroundings (detail/surroundings.hpp), so it never asks whether it is at an edge.
//
// Hot path: the loop of `stencil_work::apply`, whose only conditions are those of the function. A
// lambda is inlined there; a function passed by name is not.
//
// Thread safety: patterns are plain values. The function is called by several threads at once, for
// different elements.
#pragma once

#include <garrick/patterns/containers/grid.hpp>
#include <garrick/patterns/data_pattern.hpp>
#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/element_function.hpp>
#include <garrick/patterns/detail/surroundings.hpp>
#include <garrick/patterns/neighbourhood.hpp>
#include <garrick/patterns/team/phase_work.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

namespace detail {

/// Makes a container of the same form, whose elements have no meaning: C(size) if that has as many
/// elements, otherwise a copy.
template <class C>
struct another {
  static C like(const C& c) {
    if constexpr (std::is_constructible_v<C, std::size_t>) {
      C made(c.size());
      if (made.size() == c.size()) return made;  // else the number means something else
    }
    return c;
  }
};
template <class T, class Allocator>
struct another<std::vector<T, Allocator>> {
  using container = std::vector<T, Allocator>;
  static container like(const container& c) { return container(c.size(), c.get_allocator()); }
};
template <class T>
struct another<grid<T>> {
  static grid<T> like(const grid<T>& g) {
    return grid<T>(g.width(), g.height(), typename grid<T>::uninitialised());
  }
};

/// Describes the neighbourhood that a parameter of type A refers to. If there is none, `is` is
/// false.
template <class A>
struct seen_by {
  static constexpr bool is = false;
};
template <class T>
struct seen_by<const neighbourhood<T>&> {
  static constexpr bool is = true;
  static constexpr bool has_rows = false;
  using element = T;
  using container = std::vector<T>;
};
template <class T>
struct seen_by<const grid_neighbourhood<T>&> {
  static constexpr bool is = true;
  static constexpr bool has_rows = true;
  using element = T;
  using container = grid<T>;
};

/// A function of a neighbourhood.
template <class R, class Arguments>
struct stencil_types {
  static constexpr bool fits = false;
};
template <class R, class A>
  requires(seen_by<A>::is)
struct stencil_types<R, list<A>> : seen_by<A> {
  using sees = std::remove_cvref_t<A>;
  static constexpr bool fits = std::is_same_v<std::decay_t<R>, typename seen_by<A>::element> &&
                               !std::is_const_v<typename seen_by<A>::element>;
};
template <class F>
using stencil_function = stencil_types<typename signature_of_stage<F>::result,
                                       typename signature_of_stage<F>::arguments>;

/// The container of a stencil with F, given C; void means that none is given.
template <class C, class F>
using stencil_container =
    std::conditional_t<std::is_void_v<C>, typename stencil_function<F>::container, C>;

template <class F, class C>
class stencil_work final : public answered_work<C, phase_work> {
  using kind = stencil_function<F>;
  using T = typename kind::element;

 public:
  stencil_work(const F& f, const edge_rule<T>& rule, const extent& form, std::uint64_t iterations,
               C&& all, const cut& c, std::string name)
      : answered_work<C, phase_work>(c, iterations, std::move(name)),
        f_(f),
        rule_(rule),
        form_(form),
        ends_in_other_(iterations % 2 != 0),
        all_(std::move(all)) {
    if (this->size() == 0) return;
    other_.emplace(another<C>::like(all_));
    buffers_[0] = all_.data();
    buffers_[1] = other_->data();
  }

 private:
  void run(const piece& part, std::uint64_t iteration) noexcept override {
    std::size_t i = part.begin;
    try {
      surroundings<T> around;
      while (i < part.end) run_stretch(i, part.end, iteration, around);
    } catch (...) {
      char where[64];
      const auto number = static_cast<unsigned long long>(iteration);
      if constexpr (kind::has_rows)
        std::snprintf(where, sizeof where, "iteration %llu, row %zu, column", number,
                      i / form_.width);
      else
        std::snprintf(where, sizeof where, "iteration %llu, element", number);
      this->failed(where, i % form_.width);
    }
  }
  /// Works on a stretch of elements in one row, from number `i` on, of which all or none lie at an
  /// edge. Sets `i` to the next element, or to the element for which the function has thrown.
  void run_stretch(std::size_t& i, std::size_t end, std::uint64_t iteration,
                   surroundings<T>& around) {
    const T* const in = buffers_[iteration % 2];
    T* const out = buffers_[(iteration + 1) % 2] + i;
    const std::size_t x = i % form_.width;
    const std::size_t y = i / form_.width;
    const std::size_t in_row = std::min(end - i, form_.width - x);
    // The elements of this row without an edge in reach are from column `left` to before `right`.
    const bool sees_rows = y >= form_.radius_y && form_.height - y > form_.radius_y;
    const bool any = sees_rows && form_.width > 2 * form_.radius_x;
    const std::size_t left = any ? form_.radius_x : form_.width;
    const std::size_t right = any ? form_.width - form_.radius_x : form_.width;
    if (x >= left && x < right)
      return call(in + i, form_.width, out, std::min(in_row, right - x), x, y, i);
    constexpr std::size_t longest = 256;
    const std::size_t n = std::min({in_row, longest, x < left ? left - x : in_row});
    const T* const copy = around.around(in, form_, rule_, x, y, n);
    call(copy, around.stride(), out, n, x, y, i);
  }
  void call(const T* in, std::size_t stride, T* out, std::size_t n, std::size_t x, std::size_t y,
            std::size_t& i) {
    switch (form_.radius_x) {
      case 1: return apply_with<1>(in, stride, out, n, x, y, i);
      case 2: return apply_with<2>(in, stride, out, n, x, y, i);
      default: return apply(in, stride, out, n, form_.radius_x, x, y, i);
    }
  }
  // A radius that the compiler knows costs no comparisons, if the function is inlined into the
  // loop.
  template <std::size_t Radius>
  [[gnu::flatten]] void apply_with(const T* in, std::size_t stride, T* out, std::size_t n,
                                   std::size_t x, std::size_t y, std::size_t& i) {
    apply(in, stride, out, n, Radius, x, y, i);
  }
  void apply(const T* in, std::size_t stride, T* __restrict out, std::size_t n, std::size_t radius,
             std::size_t x, std::size_t y, std::size_t& i) {
    std::size_t k = 0;
    try {
      for (; k < n; ++k) out[k] = called(f_)(typename kind::sees(in + k, stride, radius, x + k, y));
    } catch (...) {
      i += k;
      throw;
    }
    i += n;
  }
  C take() override {
    // a late helper may keep this object alive for longer
    std::optional<C> other = std::exchange(other_, std::nullopt);
    if (!other || !ends_in_other_) return std::move(all_);
    [[maybe_unused]] const C gone = std::move(all_);
    return *std::move(other);
  }

  const F f_;
  const edge_rule<T> rule_;
  const extent form_;
  const bool ends_in_other_;
  C all_;
  std::optional<C> other_;
  T* buffers_[2] = {nullptr, nullptr};  ///< the inputs of even and of odd iterations
};

/// The body of a stencil.
template <class F, class C>
struct stencil_body {
  using input = C;
  using output = C;
  using element = typename stencil_function<F>::element;

  F f;
  edge_rule<element> rule;
  std::size_t radius;
  std::uint64_t iterations;

  [[nodiscard]] work_of<stencil_body> begin(input&& all, const cut_options& o) const {
    // There are more pieces than participants, so that no participant waits for a late one.
    constexpr std::size_t pieces_each = 4;
    const std::size_t n = all.size();
    extent form{n, 1, radius, 0};
    if constexpr (stencil_function<F>::has_rows) form = {all.width(), all.height(), radius, radius};
    const cut c =
        o.chunk != 0 ? cut::by_length(n, o.chunk) : cut::evenly(n, o.hands * pieces_each, true);
    return share_work<C>(
        new stencil_work<F, C>(f, rule, form, iterations, std::move(all), c, o.name));
  }
};

template <class Function, bool Fits = false>
struct no_stencil_function : failed_check {
  static_assert(Fits,
                "garrick: stencil takes a function that names its types: T(const "
                "neighbourhood<T>&), or T(const grid_neighbourhood<T>&); it gives the new element, "
                "which is a T, too");
};
template <class Element, bool Fits = false>
struct no_stencil_element : failed_check {
  static_assert(Fits,
                "garrick: a stencil has every element twice, and copies those at the edges: they "
                "are default-constructible and can be copied");
};
template <class Container, class Element, bool Fits = false>
struct no_stencil_container : failed_check {
  static_assert(Fits,
                "garrick: the elements of a stencil lie side by side: its container has size(), an "
                "operator[] that gives an Element& and a data(), and can be copied. A function of "
                "grid_neighbourhood<Element> works on a grid<Element>");
};
template <class Rule, class Element, bool Fits = false>
struct no_rule_for_edges : failed_check {
  static_assert(Fits,
                "garrick: beyond the edges of a stencil's container is edges::clamp, edges::wrap, "
                "or edges::constant(value), where the value can become an Element");
};

template <class C, class T, bool HasRows>
inline constexpr bool fits_stencil = holds_a_range<C, T> && std::is_copy_constructible_v<C>;
template <class C, class T>
inline constexpr bool fits_stencil<C, T, true> = std::is_same_v<C, grid<T>>;

template <class F, class C, class Rule>
consteval auto check_stencil() {
  using signature = signature_of_stage<F>;
  if constexpr (!signature::known) {
    return verdict<no_stencil_function<typename called_of<F>::type>>;
  } else if constexpr (!stencil_function<F>::fits) {
    return verdict<no_stencil_function<typename signature::type>>;
  } else if constexpr (!passes<part_check<F>>) {
    return verdict<part_check<F>>;
  } else if constexpr (!is_constant<F, typename signature::arguments>) {
    return verdict<element_function_has_a_state<typename signature::type>>;
  } else {
    using T = typename stencil_function<F>::element;
    using container = stencil_container<C, F>;
    if constexpr (!std::is_default_constructible_v<T> || !std::is_copy_assignable_v<T> ||
                  !base::copyable_message<T>)
      return verdict<no_stencil_element<T>>;
    else if constexpr (!fits_stencil<container, T, stencil_function<F>::has_rows>)
      return verdict<no_stencil_container<container, T>>;
    else if constexpr (!std::is_constructible_v<edge_rule<T>, Rule>)
      return verdict<no_rule_for_edges<Rule, T>>;
    else
      return verdict<content_check<container>>;
  }
}
template <class F, class C, class Rule>
using stencil_check = check_of<decltype(check_stencil<F, C, Rule>()), F>;

/// Throws std::invalid_argument for a radius or a number of iterations that is out of range.
inline void check_stencil_numbers(bool has_rows, std::int64_t radius, std::int64_t iterations) {
  // At the edges of a grid the function sees a copy of as many elements as lie within the radius.
  const std::int64_t most = has_rows ? 1 << 10 : 1 << 20;
  if (radius < 0 || radius > most)
    throw std::invalid_argument("garrick: stencil(f, radius, …): a radius is from 0 to " +
                                std::to_string(most) + (has_rows ? " on a grid" : ""));
  if (iterations < 0)
    throw std::invalid_argument("garrick: stencil(f, radius, iterations): iterations is negative");
}

}  // namespace detail

/// Returns a pattern that computes each element from those at most `radius` away, `iterations`
/// times: `f` gets the neighbourhood as the iteration before has left it, and returns the element.
/// The result is the container after the last iteration: the request's own, or one like it. With
/// zero iterations it is unchanged. `beyond` chooses the values beyond the edges: edges::clamp,
/// edges::wrap, or edges::constant(value).
///
/// A function of neighbourhood<T> works on a std::vector<T>, or on a C with contiguous elements; a
/// function of grid_neighbourhood<T> works on a grid<T>. T is default-constructible and can be
/// copied. During the work there are two containers; the second is C(n) if that has n elements,
/// otherwise a copy.
///
/// If `f` throws, the iteration ends, no further one begins, and the container is dropped.
///
/// Throws std::invalid_argument for a radius that is negative or above 2^20, on a grid above 1024,
/// and for a negative number of iterations.
template <class C = void, class F, class Edges = edges::clamp_rule>
[[nodiscard]] auto stencil(F f, std::int64_t radius, std::int64_t iterations, Edges beyond = {}) {
  using check = detail::stencil_check<F, C, Edges>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using body = detail::stencil_body<F, detail::stencil_container<C, F>>;
    detail::check_stencil_numbers(detail::stencil_function<F>::has_rows, radius, iterations);
    return data_pattern<body>({std::move(f), std::move(beyond), static_cast<std::size_t>(radius),
                               static_cast<std::uint64_t>(iterations)},
                              "stencil");
  } else {
    return detail::refused_pattern();
  }
}

}  // namespace garrick::patterns
