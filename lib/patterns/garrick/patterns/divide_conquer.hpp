// A problem is divided until its parts are small. The small parts are solved, several at once, and
// the solutions are put together (paper 003 §7.2.2).
//
// In place, in a container:
//
//   divide_conquer([](std::span<int> all, parts& out) { … out.add(0, left); out.add(right, n); },
//                  [](std::span<int>, const parts&) {},                      // nothing to merge
//                  [](std::span<int> few) { std::sort(few.begin(), few.end()); },
//                  [](std::span<const int> some) { return some.size() < 2000; })
//
// Or with values:
//
//   divide_conquer([](range r) -> std::vector<range> { … },
//                  [](std::vector<long> of_parts) -> long { … },
//                  [](range r) -> long { … },
//                  [](const range& r) { return r.size() < 100; })
//
// Thread safety: patterns are plain values. The functions are called by several threads at once,
// for different parts.
#pragma once

#include <garrick/patterns/data_pattern.hpp>
#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/element_function.hpp>
#include <garrick/patterns/team/tree_work.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

/// The parts that a range is divided into. They do not overlap, and each is smaller than the whole.
class parts {
 public:
  /// The elements from number `begin` of the range to before number `end`.
  struct part {
    std::size_t begin = 0;  ///< the number of its first element in the range
    std::size_t end = 0;    ///< the number behind its last element
  };

  /// For the framework: makes a list without parts, for a range of `whole` elements.
  explicit parts(std::size_t whole) noexcept : whole_(whole) {}

  /// Adds a part behind the last one: from element `begin` of the range to before `end`. Elements
  /// between two parts belong to none. A part without elements is left out. Throws std::logic_error
  /// if the part overlaps with the last one, is not in the range, or is the whole range, which
  /// would be divided for ever; and std::bad_alloc.
  void add(std::size_t begin, std::size_t end) {
    if (begin > end || end > whole_ || (!all_.empty() && begin < all_.back().end))
      throw std::logic_error("garrick: parts::add(): parts lie in the range, one behind the other");
    if (begin == end) return;
    if (end - begin == whole_)
      throw std::logic_error("garrick: parts::add(): a part is smaller than the range");
    all_.push_back({begin, end});
  }
  /// Returns the number of parts.
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// Returns part number `i`. Requires that it exists.
  [[nodiscard]] const part& operator[](std::size_t i) const noexcept { return all_[i]; }
  /// Returns the first part, for a loop over all.
  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  /// Returns the place behind the last part.
  [[nodiscard]] auto end() const noexcept { return all_.end(); }

 private:
  std::size_t whole_;
  std::vector<part> all_;
};

namespace detail {

/// The functions of a divide and conquer.
template <class Divide, class Merge, class Solve, class IsSmall>
struct dividing {
  Divide divide;
  Merge merge;
  Solve solve;
  IsSmall is_small;
};

/// The work of a divide and conquer in place.
template <class Functions, class C>
class divide_range final : public answered_work<C, tree_work> {
  using element = std::remove_cvref_t<decltype(*std::declval<C&>().data())>;
  struct range_node : tree_node {
    piece where;
    parts cuts{0};
    std::vector<range_node> of_parts;
  };

 public:
  divide_range(const Functions& f, C&& all, std::string name)
      : answered_work<C, tree_work>(std::move(name)), f_(f), all_(std::move(all)) {
    root_.where.end = all_.size();
  }
  ~divide_range() override { forget_tree(root_); }
  divide_range(const divide_range&) = delete;
  divide_range& operator=(const divide_range&) = delete;
  [[nodiscard]] std::size_t size() const noexcept override { return root_.where.end; }

 private:
  [[nodiscard]] tree_node& root() noexcept override { return root_; }
  std::vector<tree_node*> solve_or_divide(tree_node& at) override {
    auto& n = static_cast<range_node&>(at);
    const std::span<element> all = range_at(n);
    std::vector<tree_node*> out;
    if (called(f_.is_small)(all)) {
      called(f_.solve)(all);
      return out;
    }
    parts cuts(all.size());
    called(f_.divide)(all, cuts);
    n.of_parts = std::vector<range_node>(cuts.size());
    out.reserve(cuts.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      range_node& part = n.of_parts[i];
      part.parent = &n;
      part.where = {0, n.where.begin + cuts[i].begin, n.where.begin + cuts[i].end};
      out.push_back(&part);
    }
    n.cuts = std::move(cuts);
    if (out.empty()) called(f_.merge)(all, std::as_const(n.cuts));
    return out;
  }
  void put_together(tree_node& at) override {
    auto& n = static_cast<range_node&>(at);
    called(f_.merge)(range_at(n), std::as_const(n.cuts));
  }
  void forget_parts(tree_node& at) noexcept override { forget_tree(static_cast<range_node&>(at)); }
  [[nodiscard]] std::size_t place_of(const tree_node& n) const noexcept override {
    return static_cast<const range_node&>(n).where.begin;
  }
  [[nodiscard]] bool goes_by_depth() const noexcept override { return false; }
  [[nodiscard]] std::span<element> range_at(const range_node& n) noexcept {
    return {all_.data() + n.where.begin, n.where.end - n.where.begin};
  }
  C take() override { return std::move(all_); }

