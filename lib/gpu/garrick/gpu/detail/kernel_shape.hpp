// The parts of a kernel's signature: the message, the kernel's parameters, the answer.
//
// Private: installed because templates need it.
//
// Thread safety: compile time, and functions on one call.
#pragma once

#include <garrick/gpu/arguments.hpp>
#include <garrick/gpu/detail/call.hpp>
#include <garrick/gpu/detail/kernel_base.hpp>
#include <garrick/gpu/detail/kernel_check.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::gpu::detail {

template <class... Ts>
struct list {};

template <class A, class B>
struct joined;
template <class... As, class... Bs>
struct joined<list<As...>, list<Bs...>> {
  using type = list<As..., Bs...>;
};

/// A parameter P: its part in the message and in the answer, if any.
template <class P>
struct parameter_of {
  static_assert(is_plain<P>,
                "garrick: a kernel's parameter is a container (std::vector, std::array, "
                "std::basic_string, pinned), a device_ref, in_out of one, local<T>, or a value "
                "that can be copied byte by byte and is no bool and no pointer");
  using messages = list<P>;
  using answers = list<>;
  using element = P;
  static constexpr argument_kind kind = argument_kind::scalar;
};
template <class C>
  requires(host_container<C>::is || device_container<C>::is)
struct parameter_of<C> {
  using messages = list<C>;
  using answers = list<>;
  using element = typename element_of<C>::type;
  static constexpr argument_kind kind = argument_kind::input;
  static_assert(is_plain<element>, "garrick: a device's elements can be copied byte by byte");
};
template <class C>
struct parameter_of<in_out<C>> {
  static_assert(host_container<C>::is || device_container<C>::is,
                "garrick: in_out<C> is of a container or a device_ref");
  using messages = list<C>;
  using answers = list<C>;
  using element = typename element_of<C>::type;
  static constexpr argument_kind kind = argument_kind::in_out;
  static_assert(is_plain<element>, "garrick: a device's elements can be copied byte by byte");
};
template <class T>
struct parameter_of<local<T>> {
  static_assert(is_plain<T>, "garrick: a device's elements can be copied byte by byte");
  using messages = list<>;
  using answers = list<>;
  using element = T;
  static constexpr argument_kind kind = argument_kind::local;
};

template <class... Ls>
struct all_joined {
  using type = list<>;
};
template <class L, class... Rest>
struct all_joined<L, Rest...> {
  using type = typename joined<L, typename all_joined<Rest...>::type>::type;
};

/// The outputs that a result type stands for.
template <class R>
struct outputs_of {
  using type = list<R>;
};
template <>
struct outputs_of<void> {
  using type = list<>;
};
template <class... Rs>
struct outputs_of<result<Rs...>> {
  using type = list<Rs...>;
};
template <>
struct outputs_of<result<void>> {
  using type = list<>;
};

template <class R>
struct output_check {
  static constexpr bool passed = true;
  static_assert(host_container<R>::is || device_container<R>::is,
                "garrick: a kernel's output is a container or a device_ref");
};

/// A separate class, since clang would skip the rest of a class after a failed assertion, and
/// report all its names as missing.
template <class Answers>
struct answers_check {
  static constexpr bool passed = true;
  static_assert(!std::is_same_v<Answers, list<>>,
                "garrick: this kernel answers with nothing: name an output, or an in_out argument");
};

template <class L>
struct as_tuple;
template <class... Ts>
struct as_tuple<list<Ts...>> {
  using type = std::tuple<Ts...>;
};

template <class P>
constexpr expected_parameter expected_of() {
  using kind = expected_parameter::kind;
  using of = parameter_of<P>;
  return {.what = of::kind == argument_kind::local    ? kind::local
                  : of::kind == argument_kind::scalar ? kind::value
                                                      : kind::memory,
          .type = kernel_type_name<typename of::element>,
          .is_written = of::kind == argument_kind::in_out,
          .is_shared = of::kind == argument_kind::input && device_container<P>::is,
          .bytes = sizeof(typename of::element)};
}
template <class R>
constexpr expected_parameter expected_output() {
  using element = typename element_of<R>::type;
  return {.what = expected_parameter::kind::memory,
          .type = kernel_type_name<element>,
          .is_written = true,
          .bytes = sizeof(element)};
}

