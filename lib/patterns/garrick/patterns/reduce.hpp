// Computes one value from all elements of a container, several at once (paper 003 §2.3.2.5).
//
//   reduce([](const order& o) { return o.cents; }, [](long a, long b) { return a + b; })
//
// The result does not depend on the number or the speed of the helpers, not even in the last bit of
// a floating-point number: the container is cut into pieces by its size alone, each piece is
// reduced from its first element to its last, and the pieces' values are put together in their
// order.
//
// Thread safety: patterns are plain values. The functions are called by several threads at once.
#pragma once

#include <garrick/patterns/data_pattern.hpp>
#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/element_function.hpp>
#include <garrick/patterns/team/range_work.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

namespace detail {

template <class F, class Combine, class C, class Value>
class reduce_work final : public answered_work<Value, range_work> {
  using kind = element_function<F>;

 public:
  reduce_work(const F& f, const Combine& combine, const Value& of_nothing, C&& all, const cut& c,
              std::string name)
      : answered_work<Value, range_work>(c, false, std::move(name)),
        f_(f),
        combine_(combine),
        of_nothing_(of_nothing),
        all_(std::move(all)),
        values_(c.pieces) {}

 private:
  void run(const piece& part) noexcept override {
    std::size_t i = part.begin;
    try {
      std::optional<Value>& kept = values_[part.number];
      Value so_far = kept ? *std::move(kept) : Value(kind::result_of(f_, all_[i], i));
      if (!kept) ++i;
      for (; i < part.end; ++i)
        so_far = called(combine_)(std::move(so_far), kind::result_of(f_, all_[i], i));
      kept = std::move(so_far);
    } catch (...) { this->failed_at(i); }
  }
  Value take() override {
    const C gone = std::move(all_);  // a late helper may keep this object alive for longer
    if (values_.empty()) return std::move(of_nothing_);
    Value whole = *std::move(values_.front());
    for (std::size_t i = 1; i < values_.size(); ++i)
      whole = called(combine_)(std::move(whole), *std::move(values_[i]));
    return whole;
  }

  const F f_;
  const Combine combine_;
  Value of_nothing_;
  C all_;
  std::vector<std::optional<Value>> values_;  ///< the value of each piece so far
};

/// The body of a reduce.
template <class F, class Combine, class C>
struct reduce_body {
  using input = C;
  using output = typename element_function<F>::made;

  F f;
  Combine combine;
  output of_nothing;

  [[nodiscard]] std::shared_ptr<awaited_work<output>> begin(input&& all,
                                                            const cut_options& o) const {
    const std::size_t n = all.size();
    const cut c = o.chunk != 0 ? cut::by_length(n, o.chunk) : cut::evenly(n, pieces, false);
    return share_work<output>(
        new reduce_work<F, Combine, C, output>(f, combine, of_nothing, std::move(all), c, o.name));
  }

 private:
  /// The number of pieces does not depend on that of the helpers, so that the result does not.
  static constexpr std::size_t pieces = 256;
};

template <class Function, bool Fits = false>
struct reduce_takes_no_such_function : failed_check {
  static_assert(Fits,
                "garrick: reduce(f, combine) takes a function `Value f(const T&)` that names its "
                "types; a second parameter, std::size_t, gets the element's number");
};
template <class Function, class Value, bool Fits = false>
struct reduce_cannot_combine_values : failed_check {
  static_assert(
      Fits,
      "garrick: reduce(f, combine) takes a function `Value combine(Value, Value)` that can be "
      "called by several threads at once; Value is f's result, can be copied, and a number keeps "
      "its value on the way into combine and out of it");
};

/// Returns true if Combine can combine two values, and a number keeps its value on the way into
/// Combine and out of it.
template <class Combine, class Value>
consteval bool can_combine() {
  if constexpr (!std::is_invocable_r_v<Value, callee<const Combine>, Value, Value>)
    return false;
  else if constexpr (signature_of_stage<Combine>::known)
    return combines<Combine, Value>;
  else
    return gives_value<std::invoke_result_t<callee<const Combine>, Value, Value>, Value>();
}

template <class F, class Combine, class C>
consteval auto check_reduce() {
  if constexpr (!passes<element_function_check<F>>) {
    return verdict<element_function_check<F>>;
  } else {
    using Value = typename element_function<F>::made;
    if constexpr (std::is_void_v<Value>)
      return verdict<reduce_takes_no_such_function<typename signature_of_stage<F>::type>>;
    else if constexpr (!can_combine<Combine, Value>() || !base::copyable_message<Value>)
      return verdict<reduce_cannot_combine_values<Combine, Value>>;
    else
      return verdict<first_failure<container_check<F, C>, part_check<Combine>, value_check<Value>>>;
  }
}
template <class F, class Combine, class C>
using reduce_check = check_of<decltype(check_reduce<F, Combine, C>()), F, Combine>;

}  // namespace detail

/// Returns a pattern that computes combine(f(element 0), combine(f(element 1), …)) of a container,
/// in some bracketing that depends on the container's size and on the chunk alone. So `combine`
/// must be associative, at least about as much as a sum of floating-point numbers; it need not be
/// commutative. The result for a container without elements is `of_nothing`, `{}` by default, which
/// has no other use. `dynamic(chunk)` cuts the container into pieces of that many elements; by
/// default there are 256 pieces. The value is a message, and can be copied. If a function throws,
/// the request fails, and the container is dropped. C is a std::vector unless it is given.
template <class C = void, class F, class Combine>
[[nodiscard]] auto reduce(F f, Combine combine, detail::value_made_of<F> of_nothing = {}) {
  using check = detail::reduce_check<F, Combine, C>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using body = detail::reduce_body<F, Combine, detail::container_for<C, F>>;
    return data_pattern<body>({std::move(f), std::move(combine), std::move(of_nothing)}, "reduce");
  } else {
    return detail::refused_pattern();
  }
}

}  // namespace garrick::patterns
