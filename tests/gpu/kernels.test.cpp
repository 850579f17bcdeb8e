// Kernels as actors: their messages and answers, the order of answers, and refusals.
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gpu/devices.hpp"

namespace kernels_test {
namespace {

using namespace gpu_tests;

using ints = std::vector<int>;
using adder = floats(floats, floats);

struct particle {
  float at = 0;
  int id = 0;
  friend bool operator==(const particle&, const particle&) = default;
};

/// The code and the words of an error.
void check_error(const error& why, gpu_errc code, std::initializer_list<std::string_view> words) {
  INFO(why.to_string());
  CHECK(why == code);
  for (const std::string_view w : words) CHECK(why.to_string().find(w) != std::string::npos);
}

TEST_CASE("a kernel is an actor: containers in, a container out") {
  bench_of_devices b;
  const ref<protocol<result<floats>(floats, floats)>> add =
      gpu::spawn<adder>(b.system, b.built(), "add", nd_range::per_element());
  const result<floats> sum = b.system.request(add, counting(1000), counting(1000)).get();
  REQUIRE(sum);
  REQUIRE(sum->size() == 1000);
  CHECK((*sum)[7] == 14);
  CHECK((*sum)[999] == 1998);
  CHECK(layer().blocking == 0);
}

TEST_CASE("several outputs are an answer of several values") {
  bench_of_devices b;
  const auto both = gpu::spawn<result<floats, ints>(floats)>(b.system, b.built(), "both",
                                                             nd_range::per_element());
  const result<floats, ints> r = b.system.request(both, floats{1.5f, 2.5f}).get();
  REQUIRE(r);
  CHECK(std::get<0>(*r) == floats{3, 5});
  CHECK(std::get<1>(*r) == ints{1, 2});
}

TEST_CASE("an in-out argument comes back changed, and a value is a value") {
  bench_of_devices b;
  const auto scale = gpu::spawn<void(gpu::in_out<floats>, float)>(b.system, b.built(), "scale",
                                                                  nd_range::per_element());
  CHECK(b.system.request(scale, floats{1, 2, 3}, 10.0f).get().value() == floats{10, 20, 30});
  const auto move = gpu::spawn<void(gpu::in_out<std::vector<particle>>, particle)>(
      b.system, b.built(), "move", nd_range::per_element());
  const std::vector<particle> all{{1, 1}, {2, 2}};
  CHECK(b.system.request(move, all, particle{0.5f, 10}).get().value() ==
        std::vector<particle>{{1.5f, 11}, {2.5f, 12}});
}

TEST_CASE("local memory is part of the kernel and not of the message") {
  bench_of_devices b;
  const auto sums = gpu::spawn<ints(ints, gpu::local<int>)>(
      b.system, b.built(), "group_sums", nd_range(64).groups_of(16), {.output_elements = {4}});
  CHECK(b.system.request(sums, ints(64, 2)).get().value() == ints(4, 32));
  // the options may say how much
  const auto more = gpu::spawn<ints(ints, gpu::local<int>)>(
      b.system, b.built(), "group_sums", nd_range(64).groups_of(16),
      {.output_elements = {4}, .local_elements = {32}});
  CHECK(b.system.request(more, ints(64, 3)).get().value() == ints(4, 48));
}

TEST_CASE("ranges have one to three dimensions, groups and an offset") {
  bench_of_devices b;
  const auto run = [&](nd_range r, std::size_t n) {
    const auto where =
        gpu::spawn<ints()>(b.system, b.built(), "where", r, {.output_elements = {n}});
    return b.system.request(where).get().value();
  };
  CHECK(run(nd_range(3), 3) == ints{0, 1, 2});
  CHECK(run(nd_range(3).from(5), 3) == ints{5, 6, 7});
  CHECK(run(nd_range(2, 2).groups_of(2, 1), 4) == ints{0, 1, 100, 101});
  CHECK(run(nd_range(2, 1, 2).from(1, 2, 3), 4) == ints{30201, 30202, 40201, 40202});
}

TEST_CASE("arrays, strings and constant memory are arguments, too") {
  bench_of_devices b;
  const auto table = gpu::spawn<ints(ints, std::array<int, 3>)>(
      b.system, b.built(), "table", nd_range::per_element(),
      {.input_elements = {gpu::per_item, 3}});
  CHECK(b.system.request(table, ints{2, 0, 1, 2}, std::array<int, 3>{7, 8, 9}).get().value() ==
        ints{9, 7, 8, 9});
  const auto square = gpu::spawn<std::array<float, 4>(std::array<float, 4>)>(
      b.system, b.built(), "square", nd_range::per_element());
  CHECK(b.system.request(square, std::array<float, 4>{1, 2, 3, 4}).get().value() ==
        std::array<float, 4>{1, 4, 9, 16});
}

struct circle {
  std::vector<float> radii;
};
struct areas {
  std::vector<double> all;
};

TEST_CASE("functions before and behind hide the kernel behind a protocol of one's own") {
  bench_of_devices b;
  const auto area = gpu::spawn<floats(floats)>(
      b.system, b.built(), "square", nd_range(1), {},
      [](circle c) -> result<gpu::prepared<floats>> {
        if (c.radii.front() < 0) return make_error(errc::user, "a negative radius");
        const std::size_t n = c.radii.size();
        return gpu::prepared<floats>{nd_range(n), std::tuple(std::move(c.radii))};
      },
      [](floats squares) {
        areas a;
        for (const float s : squares) a.all.push_back(3 * static_cast<double>(s));
        return a;
      });
  const ref<protocol<areas(circle)>> as_its_users_see_it = area;
  const result<areas> a = b.system.request(as_its_users_see_it, circle{{1, 2}}).get();
  REQUIRE(a);
  CHECK(a->all == std::vector<double>{3, 12});
  CHECK(b.system.request(area, circle{{-1}}).get().error() == errc::user);
  // an exception of a function is an answer, and the actor lives on
  const auto throws =
      gpu::spawn<floats(floats)>(b.system, b.built(), "square", nd_range::per_element(), {},
                                 gpu::as_is, [](floats x) -> floats { return {x.at(100)}; });
  const error why = b.system.request(throws, floats{1}).get().error();
  CHECK(why == errc::receiver_failed);
  CHECK(b.system.request(throws, floats(101, 2)).get().value() == floats{4});
}

/// Sends many requests with kernels that take longer the earlier they are, and notes the answers.
class impatient : public actor<protocol<ints(int)>> {
 public:
  explicit impatient(gpu::kernel_ref<ints(ints)> k) : kernel_(std::move(k)) {}
  result<ints> on(int n) {
    promise_ = make_promise<ints>();
    result<ints> later = promise_;
    for (int i = 0; i < n; ++i)
      request(kernel_, ints{i == 0 ? 4'000'000 : 1000 - i}).then([this, i, n](const ints&) {
        order_.push_back(i);
        if (static_cast<int>(order_.size()) == n) promise_.deliver(order_);
      });
    return later;
  }

