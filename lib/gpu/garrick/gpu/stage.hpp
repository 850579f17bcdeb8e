// A kernel as a stage of a stream.
//
//   pipeline(pictures, gpu::stage<pixels(pixels)>(program, "blur", range), store)
//   pipeline(pairs, farm(gpu::stage<…>(…)).replicas(2), store)
//
// A tuple is what the kernel's actor takes: its one message, or a std::tuple of several. The result
// is its answer in the same way. Results leave in the order of the tuples.
//
// Thread safety: stages are plain values.
#pragma once

#include <garrick/gpu/kernel.hpp>
#include <garrick/patterns/patterns.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
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

/// Asks a kernel's actor of its own.
template <class Sig>
class kernel_stage_actor
    : public patterns::stage_actor<typename one_value<typename kernel_shape<Sig>::messages>::type,
                                   typename one_value<typename kernel_shape<Sig>::answers>::type> {
  using in = typename one_value<typename kernel_shape<Sig>::messages>::type;
  using out = typename one_value<typename kernel_shape<Sig>::answers>::type;

 public:
  kernel_stage_actor(kernel_seed s, std::size_t under_way)
      : seed_(std::move(s)), under_way_(under_way) {}

  void on_start() {
    this->hold_at_most(under_way_);
    kernel_ = this->template spawn<kernel_actor<Sig>>(spawn_options{.name = seed_.kernel}, seed_,
                                                      as_is, as_is);
  }
  void on_restart() noexcept {}
  void consume(in tuple) {
    std::optional<in> spare;
    if constexpr (std::is_copy_constructible_v<in>)
      if (this->policy() != patterns::on_failure::fail) spare.emplace(tuple);
    const std::uint64_t number = first_ + waiting_.size();
    waiting_.push_back({this->hold(), {}, false});
    ask(std::move(tuple))
        .then(
            [this, number](auto... answer) {
              waiting_[number - first_].answer.emplace(std::move(answer)...);
              done(number);
            },
            [this, number, spare = std::move(spare)](const error& why) mutable {
              if (spare)
                this->tuple_failed(*std::move(spare), why);
              else
                this->tuple_failed(why.to_string(), why);
              done(number);
            });
  }

 private:
  struct asked {
    patterns::stage_hold hold;  ///< until its result was put out
    std::optional<out> answer;
    bool done = false;
  };

  auto ask(in&& tuple) {
    if constexpr (std::tuple_size_v<typename kernel_shape<Sig>::message_tuple> == 1)
      return this->request(kernel_, std::move(tuple));
    else
      return std::apply([&](auto&&... xs) { return this->request(kernel_, std::move(xs)...); },
                        std::move(tuple));
  }
  void done(std::uint64_t number) {
    waiting_[number - first_].done = true;
    for (; !waiting_.empty() && waiting_.front().done; ++first_) {
      asked oldest = std::move(waiting_.front());
      waiting_.pop_front();
      if (oldest.answer) this->send_next(*std::move(oldest.answer));
    }
  }

  const kernel_seed seed_;
  const std::size_t under_way_;
  kernel_ref<Sig> kernel_;
  std::deque<asked> waiting_;
  std::uint64_t first_ = 0;  ///< the number of the oldest one that waits
};

}  // namespace detail

/// A kernel as a stage, with at most `under_way` requests to the device at once for each replica.
/// An error of the kernel follows the stage's policy: the stream fails, or the tuple is a dead
/// letter. The other parameters are as of `spawn`.
template <class Sig>
[[nodiscard]] auto stage(program p, std::string kernel, nd_range range, kernel_options o = {},
                         std::size_t under_way = 8) {
  return patterns::seq_actor<detail::kernel_stage_actor<Sig>>(
      detail::kernel_seed{std::move(p), std::move(kernel), range, std::move(o)},
      under_way == 0 ? std::size_t{1} : under_way);
}

}  // namespace garrick::gpu
