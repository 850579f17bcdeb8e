// A map over a container, divided between the processors and a device.
//
//   patterns::data_ref<std::vector<float>> h = gpu::split(
//       system, patterns::map([](float x) { return x * x; }), program, "squares");
//
// The first part goes to the processors and the rest to the device, in the ratio of the speeds
// measured so far; the first container is halved. Both sides must compute the same results. For
// results that are equal to the last bit, use `#pragma OPENCL FP_CONTRACT OFF` in the kernel, and
// -ffp-contract=off for the function.
//
// Thread safety: like spawn.
#pragma once

#include <garrick/gpu/kernel.hpp>
#include <garrick/patterns/patterns.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::gpu {

/// The division of a split map's containers so far.
struct split_figures {
  std::uint64_t on_processors = 0;  ///< elements
  std::uint64_t on_device = 0;      ///< elements
  double device_share = 0.5;        ///< the device's share of the next container, from 0 to 1
};
/// Asks the actor of a split map for its figures.
struct get_split_figures {};

namespace detail {

/// The division of a container by the measured speeds.
class split_ratio {
 public:
  /// Returns how many of `n` elements go to the device. Each side gets at least one if `n` is two
  /// or more.
  [[nodiscard]] std::size_t for_device(std::size_t n) const noexcept;
  /// Records the time that a part with this many elements took.
  void device_took(std::size_t elements, duration d) noexcept { note(device_, elements, d); }
  void processors_took(std::size_t elements, duration d) noexcept { note(host_, elements, d); }
  /// Returns the device's share, from 0 to 1.
  [[nodiscard]] double share() const noexcept;

 private:
  static void note(double& speed, std::size_t elements, duration d) noexcept;
  double host_ = 0;    ///< elements in a nanosecond; 0: not measured
  double device_ = 0;  ///< elements in a nanosecond; 0: not measured
};

/// The actor that sends the parts of a container to a map and a kernel.
template <class T, class U>
class split_actor
    : public actor<
          protocol<result<std::vector<U>>(std::vector<T>), split_figures(get_split_figures)>> {
  using whole = std::vector<U>;
  using kernel = kernel_actor<std::vector<U>(std::vector<T>)>;

 public:
  split_actor(patterns::data_ref<std::vector<T>, std::vector<U>> map, kernel_seed s)
      : map_(std::move(map)), seed_(std::move(s)) {}

  void on_start() {
    kernel_ =
        this->template spawn<kernel>(spawn_options{.name = seed_.kernel}, seed_, as_is, as_is);
  }

  result<whole> on(std::vector<T> all) {
    response_promise<whole> promise = this->template make_promise<whole>();
    result<whole> later = promise;
    auto job = std::make_shared<halves>();
    job->promise = std::move(promise);
    const std::size_t device_part = ratio_.for_device(all.size());
    const std::size_t host_part = all.size() - device_part;
    std::vector<T> rest(all.begin() + static_cast<std::ptrdiff_t>(host_part), all.end());
    all.resize(host_part);
    job->due = (host_part != 0 ? 1 : 0) + (device_part != 0 ? 1 : 0);
    if (job->due == 0) job->promise.deliver(whole());
    figures_.on_processors += host_part;
    figures_.on_device += device_part;
    const instant begun = this->now();
    if (device_part != 0)
      this->request(kernel_, std::move(rest))
          .then(
              [this, job, begun, device_part](whole part) {
                ratio_.device_took(device_part, this->now() - begun);
                job->device = std::move(part);
                finish(*job);
              },
              [job](const error& why) { job->promise.fail(why); });
    if (host_part != 0)
      this->request(map_, std::move(all))
          .then(
              [this, job, begun, host_part](whole part) {
                ratio_.processors_took(host_part, this->now() - begun);
                job->host = std::move(part);
                finish(*job);
              },
              [job](const error& why) { job->promise.fail(why); });
    return later;
  }
  split_figures on(get_split_figures) const {
    split_figures f = figures_;
    f.device_share = ratio_.share();
    return f;
  }

 private:
  struct halves {
    response_promise<whole> promise;
    whole host;
    whole device;
    int due = 0;
  };
  static void finish(halves& h) {
    if (--h.due != 0) return;
    h.host.insert(h.host.end(), h.device.begin(), h.device.end());
    h.promise.deliver(std::move(h.host));
  }

  const patterns::data_ref<std::vector<T>, std::vector<U>> map_;
  const kernel_seed seed_;
  kernel_ref<std::vector<U>(std::vector<T>)> kernel_;
  split_ratio ratio_;
  split_figures figures_;
};

}  // namespace detail

/// The handle of a split map.
template <class T, class U = T>
using split_ref =
    ref<protocol<result<std::vector<U>>(std::vector<T>), split_figures(get_split_figures)>>;

/// Spawns an actor, and returns its handle. The actor divides each container between `map`, which
/// is a `patterns::map` over vectors of numbers, and a kernel that takes a vector and returns
/// another one of the same size. It takes the requests of a map; `ask(handle, n)` makes a stage of
/// it. The answer has the elements in their order. If the map or the kernel fails, the answer is
/// that error, without any elements.
template <class From, class Map>
[[nodiscard]] auto split(From& from, Map map, program p, std::string kernel,
                         kernel_options o = {}) {
  using T = typename Map::input::value_type;
  using U = typename Map::output::value_type;
  static_assert(std::is_same_v<typename Map::input, std::vector<T>> &&
                    std::is_same_v<typename Map::output, std::vector<U>>,
                "garrick: a split map is over std::vectors");
  const spawn_options as{.name = o.name.empty() ? kernel : o.name};
  auto host = patterns::spawn(from, std::move(map));
  return from.template spawn<detail::split_actor<T, U>>(
      as, std::move(host),
      detail::kernel_seed{std::move(p), std::move(kernel), nd_range::per_element(), std::move(o)});
}

}  // namespace garrick::gpu
