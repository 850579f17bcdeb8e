// Data that stays on a device: chains without copies, the right to change shared data, budgets.
#include <string>
#include <utility>
#include <vector>

#include "gpu/devices.hpp"

namespace data_test {
namespace {

using namespace gpu_tests;

using gpu::device_ref;
using on_device = device_ref<float>;

/// The layer's counts since this was made.
struct transfers {
  std::uint64_t writes = layer().writes, reads = layer().reads, copies = layer().copies;
  [[nodiscard]] std::uint64_t written() const { return layer().writes - writes; }
  [[nodiscard]] std::uint64_t read() const { return layer().reads - reads; }
  [[nodiscard]] std::uint64_t copied() const { return layer().copies - copies; }
};

/// Checks that no bytes of the device are left, once its thread has released them.
void check_all_freed(bench_of_devices& b) {
  static_cast<void>(gpu::figures_of(b.system, b.first()).get());
  wait_until([&] { return b.first().memory_used() == 0; });
}

TEST_CASE("a chain of kernels moves no bytes through the host") {
  bench_of_devices b;
  const auto square =
      gpu::spawn<on_device(on_device)>(b.system, b.built(), "square", nd_range(100));
  on_device x = gpu::upload(b.system, b.first(), floats(100, 1.5f)).get().value();
  CHECK(x.size() == 100);
  CHECK(x.device() == b.first());
  const transfers t;
  for (int i = 0; i < 3; ++i) x = b.system.request(square, std::move(x)).get().value();
  CHECK(t.written() == 0);
  CHECK(t.read() == 0);
  CHECK(t.copied() == 0);
  const floats back = gpu::download(b.system, x).get().value();
  CHECK(t.read() == 1);
  CHECK(back == floats(100, 25.62890625f));
  x = {};
  check_all_freed(b);
}

TEST_CASE("an in-out kernel works in place with one owner, and on a copy with two") {
  bench_of_devices b;
  const auto scale =
      gpu::spawn<void(gpu::in_out<on_device>, float)>(b.system, b.built(), "scale", nd_range(10));
  on_device x = gpu::upload(b.system, b.first(), floats(10, 1)).get().value();
  CHECK(x.is_unique());
  const transfers t;
  x = b.system.request(scale, std::move(x), 2.0f).get().value();
  x = b.system.request(scale, std::move(x), 2.0f).get().value();
  CHECK(t.copied() == 0);
  CHECK(x.is_unique());
  const on_device same = x;
  const on_device other = b.system.request(scale, std::move(x), 10.0f).get().value();
  CHECK(t.copied() == 1);
  CHECK(other != same);
  CHECK(gpu::download(b.system, same).get().value() == floats(10, 4));
  CHECK(gpu::download(b.system, other).get().value() == floats(10, 40));
  CHECK(gpu::figures_of(b.system, b.first()).get().value().copies_on_device == 1);
}

TEST_CASE("one ref as two arguments is shared, too") {
  bench_of_devices b;
  const gpu::program p =
      gpu::build(b.system,
                 "kernel void add_to(global float* a, global const float* b) {"
                 "  a[get_global_id(0)] += b[get_global_size(0) - 1 - get_global_id(0)]; }",
                 {.on = {b.first()}})
          .get()
          .value();
  const auto add =
      gpu::spawn<void(gpu::in_out<on_device>, on_device)>(b.system, p, "add_to", nd_range(3));
  const on_device x = gpu::upload(b.system, b.first(), floats{1, 2, 3}).get().value();
  const on_device sum = b.system.request(add, x, x).get().value();
  CHECK(gpu::download(b.system, sum).get().value() == floats{4, 4, 4});
  CHECK(gpu::download(b.system, x).get().value() == floats{1, 2, 3});
}

TEST_CASE("buffers are freed with the last ref, and none is left at the end") {
  const std::int64_t before = layer().buffers;
  {
    bench_of_devices b;
    const auto square =
        gpu::spawn<on_device(on_device)>(b.system, b.built(), "square", nd_range(1000));
    for (int i = 0; i < 50; ++i) {
      on_device x = gpu::upload(b.system, b.first(), counting(1000)).get().value();
      const on_device y = b.system.request(square, x).get().value();
      CHECK(b.first().memory_used() >= 8000);
    }
    check_all_freed(b);
    CHECK(layer().buffers == before);
  }
  CHECK(layer().buffers == before);
}

TEST_CASE("the budget decides before the driver, and freed memory can be had again") {
  bench_of_devices b({.memory = 1});
  const std::size_t third = (1 << 20) / 12;
  CHECK(b.first().memory_budget() == 1 << 20);
  std::vector<on_device> held;
  for (int i = 0; i < 3; ++i)
    held.push_back(gpu::upload(b.system, b.first(), floats(third)).get().value());
  const std::int64_t buffers = layer().buffers;
  const error full = gpu::upload(b.system, b.first(), floats(third)).get().error();
  INFO(full.to_string());
  CHECK(full == gpu_errc::out_of_memory);
  CHECK(full.to_string().find("gpu.memory") != std::string::npos);
  CHECK(full.to_string().find(b.first().name()) != std::string::npos);
  CHECK(layer().buffers == buffers);  // the driver was not asked
  const auto square =
      gpu::spawn<floats(floats)>(b.system, b.built(), "square", nd_range::per_element());
  const error named = b.system.request(square, floats(third)).get().error();
  CHECK(named == gpu_errc::out_of_memory);
  CHECK(named.to_string().find("kernel square on " + b.first().name()) != std::string::npos);
  held.clear();
  CHECK(gpu::upload(b.system, b.first(), floats(third)).get());
  CHECK(b.system.request(square, floats(third)).get());
}

/// Asks for more at once than the budget has room for.
class many : public actor<protocol<int(int)>> {
 public:
  explicit many(gpu::kernel_ref<floats(floats)> k) : kernel_(std::move(k)) {}
  result<int> on(int n) {
    promise_ = make_promise<int>();
    result<int> later = promise_;
    for (int i = 0; i < n; ++i)
      request(kernel_, floats(100'000, 1))
          .then(
              [this, n](const floats&) {
                if (++good_ == n) promise_.deliver(good_);
              },
              [this](const error& why) { promise_.fail(why); });
    return later;
  }

 private:
  gpu::kernel_ref<floats(floats)> kernel_;
  response_promise<int> promise_;
  int good_ = 0;
};

TEST_CASE("requests that fit one after the other wait for each other's memory") {
  bench_of_devices b({.memory = 1});
  const auto square =
      gpu::spawn<floats(floats)>(b.system, b.built(), "square", nd_range::per_element());
  const auto asker = b.system.spawn<many>(square);  // 800 kB each
  CHECK(b.system.request(asker, 20).get().value() == 20);
}

TEST_CASE("a ref of another device is refused or moved, as the actor's options say") {
  bench_of_devices b;
  REQUIRE(b.gpus.devices().size() == 2);
  const gpu::program p = b.built(b.gpus.devices());
  const on_device x = gpu::upload(b.system, b.second(), floats{1, 2, 3}).get().value();
  const auto strict = gpu::spawn<on_device(on_device)>(b.system, p, "square", nd_range(3));
  const error why = b.system.request(strict, x).get().error();
  CHECK(why == gpu_errc::other_device);
  CHECK(why.to_string().find("kernel square on " + b.first().name()) != std::string::npos);
  const auto moves = gpu::spawn<on_device(on_device)>(b.system, p, "square", nd_range(3),
                                                      {.foreign = gpu::foreign_ref::move});
  const transfers t;
  const on_device y = b.system.request(moves, x).get().value();
  CHECK(t.read() == 1);
  CHECK(t.written() == 1);
  CHECK(y.device() == b.first());
  CHECK(gpu::download(b.system, y).get().value() == floats{1, 4, 9});
  // an in-out one, too: then the answer lies on the kernel's device
  const auto scale = gpu::spawn<void(gpu::in_out<on_device>, float)>(
      b.system, p, "scale", nd_range(3), {.foreign = gpu::foreign_ref::move});
  const on_device z = b.system.request(scale, x, 2.0f).get().value();
  CHECK(z.device() == b.first());
  CHECK(gpu::download(b.system, z).get().value() == floats{2, 4, 6});
  // a spread actor runs where the data is
  const auto anywhere =
      gpu::spawn<on_device(on_device)>(b.system, p, "square", nd_range(3), {.spread = true});
  CHECK(b.system.request(anywhere, x).get().value().device() == b.second());
}

TEST_CASE("pinned memory is a container of arguments and outputs") {
  bench_of_devices b;
  using gpu::pinned;
  pinned<float> p = gpu::allocate_pinned<float>(b.system, b.first(), 100).get().value();
  REQUIRE(p.size() == 100);
  for (float& x : p) x = 3;
  const std::uint64_t maps = layer().maps;
  const auto square = gpu::spawn<pinned<float>(pinned<float>)>(b.system, b.built(), "square",
                                                               nd_range::per_element());
  const pinned<float> r = b.system.request(square, std::move(p)).get().value();
  CHECK(layer().maps == maps + 1);
  REQUIRE(r.size() == 100);
  CHECK(r[0] == 9);
  CHECK(r[99] == 9);
}

struct chains {
  int number;
};
/// Uploads, squares, scales in place or on a copy, downloads: `number` times, one after the other.
class chain_actor : public actor<protocol<int(chains)>> {
 public:
  chain_actor(gpu::kernel_ref<on_device(on_device)> square,
              gpu::kernel_ref<void(gpu::in_out<on_device>, float)> scale,
              std::vector<gpu::device> on)
      : square_(std::move(square)), scale_(std::move(scale)), on_(std::move(on)) {}

  task<int> on(chains c) {
    int right = 0;
    for (int i = 0; i < c.number; ++i) {
      const gpu::device& where = on_[static_cast<std::size_t>(i) % on_.size()];
      result<on_device> x = co_await gpu::upload(*this, where, floats(64, static_cast<float>(i)));
      if (!x) co_return -1;
      on_device kept;
      if (i % 3 == 0) kept = *x;  // then it is shared
      result<on_device> y = co_await request(square_, *x);
      if (!y) co_return -2;
      result<on_device> z = co_await request(scale_, std::move(*y), 2.0f);
      if (!z) co_return -3;
      result<floats> back = co_await gpu::download(*this, *z);
      if (!back) co_return -4;
      right += (*back)[63] == static_cast<float>(2 * i * i) ? 1 : 0;
    }
    co_return right;
  }

 private:
  const gpu::kernel_ref<on_device(on_device)> square_;
  const gpu::kernel_ref<void(gpu::in_out<on_device>, float)> scale_;
  const std::vector<gpu::device> on_;
};

TEST_CASE("many actors share the devices, and nothing is mixed up or left over") {
  const std::uint64_t blocking = layer().blocking;
  bench_of_devices b({.in_flight = 4}, 4);
  const gpu::program p = b.built(b.gpus.devices());
  const gpu::kernel_options spread{.spread = true};
  const nd_range r(64);
  const auto square = gpu::spawn<on_device(on_device)>(b.system, p, "square", r, spread);
  const auto scale =
      gpu::spawn<void(gpu::in_out<on_device>, float)>(b.system, p, "scale", r, spread);
  std::vector<ref<protocol<int(chains)>>> all;
  for (int i = 0; i < 6; ++i)
    all.push_back(b.system.spawn<chain_actor>(square, scale, b.gpus.devices()));
  {
    scoped_actor me(b.system.env());
    std::vector<pending_response<int>> due;
    for (const auto& a : all) due.push_back(me->request(a, chains{20}));
    for (auto& d : due) CHECK(me->get(std::move(d)).value() == 20);
  }
  for (const gpu::device& d : b.gpus.devices()) {
    CHECK(gpu::figures_of(b.system, d).get().value().kernels > 0);
    wait_until([&] { return d.memory_used() == 0; });
  }
  CHECK(layer().blocking == blocking);
}

TEST_CASE("an empty handle or container cannot be an argument") {
  bench_of_devices b;
  CHECK(gpu::upload(b.system, b.first(), floats()).get().error() == gpu_errc::empty_argument);
  CHECK(gpu::upload(b.system, gpu::device(), floats(1)).get().error() == gpu_errc::no_device);
  CHECK(gpu::download(b.system, on_device()).get().error() == gpu_errc::empty_argument);
  const auto square = gpu::spawn<on_device(on_device)>(b.system, b.built(), "square", nd_range(3));
  CHECK(b.system.request(square, on_device()).get().error() == gpu_errc::empty_argument);
}

TEST_CASE("refs may outlive the runtime, and are refused then") {
  on_device kept;
  {
    bench_of_devices b;
    kept = gpu::upload(b.system, b.first(), floats(10, 1)).get().value();
  }
  CHECK(kept.size() == 10);
  settings one;
  one.scheduler.workers = 1;
  actor_system system(one);
  CHECK(gpu::download(system, kept).get().error() == gpu_errc::closed);
}

}  // namespace
}  // namespace data_test