  const Functions f_;
  C all_;
  range_node root_;
};

/// The work of a divide and conquer with values.
template <class Functions, class Problem, class Value>
class divide_value final : public answered_work<Value, tree_work> {
  struct value_node : tree_node {
    std::optional<Problem> problem;
    std::optional<Value> value;
    std::vector<value_node> of_parts;
  };

 public:
  divide_value(const Functions& f, Problem&& whole, std::string name)
      : answered_work<Value, tree_work>(std::move(name)), f_(f) {
    root_.problem.emplace(std::move(whole));
  }
  ~divide_value() override { forget_tree(root_); }
  divide_value(const divide_value&) = delete;
  divide_value& operator=(const divide_value&) = delete;
  [[nodiscard]] std::size_t size() const noexcept override { return 1; }

 private:
  [[nodiscard]] tree_node& root() noexcept override { return root_; }
  std::vector<tree_node*> solve_or_divide(tree_node& at) override {
    auto& n = static_cast<value_node&>(at);
    std::vector<tree_node*> out;
    if (called(f_.is_small)(std::as_const(*n.problem))) {
      n.value.emplace(called(f_.solve)(*std::move(n.problem)));
      n.problem.reset();
      return out;
    }
    std::vector<Problem> some = called(f_.divide)(*std::move(n.problem));
    n.problem.reset();
    n.of_parts = std::vector<value_node>(some.size());
    out.reserve(some.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      value_node& part = n.of_parts[i];
      part.parent = &n;
      part.problem.emplace(std::move(some[i]));
      out.push_back(&part);
    }
    if (out.empty()) put_together(n);
    return out;
  }
  void put_together(tree_node& at) override {
    auto& n = static_cast<value_node&>(at);
    std::vector<Value> some;
    some.reserve(n.of_parts.size());
    for (value_node& part : n.of_parts) some.push_back(*std::move(part.value));
    n.value.emplace(called(f_.merge)(std::move(some)));
  }
  void forget_parts(tree_node& at) noexcept override { forget_tree(static_cast<value_node&>(at)); }
  [[nodiscard]] std::size_t place_of(const tree_node& n) const noexcept override {
    std::size_t depth = 0;
    for (const tree_node* p = n.parent; p != nullptr; p = p->parent) ++depth;
    return depth;
  }
  [[nodiscard]] bool goes_by_depth() const noexcept override { return true; }
  Value take() override { return *std::move(root_.value); }

