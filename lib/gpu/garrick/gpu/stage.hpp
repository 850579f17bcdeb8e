// A kernel as a stage of a stream.
//
//   pipeline(pictures, gpu::stage<pixels(pixels)>(program, "blur", range), store)
//   pipeline(pairs, farm(gpu::stage<…>(…)).replicas(2), store)
//
// A tuple is the message that an actor of the kernel (`gpu::spawn`) takes, or a std::tuple of its
// messages if it takes several. In the same way, a result is the actor's answer, or a std::tuple of
// several values. Results leave in the order of the tuples.
//
// Thread safety: stages are plain values.
#pragma once

#include <garrick/gpu/detail/kernel_stage.hpp>
#include <garrick/gpu/kernel.hpp>
#include <garrick/patterns/patterns.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::gpu {

namespace detail {

template <class L>
struct one_value;
template <class T>
struct one_value<list<T>> {
  using type = T;
};
template <class A, class B, class... Rest>
struct one_value<list<A, B, Rest...>> {
  using type = std::tuple<A, B, Rest...>;
};

/// Returns the only value of a tuple, or the tuple of all values.
template <class T>
T single(std::tuple<T>&& all) {
  return std::get<0>(std::move(all));
}
template <class A, class B, class... Rest>
std::tuple<A, B, Rest...> single(std::tuple<A, B, Rest...>&& all) {
  return std::move(all);
}

/// The types of a stage.
template <class Sig>
using stage_in = typename one_value<typename kernel_shape<Sig>::messages>::type;
template <class Sig>
using stage_out = typename one_value<typename kernel_shape<Sig>::answers>::type;

/// A tuple's call.
template <class Sig>
class typed_stage_call final : public typed_call<kernel_shape<Sig>, stage_call> {
  using in = stage_in<Sig>;

 public:
  typed_stage_call(in&& tuple, std::optional<in>&& spare)
      : typed_call<kernel_shape<Sig>, stage_call>(
            typename kernel_shape<Sig>::message_tuple(std::move(tuple))),
        spare_(std::move(spare)) {}

 private:
  void take_answer() override { answer_.emplace(detail::single(this->take())); }
  void put_out(patterns::detail::actor_node& to, actor_base& me) override { to.put(*answer_, me); }
  void lose(patterns::detail::actor_node& at, const error& why) override {
    if (spare_) return at.tuple_failed(*spare_, why);
    std::string text = why.to_string();
    at.tuple_failed(text, why);
  }

  std::optional<in> spare_;  ///< for a dead letter
  std::optional<stage_out<Sig>> answer_;
};

/// Makes the actors and the calls.
template <class Sig>
class typed_stage_maker final : public kernel_stage_maker {
  using in = stage_in<Sig>;

 public:
  explicit typed_stage_maker(stage_seed s)
      : kernel_stage_maker(patterns::detail::tuple_type_of<in>, std::move(s)) {}

  void consume(void* actor, patterns::detail::actor_node& n,
               patterns::detail::stage_batch& b) const override {
    for (in* const first = static_cast<in*>(b.first); n.goes_on(b); ++b.done) {
      in& tuple = first[b.done];
      std::optional<in> spare;
      if constexpr (std::is_copy_constructible_v<in>)
        if (n.policy() != patterns::on_failure::fail) spare.emplace(tuple);
      static_cast<kernel_stage_actor*>(actor)->begin(std::unique_ptr<stage_call>(
          new typed_stage_call<Sig>(std::move(tuple), std::move(spare))));
    }
  }
};

}  // namespace detail

/// Returns a stage that runs a kernel, with at most `under_way` requests to the device at once for
/// each replica. The stage's policy decides about an error of the kernel: the stream fails, or the
/// tuple becomes a dead letter. The stage has the name in the options or, without it, the kernel's.
/// The other parameters are those of `spawn`.
template <class Sig>
[[nodiscard]] auto stage(program p, std::string kernel, nd_range range, kernel_options o = {},
                         std::size_t under_way = 8) {
  std::string name = o.name.empty() ? kernel : o.name;
  detail::stage_seed seed{{std::move(p), std::move(kernel), range, std::move(o)},
                          &detail::kernel_shape<Sig>::facts,
                          under_way == 0 ? std::size_t{1} : under_way};
  return patterns::actor_stage<detail::stage_in<Sig>, detail::stage_out<Sig>>(
      detail::stage_of_actors(new detail::typed_stage_maker<Sig>(std::move(seed)),
                              std::move(name)));
}

}  // namespace garrick::gpu
