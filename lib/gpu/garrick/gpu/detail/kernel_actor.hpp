// The actor behind a kernel's handle.
//
// Private: installed because templates need it.
//
// Thread safety: like actors.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/garrick.hpp>
#include <garrick/gpu/detail/kernel_base.hpp>
#include <garrick/gpu/detail/kernel_shape.hpp>
#include <garrick/gpu/detail/ordered_answers.hpp>
#include <garrick/gpu/error.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::gpu {

/// A result of a pre-processing function: a range for this request, and the kernel's arguments.
template <class... Ts>
struct prepared {
  nd_range range;  ///< used in place of the actor's range
  std::tuple<Ts...>
      values;  ///< the arguments in the order of the kernel's signature, without local ones
};

/// The type of `as_is`.
struct as_is_t {};
/// Stands for an absent pre- or post-processing function.
inline constexpr as_is_t as_is{};

namespace detail {

template <class Tuple>
struct preparation {
  error why{};
  std::optional<nd_range> range{};
  std::optional<Tuple> values{};
};
/// Converts each possible result of a pre-processing function to one type.
template <class Tuple>
struct prepare_from {
  static preparation<Tuple> of(Tuple&& t) { return {{}, {}, std::move(t)}; }
  template <class... Ts>
    requires std::is_same_v<std::tuple<Ts...>, Tuple>
  static preparation<Tuple> of(prepared<Ts...>&& p) {
    return {{}, p.range, std::move(p.values)};
  }
  template <class T>
    requires std::is_same_v<std::tuple<T>, Tuple>
  static preparation<Tuple> of(T&& t) {
    return {{}, {}, Tuple(std::move(t))};
  }
  template <class T>
  static preparation<Tuple> of(result<T>&& r) {
    if (!r) return {r.error(), {}, {}};
    return of(*std::move(r));
  }
};

/// The types of a function's arguments and result.
template <class F>
struct function_types : function_types<decltype(&F::operator())> {};
template <class R, class... As>
struct function_types<R (*)(As...)> {
  using result_type = R;
  using arguments = list<std::decay_t<As>...>;
};
template <class R, class C, class... As>
struct function_types<R (C::*)(As...) const> : function_types<R (*)(As...)> {};
template <class R, class C, class... As>
struct function_types<R (C::*)(As...)> : function_types<R (*)(As...)> {};

/// The messages of the actor: the kernel's, or the arguments of the function before it.
template <class Shape, class Pre>
struct messages_with {
  using type = typename function_types<Pre>::arguments;
};
template <class Shape>
struct messages_with<Shape, as_is_t> {
  using type = typename Shape::messages;
};
/// The values of the actor's answers.
template <class Shape, class Post>
struct answers_with {
  using type = typename outputs_of<typename function_types<Post>::result_type>::type;
};
template <class Shape>
struct answers_with<Shape, as_is_t> {
  using type = typename Shape::answers;
};

template <class... As>
struct answer_type {
  using type = result<As...>;
};
template <>
struct answer_type<> {
  using type = result<void>;
};

template <class Messages, class Answers>
struct kernel_protocol;
template <class... Ms, class... As>
struct kernel_protocol<list<Ms...>, list<As...>> {
  using type = protocol<typename answer_type<As...>::type(Ms...)>;
};

template <class Shape, class Pre, class Post, class Messages, class Answers>
class kernel_actor_of;

template <class Shape, class Pre, class Post, class... Ms, class... As>
class kernel_actor_of<Shape, Pre, Post, list<Ms...>, list<As...>>
    : public actor<protocol<typename answer_type<As...>::type(Ms...)>>, private kernel_base {
  using answer = answer_of<As...>;
  using message_tuple = typename Shape::message_tuple;
  using typed = typed_call<Shape, placed_call>;

 public:
  explicit kernel_actor_of(kernel_seed s, Pre pre, Post post)
      : kernel_base(std::move(s), Shape::facts), pre_(std::move(pre)), post_(std::move(post)) {}

  answer on(Ms... ms) {
    response_promise<As...> promise = this->template make_promise<As...>();
    answer later = promise;
    const ticket t = order_.enter(this->sender_id(), std::move(promise));
    try {
      begin(t, std::move(ms)...);
    } catch (...) { order_.settle(t, thrown_by("a request", this->where())); }
    return later;
  }

 private:
  void begin(const ticket& t, Ms&&... ms) {
    preparation<message_tuple> p = values_of(std::move(ms)...);
    if (p.why) return order_.settle(t, p.why);
    auto* const made = new typed(*std::move(p.values));
    made->place = t;
    std::shared_ptr<call> c = base::shared_as<call>(made);
    if (error why = this->prepare(*made, p.range)) return order_.settle(t, why);
    order_.waits_for(t, c);
    this->launch(*this, std::move(c));
  }
  preparation<message_tuple> values_of(Ms&&... ms) {
    if constexpr (std::is_same_v<Pre, as_is_t>)
      return {{}, {}, message_tuple(std::move(ms)...)};
    else
      return prepare_from<message_tuple>::of(pre_(std::move(ms)...));
  }
  void settled(const std::shared_ptr<call>& c, const error& why) override {
    auto& of = static_cast<typed&>(*c);
    const ticket t = of.place;
    if (why) return order_.settle(t, why);
    try {
      order_.settle(t, finish(of.take()));
    } catch (...) { order_.settle(t, thrown_by("the answer", this->where())); }
  }
  answer finish(typename Shape::answer_tuple&& values) {
    if constexpr (!std::is_same_v<Post, as_is_t>) {
      if constexpr (sizeof...(As) == 0) {
        std::apply([&](auto&&... xs) { post_(std::move(xs)...); }, std::move(values));
        return {};
      } else {
        return std::apply([&](auto&&... xs) -> answer { return post_(std::move(xs)...); },
                          std::move(values));
      }
    } else if constexpr (sizeof...(As) == 1) {
      return answer(std::get<0>(std::move(values)));
    } else {
      return std::apply([](auto&&... xs) { return answer(std::move(xs)...); }, std::move(values));
    }
  }

  [[no_unique_address]] Pre pre_;
  [[no_unique_address]] Post post_;
  ordered_answers<As...> order_;
};

/// The actor for a signature and its functions.
template <class Sig, class Pre = as_is_t, class Post = as_is_t>
using kernel_actor = kernel_actor_of<kernel_shape<Sig>, Pre, Post,
                                     typename messages_with<kernel_shape<Sig>, Pre>::type,
                                     typename answers_with<kernel_shape<Sig>, Post>::type>;

}  // namespace detail
}  // namespace garrick::gpu