  const Functions f_;
  value_node root_;
};

/// The body of a divide and conquer in place.
template <class Functions, class C>
struct divide_range_body {
  static constexpr bool has_pieces = false;
  using input = C;
  using output = C;
  Functions f;
  [[nodiscard]] std::shared_ptr<awaited_work<C>> begin(C&& all, const cut_options& o) const {
    return share_work<C>(new divide_range<Functions, C>(f, std::move(all), o.name));
  }
};
/// The body of a divide and conquer with values.
template <class Functions, class Problem, class Value>
struct divide_value_body {
  static constexpr bool has_pieces = false;
  using input = Problem;
  using output = Value;
  Functions f;
  [[nodiscard]] std::shared_ptr<awaited_work<Value>> begin(Problem&& p,
                                                           const cut_options& o) const {
    return share_work<Value>(new divide_value<Functions, Problem, Value>(f, std::move(p), o.name));
  }
};

/// The kinds of the functions, found by the type of `solve`.
template <class Solve>
struct divided_by {
  static constexpr bool known = false;
};
template <class Solve>
  requires(signature_of_stage<Solve>::known && signature_of_stage<Solve>::arity == 1)
struct divided_by<Solve> {
  static constexpr bool known = true;
  using argument = argument_of<0, Solve>;
  static constexpr bool in_place = range_of<argument>::is;
  using element = typename range_of<argument>::element;
  using value = std::decay_t<typename signature_of_stage<Solve>::result>;
};

template <class Divide, class Merge, class Solve, class IsSmall, bool Fit = false>
struct no_divide_conquer : failed_check {
  static_assert(Fit,
                "garrick: divide_conquer(divide, merge, solve, is_small) takes, in place, "
                "void(std::span<T>, parts&), void(std::span<T>, const parts&), void(std::span<T>) "
                "and bool(std::span<const T>); or std::vector<P>(P), V(std::vector<V>), V(P) and "
                "bool(const P&). They name their types and change nothing that is bound to them");
};

/// Returns true if F can be called with Args and returns nothing. A coroutine does not fit: it
/// would never be run, and it could keep the range.
template <class F, class... Args>
consteval bool gives_nothing() {
  if constexpr (std::is_invocable_v<F, Args...>)
    return std::is_void_v<std::invoke_result_t<F, Args...>>;
  else
    return false;
}
template <class Divide, class Merge, class Solve, class IsSmall>
consteval bool fits_in_place() {
  using T = typename divided_by<Solve>::element;
  using all = std::span<T>;
  return gives_nothing<callee<const Solve>, all>() &&
         std::is_invocable_r_v<bool, callee<const IsSmall>, all> &&
         gives_nothing<callee<const Divide>, all, parts&>() &&
         gives_nothing<callee<const Merge>, all, const parts&>();
}
template <class Divide, class Merge, class Solve, class IsSmall>
consteval bool fits_with_values() {
  using P = typename divided_by<Solve>::argument;
  using V = typename divided_by<Solve>::value;
  if constexpr (std::is_void_v<V>)
    return false;
  else if constexpr (std::is_invocable_r_v<V, callee<const Merge>, std::vector<V>>)
    return std::is_invocable_r_v<V, callee<const Solve>, P> &&
           std::is_invocable_r_v<bool, callee<const IsSmall>, const P&> &&
           std::is_invocable_r_v<std::vector<P>, callee<const Divide>, P> &&
           keeps_values<std::invoke_result_t<callee<const Merge>, std::vector<V>>, V>();
  else
    return false;
}
template <class C, class T>
using range_for = std::conditional_t<std::is_void_v<C>, std::vector<T>, C>;

template <class C, class Divide, class Merge, class Solve, class IsSmall>
consteval auto check_divide_conquer() {
  using parts_of_it =
      first_failure<part_check<Divide>, part_check<Merge>, part_check<Solve>, part_check<IsSmall>>;
  using misfit = no_divide_conquer<Divide, Merge, Solve, IsSmall>;
  if constexpr (!divided_by<Solve>::known) {
    return verdict<misfit>;
  } else if constexpr (divided_by<Solve>::in_place) {
    using T = typename divided_by<Solve>::element;
    using container = range_for<C, T>;
    if constexpr (!fits_in_place<Divide, Merge, Solve, IsSmall>())
      return verdict<misfit>;
    else if constexpr (!holds_a_range<container, T>)
      return verdict<no_container_of_elements<container, T>>;
    else
      return verdict<first_failure<parts_of_it, content_check<container>>>;
  } else if constexpr (!fits_with_values<Divide, Merge, Solve, IsSmall>()) {
    return verdict<misfit>;
  } else {
    return verdict<first_failure<parts_of_it, content_check<typename divided_by<Solve>::argument>,
                                 content_check<typename divided_by<Solve>::value>>>;
  }
}
template <class C, class Divide, class Merge, class Solve, class IsSmall>
using divide_conquer_check =
    check_of<decltype(check_divide_conquer<C, Divide, Merge, Solve, IsSmall>()), Divide, Merge,
             Solve, IsSmall>;

}  // namespace detail

/// Returns a pattern that divides a problem until `is_small` is true of each part, solves the
/// parts, several at once, and merges them, from the small ones up; the forms are at the top of
/// this file. A problem that is divided into no parts is merged at once. In place, the result is
/// the container; with values, the result of the last merge, or of `solve` for a small problem. A
/// function that throws fails the request; the error says "part at" and the part's first element,
/// or with values "part at depth" and the number of divisions that led to the part. For a `merge`
/// that gets parts, the error says "merge at" instead. There is no `dynamic(chunk)`: `is_small`
/// says how large a part may be.
/// C is a std::vector unless it is given; its elements must be contiguous.
///
/// A part should take 10 µs or more: for less, let `is_small` be true.
template <class C = void, class Divide, class Merge, class Solve, class IsSmall>
[[nodiscard]] auto divide_conquer(Divide divide, Merge merge, Solve solve, IsSmall is_small) {
  using check = detail::divide_conquer_check<C, Divide, Merge, Solve, IsSmall>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using functions = detail::dividing<Divide, Merge, Solve, IsSmall>;
    using by = detail::divided_by<Solve>;
    functions f{std::move(divide), std::move(merge), std::move(solve), std::move(is_small)};
    if constexpr (by::in_place) {
      using container = detail::range_for<C, typename by::element>;
      return data_pattern<detail::divide_range_body<functions, container>>({std::move(f)},
                                                                           "divide_conquer");
    } else {
      using body = detail::divide_value_body<functions, typename by::argument, typename by::value>;
      return data_pattern<body>({std::move(f)}, "divide_conquer");
    }
  } else {
    return detail::refused_pattern();
  }
}

}  // namespace garrick::patterns