 private:
  gpu::kernel_ref<ints(ints)> kernel_;
  ints order_;
  response_promise<ints> promise_;
};

TEST_CASE("requests of one sender are answered in their order, whichever kernel is done first") {
  bench_of_devices b;
  const auto slow = gpu::spawn<ints(ints)>(b.system, b.built(), "slow", nd_range::per_element());
  const auto asker = b.system.spawn<impatient>(slow);
  const ints order = b.system.request(asker, 40).get().value();
  REQUIRE(order.size() == 40);
  for (int i = 0; i < 40; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE(
    "a signature that the kernel does not take is refused, with kernel and device in the text") {
  bench_of_devices b;
  const gpu::program p = b.built();
  const std::string device = b.first().name();
  const auto refusal = [&]<class Sig>(std::type_identity<Sig>, const char* name) {
    return gpu::try_spawn<Sig>(b.system, p, name, nd_range::per_element()).error();
  };
  check_error(refusal(std::type_identity<adder>(), "subtract"), gpu_errc::kernel_not_found,
              {"subtract", device, "add, scale"});
  check_error(refusal(std::type_identity<floats(floats)>(), "add"), gpu_errc::wrong_arguments,
              {"kernel add", device, "takes 3 arguments, the signature has 2"});
  check_error(refusal(std::type_identity<floats(floats, ints)>(), "add"), gpu_errc::wrong_arguments,
              {"parameter 2 is of float, the signature has int"});
  check_error(refusal(std::type_identity<floats(floats, float)>(), "add"),
              gpu_errc::wrong_arguments, {"parameter 2 is global memory", "a value"});
  check_error(refusal(std::type_identity<floats(gpu::in_out<floats>, floats)>(), "add"),
              gpu_errc::wrong_arguments, {"parameter 1 is const"});
  check_error(refusal(std::type_identity<ints(ints, ints)>(), "group_sums"),
              gpu_errc::wrong_arguments, {"parameter 2 is local memory"});
  check_error(gpu::try_spawn<adder>(b.system, gpu::program(), "add", nd_range(1)).error(),
              gpu_errc::kernel_not_found, {"empty"});
  // a handle to such a kernel answers each request with the reason
  const auto lives = gpu::spawn<floats(floats)>(b.system, p, "add", nd_range::per_element());
  for (int i = 0; i < 2; ++i)
    check_error(b.system.request(lives, floats{1}).get().error(), gpu_errc::wrong_arguments,
                {"kernel add", device});
}

TEST_CASE("a driver that does not tell a kernel's types is believed in its number of parameters") {
  bench_of_devices b;
  layer().no_argument_info = true;
  const gpu::program p =
      gpu::build(b.system, kernels, {.on = {b.first()}, .flags = "-DWITHOUT_TYPES"}).get().value();
  CHECK(gpu::try_spawn<adder>(b.system, p, "add", nd_range(1)));
  CHECK(gpu::try_spawn<floats(floats)>(b.system, p, "add", nd_range(1)).error() ==
        gpu_errc::wrong_arguments);
}

TEST_CASE("sizes, empty containers and ranges are checked before the device sees them") {
  bench_of_devices b;
  const gpu::program p = b.built();
  const auto add = gpu::spawn<adder>(b.system, p, "add", nd_range::per_element());
  const auto ask = [&](floats x, floats y) {
    return b.system.request(add, std::move(x), std::move(y)).get().error();
  };
  const std::uint64_t before = layer().kernels;
  check_error(ask(floats(3), floats(4)), gpu_errc::wrong_size,
              {"kernel add", b.first().name(), "container 2 has 4 elements and needs 3"});
  check_error(ask({}, floats(4)), gpu_errc::empty_argument, {"kernel add", "container 1"});
  const auto range_error = [&](nd_range r, gpu::kernel_options o = {}) {
    const auto k = gpu::spawn<ints()>(b.system, p, "where", r, std::move(o));
    return b.system.request(k).get().error();
  };
  check_error(range_error(nd_range(0)), gpu_errc::bad_range, {"kernel where", "no items"});
  check_error(range_error(nd_range(10).groups_of(3)), gpu_errc::bad_range, {"do not divide"});
  check_error(range_error(nd_range(1 << 30).groups_of(1 << 30)), gpu_errc::bad_range,
              {"more than the"});
  check_error(range_error(nd_range::per_element()), gpu_errc::bad_range, {"needs a container"});
  const auto sums =
      gpu::spawn<ints(ints, gpu::local<int>)>(b.system, p, "group_sums", nd_range(64));
  check_error(b.system.request(sums, ints(64)).get().error(), gpu_errc::empty_argument,
              {"local argument 1"});
  const auto three =
      gpu::spawn<std::array<float, 3>(floats)>(b.system, p, "square", nd_range::per_element());
  check_error(b.system.request(three, floats(4)).get().error(), gpu_errc::wrong_size,
              {"output 1 has 3 elements and needs 4"});
  CHECK(layer().kernels == before);
  CHECK(ask(floats(3), floats(3)) == error());  // it lives on
}

TEST_CASE("a device without doubles refuses them, and one with them has them") {
  using doubles = std::vector<double>;
  {
    bench_of_devices b;
    const auto roots =
        gpu::spawn<doubles(doubles)>(b.system, b.built(), "precise", nd_range::per_element());
    CHECK(b.system.request(roots, doubles{2}).get().value() == doubles{std::sqrt(2.0)});
  }
  layer().no_doubles = true;
  bench_of_devices b;
  const auto roots =
      gpu::spawn<doubles(doubles)>(b.system, b.built(), "precise", nd_range::per_element());
  check_error(b.system.request(roots, doubles{2}).get().error(), gpu_errc::unsupported,
              {"kernel precise", b.first().name(), "no doubles"});
  check_error(gpu::build(b.system, kernels,
                         {.on = {b.first()}, .name = "p", .needs = gpu::capability::doubles})
                  .get()
                  .error(),
              gpu_errc::unsupported, {"p on", b.first().name()});
}

TEST_CASE("an actor with several devices uses both, and goes where it is done first") {
  bench_of_devices b;
  REQUIRE(b.gpus.devices().size() == 2);
  const auto slow = gpu::spawn<ints(ints)>(b.system, b.built(b.gpus.devices()), "slow",
                                           nd_range::per_element(), {.spread = true});
  const auto asker = b.system.spawn<impatient>(slow);
  CHECK(b.system.request(asker, 30).get().value().size() == 30);
  for (const gpu::device& d : b.gpus.devices())
    CHECK(gpu::figures_of(b.system, d).get().value().kernels > 0);
}

TEST_CASE("the next request goes where it is done first, by measured speed and waiting requests") {
  bench_of_devices b;
  REQUIRE(b.gpus.devices().size() == 2);
  const gpu::detail::kernel_seed seed{
      b.built(b.gpus.devices()), "add", nd_range(1), {.spread = true}};
  auto lanes = gpu::detail::lanes_of(seed, gpu::detail::kernel_shape<adder>::expected).value();
  REQUIRE(lanes.size() == 2);
  using gpu::detail::fastest;
  lanes[0].ns_per_item = 10;
  CHECK(fastest(lanes, 100) == 1);  // the other one was never measured
  lanes[1].calls = 1;
  CHECK(fastest(lanes, 100) == 0);  // it is being measured
  lanes[1] = {.kernel = lanes[1].kernel, .items = 0, .calls = 0, .ns_per_item = 1};
  CHECK(fastest(lanes, 100) == 1);
  lanes[1].items = 1000;
  CHECK(fastest(lanes, 100) == 0);
  CHECK(fastest(lanes, 200) == 1);
}

TEST_CASE("a device that an actor is told to use is used") {
  bench_of_devices b;
  REQUIRE(b.gpus.devices().size() == 2);
  const gpu::program p = b.built(b.gpus.devices());
  const auto add =
      gpu::spawn<adder>(b.system, p, "add", nd_range::per_element(), {.on = b.second()});
  CHECK(b.system.request(add, floats{1}, floats{2}).get().value() == floats{3});
  CHECK(gpu::figures_of(b.system, b.second()).get().value().kernels == 1);
  CHECK(gpu::figures_of(b.system, b.first()).get().value().kernels == 0);
  CHECK(
      gpu::try_spawn<adder>(b.system, b.built({b.first()}), "add", nd_range(1), {.on = b.second()})
          .error() == gpu_errc::no_device);
}

TEST_CASE("in-order queues, one or several, answer the same") {
  for (const std::uint32_t queues : {0u, 1u, 4u}) {
    layer().in_order = queues == 0;
    bench_of_devices b({.queues = queues});
    const auto add = gpu::spawn<adder>(b.system, b.built(), "add", nd_range::per_element());
    for (int i = 0; i < 10; ++i)
      CHECK(b.system.request(add, counting(100), counting(100)).get().value()[99] == 198);
  }
}

}  // namespace
}  // namespace kernels_test