/// The number of elements of a container with a fixed size; otherwise 0.
template <class R>
constexpr std::size_t fixed_size() {
  if constexpr (host_container<R>::is)
    return host_container<R>::fixed;
  else
    return 0;
}

/// Returns a container's result after its call has succeeded.
template <class C>
[[nodiscard]] C taken(C& host, argument& a) {
  if constexpr (device_container<C>::is)
    return C(std::move(a.buffer));
  else if constexpr (host_container<C>::is_pinned)
    return a.kind == argument_kind::output ? C(std::move(a.host_memory)) : std::move(host);
  else
    return std::move(host);
}

/// The signature R(Ps...).
template <class Sig>
struct kernel_shape;
template <class R, class... Ps>
struct kernel_shape<R(Ps...)> {
  using messages = typename all_joined<typename parameter_of<Ps>::messages...>::type;
  using outputs = typename outputs_of<R>::type;
  using answers = typename joined<typename all_joined<typename parameter_of<Ps>::answers...>::type,
                                  outputs>::type;
  using message_tuple = typename as_tuple<messages>::type;
  using output_tuple = typename as_tuple<outputs>::type;
  using answer_tuple = typename as_tuple<answers>::type;
  static constexpr std::size_t parameters = sizeof...(Ps);
  static constexpr std::size_t made = std::tuple_size_v<output_tuple>;
  static constexpr std::size_t locals =
      (std::size_t{0} + ... + (parameter_of<Ps>::kind == argument_kind::local ? 1 : 0));
  static constexpr std::size_t containers =
      (std::size_t{0} + ... +
       (parameter_of<Ps>::kind == argument_kind::input ||
                parameter_of<Ps>::kind == argument_kind::in_out
            ? 1
            : 0));
  static_assert(answers_check<answers>::passed);

  /// The kinds of the parameters.
  static constexpr std::array<argument_kind, parameters> kinds{parameter_of<Ps>::kind...};

  /// The parameters that the kernel must have, outputs last.
  static constexpr auto expected = []<class... Os>(list<Os...>) {
    static_assert((output_check<Os>::passed && ...));
    return std::array<expected_parameter, parameters + sizeof...(Os)>{expected_of<Ps>()...,
                                                                      expected_output<Os>()...};
  }(outputs{});

  /// Bytes of an element of each output.
  static constexpr auto output_bytes = []<class... Os>(list<Os...>) {
    return std::array<std::size_t, sizeof...(Os)>{sizeof(typename element_of<Os>::type)...};
  }(outputs{});
  /// Bytes of an element of each local argument.
  static constexpr auto local_bytes = [] {
    std::array<std::size_t, locals> all{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < parameters; ++i)
      if (kinds[i] == argument_kind::local) all[at++] = expected[i].bytes;
    return all;
  }();

  /// Elements of each output that is a std::array; otherwise 0.
  static constexpr auto output_sizes = []<class... Os>(list<Os...>) {
    return std::array<std::size_t, sizeof...(Os)>{fixed_size<Os>()...};
  }(outputs{});
  static constexpr kernel_facts facts{.expected = expected,
                                      .containers = containers,
                                      .output_bytes = output_bytes,
                                      .output_sizes = output_sizes,
                                      .local_bytes = local_bytes};

  /// Returns the number of the message for a parameter.
  static constexpr std::size_t message_at(std::size_t parameter) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < parameter; ++i) n += kinds[i] == argument_kind::local ? 0 : 1;
    return n;
  }
  /// Returns the number of the n-th in-out parameter.
  static constexpr std::size_t in_out_at(std::size_t n) {
    for (std::size_t i = 0; i < parameters; ++i)
      if (kinds[i] == argument_kind::in_out && n-- == 0) return i;
    return parameters;
  }

  template <std::size_t I>
  using parameter_type = std::tuple_element_t<I, std::tuple<Ps...>>;
};

/// Makes the memory of an output. A vector's elements are set to zero first.
template <class R>
void make_output(R& out, argument& a, std::size_t n) {
  a.kind = argument_kind::output;
  a.bytes = n * sizeof(typename element_of<R>::type);
  if constexpr (device_container<R>::is) {
    a.stays = true;
  } else if constexpr (host_container<R>::is_pinned) {
    a.pinned = true;
  } else {
    if constexpr (host_container<R>::fixed == 0) out.resize(n);
    a.host = out.data();
  }
}

/// A call that owns its arguments and outputs. `Base` is a kernel_call with the functions that its
/// actor needs.
template <class Shape, class Base>
class typed_call : public Base {
 public:
  using message_tuple = typename Shape::message_tuple;
  using output_tuple = typename Shape::output_tuple;

  explicit typed_call(message_tuple&& m) : messages(std::move(m)) {}

  void sizes(std::size_t* all) const noexcept final {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (..., add_size<I>(all));
    }(std::make_index_sequence<Shape::parameters>{});
  }
  void fill(const launch_plan& plan) final {
    this->arguments.resize(Shape::parameters + Shape::made);
    const std::size_t* next_local = plan.locals.data();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (..., fill_parameter<I>(next_local));
    }(std::make_index_sequence<Shape::parameters>{});
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (...,
       make_output(std::get<I>(outputs), this->arguments[Shape::parameters + I], plan.outputs[I]));
    }(std::make_index_sequence<Shape::made>{});
  }

  /// Returns the in-out arguments, then the outputs. Called once, after success.
  [[nodiscard]] typename Shape::answer_tuple take() {
    constexpr std::size_t changed = std::tuple_size_v<typename Shape::answer_tuple> - Shape::made;
    auto all = [&]<std::size_t... I, std::size_t... O>(std::index_sequence<I...>,
                                                       std::index_sequence<O...>) {
      return typename Shape::answer_tuple(
          taken(std::get<Shape::message_at(Shape::in_out_at(I))>(messages),
                this->arguments[Shape::in_out_at(I)])...,
          taken(std::get<O>(outputs), this->arguments[Shape::parameters + O])...);
    }(std::make_index_sequence<changed>{}, std::make_index_sequence<Shape::made>{});
    // The device no longer needs the arguments: an input's memory loses this holder at once.
    for (argument& a : this->arguments) a.buffer = {};
    messages = {};
    return all;
  }

  message_tuple messages;
  output_tuple outputs;

 private:
  template <std::size_t I>
  void add_size(std::size_t*& all) const noexcept {
    if constexpr (Shape::kinds[I] == argument_kind::input ||
                  Shape::kinds[I] == argument_kind::in_out)
      *all++ = std::get<Shape::message_at(I)>(messages).size();
  }

  template <std::size_t I>
  void fill_parameter(const std::size_t*& next_local) {
    using of = parameter_of<typename Shape::template parameter_type<I>>;
    argument& a = this->arguments[I];
    a.kind = Shape::kinds[I];
    if constexpr (of::kind == argument_kind::local) {
      a.bytes = *next_local++ * sizeof(typename of::element);
    } else {
      auto& m = std::get<Shape::message_at(I)>(messages);
      using message = std::remove_cvref_t<decltype(m)>;
      if constexpr (of::kind == argument_kind::scalar) {
        a.host = &m;
        a.bytes = sizeof m;
      } else {
        a.bytes = m.size() * sizeof(typename of::element);
        if constexpr (device_container<message>::is) {
          // The call keeps one reference only: for an in-out argument, a device checks if it is the
          // last one.
          a.buffer = m.buffer();
          m = {};
          a.stays = true;
        } else {
          a.host = m.data();
        }
      }
    }
  }
};

}  // namespace garrick::gpu::detail
