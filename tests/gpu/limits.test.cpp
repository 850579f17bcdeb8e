// What drivers leave undone, and who is held up by that.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/devices.hpp"
#include "support/rounds.hpp"

namespace gpu_tests {
namespace {

using adder = floats(floats, floats);
using squarer = floats(floats);

/// The code and the words of an error.
void check_error(const error& why, gpu_errc code, std::initializer_list<std::string_view> words) {
  INFO(why.to_string());
  CHECK(why == code);
  for (const std::string_view w : words) CHECK(why.to_string().find(w) != std::string::npos);
}

// ---- what a driver leaves undone ----------------------------------------------------------------

TEST_CASE("what was enqueued before a failure is flushed, so that it reports") {
  bench_of_devices b;
  const auto square = gpu::spawn<squarer>(b.system, b.built(), "square", nd_range::per_element());
  layer().kernel_code = -54;
  const std::uint64_t flushes = layer().flushes;
  const std::uint64_t writes = layer().writes;
  CHECK(b.system.request(square, floats{1}).get().error() == gpu_errc::bad_range);
  CHECK(gpu::figures_of(b.system, b.first()).get());  // its thread is through with the request
  CHECK(layer().writes == writes + 1);
  CHECK(layer().flushes == flushes + 1);
  // where nothing was enqueued, there is nothing to flush
  layer().buffer_code = -4;
  CHECK(b.system.request(square, floats{1}).get().error() == gpu_errc::out_of_memory);
  CHECK(gpu::figures_of(b.system, b.first()).get());
  CHECK(layer().flushes == flushes + 1);
}

TEST_CASE("a failed kernel is an error though the driver never reports what depends on it") {
  bench_of_devices b({.shutdown = 1ms});
  const auto square = gpu::spawn<squarer>(b.system, b.built(), "square", nd_range::per_element(),
                                          {.deadline = duration::infinite()});
  layer().no_read_callbacks = true;
  layer().kernel_status = -14;
  check_error(b.system.request(square, floats{1}).get().error(), gpu_errc::driver,
              {"kernel square on " + b.first().name()});
  layer().no_read_callbacks = false;
  layer().kernel_status = 0;
  CHECK(b.system.request(square, floats{3}).get().value() == floats{9});
}

TEST_CASE("a request that waited for memory until its deadline holds nobody up behind it") {
  bench_of_devices b({.memory = 1});
  const gpu::program p = b.built();
  const auto square = gpu::spawn<squarer>(b.system, p, "square", nd_range::per_element());
  const auto hasty =
      gpu::spawn<squarer>(b.system, p, "square", nd_range::per_element(), {.deadline = 300ms});
  layer().hold_callbacks = true;
  auto with_driver = b.system.request(square, floats(100'000));  // 800 kB
  wait_until([] { return layer().held_callbacks == 3; });
  auto does_not_fit = b.system.request(hasty, floats(100'000));
  const error why = does_not_fit.get().error();
  CHECK(why == gpu_errc::deadline);
  auto fits = b.system.request(square, floats{2});
  wait_until([] { return layer().held_callbacks == 6; });  // the driver has it
  layer().hold_callbacks = false;
  layer().release_callbacks();
  CHECK(fits.get().value() == floats{4});
  CHECK(with_driver.get());
}

TEST_CASE("what waited until its deadline leaves its place to others, though the driver is full") {
  bench_of_devices b({.in_flight = 1, .waiting = 1});
  const gpu::program p = b.built();
  const auto square = gpu::spawn<squarer>(b.system, p, "square", nd_range::per_element());
  const auto hasty =
      gpu::spawn<squarer>(b.system, p, "square", nd_range::per_element(), {.deadline = 200ms});
  layer().hold_callbacks = true;
  auto with_driver = b.system.request(square, floats{1});
  wait_until([] { return layer().held_callbacks == 3; });
  CHECK(b.system.request(hasty, floats{1}).get().error() == gpu_errc::deadline);
  error why = gpu_errc::overload;
  while (why == gpu_errc::overload) why = b.system.request(hasty, floats{1}).get().error();
  CHECK(why == gpu_errc::deadline);  // it had the place
  layer().hold_callbacks = false;
  layer().release_callbacks();
  CHECK(with_driver.get());
}

TEST_CASE("a transfer has a limit on its time, too") {
  bench_of_devices b({.deadline = 200ms});
  layer().hold_callbacks = true;
  CHECK(gpu::upload(b.system, b.first(), floats{1}).get().error() == errc::timeout);
  layer().hold_callbacks = false;
  layer().release_callbacks();
  CHECK(gpu::upload(b.system, b.first(), floats{1}).within(30s).get());
}

TEST_CASE("the end of a runtime does not wait for a compiler, nor do those who asked it") {
  layer();
  actor_system system;
  auto gpus = std::make_unique<gpu::runtime>(gpu::gpu_settings{.shutdown = 1ms});
  gpu::device d = gpus->devices().at(0);
  const std::weak_ptr<gpu::internal::device_core> lives = d.core();
  layer().hold_builds = true;
  layer().build_code = -6;
  auto building = gpu::build(system, "kernel void f(global int* x) { *x = 3; }", {.on = {d}});
  wait_until([] { return layer().held_threads == 1; });
  auto waits = gpu::build(system, "kernel void f(global int* x) { *x = 4; }", {.on = {d}});
  d = {};
  gpus.reset();
  CHECK(building.get().error() == gpu_errc::closed);
  CHECK(waits.get().error() == gpu_errc::closed);
  layer().release_threads();
  wait_until([&] { return lives.expired(); });  // the compiler's thread is through with it
  restore(layer());
}

TEST_CASE("a runtime may end while the callback of the last answer is still at work") {
  layer();
  actor_system system;
  for (std::uint32_t i = 0; i < tests::rounds(50); ++i) {
    auto gpus = std::make_unique<gpu::runtime>();
    gpu::device d = gpus->devices().at(0);
    auto x = gpu::upload(system, d, floats{1});
    d = {};
    CHECK(x.get());  // and the ref goes: nobody but the callback may be left now
    gpus.reset();
  }
  restore(layer());  // fails if a callback was the one that released the device
}

TEST_CASE("a device that is lost while it compiles is told as lost") {
  bench_of_devices b;
  layer().build_code = -2;
  check_error(gpu::build(b.system, "kernel void f(global int* x) { *x = 5; }", {.on = {b.first()}})
                  .get()
                  .error(),
              gpu_errc::device_lost, {b.first().name()});
  CHECK(b.first().is_lost());
}

TEST_CASE("two systems share a runtime, and the end of one is nothing to the other") {
  bench_of_devices b;
  const gpu::program p = b.built();
  layer().hold_callbacks = true;
  const auto add = gpu::spawn<adder>(b.system, p, "add", nd_range::per_element());
  auto ours = b.system.request(add, floats{1}, floats{2});
  {
    settings s;
    s.shutdown.deadline = 1ms;
    actor_system other(s);
    const auto its = gpu::spawn<adder>(other, p, "add", nd_range::per_element());
    send(its, floats{5}, floats{6});
    wait_until([] { return layer().held_callbacks == 8; });
  }
  layer().hold_callbacks = false;
  layer().release_callbacks();
  CHECK(ours.get().value() == floats{3});
  CHECK(b.system.request(add, floats{3}, floats{4}).get().value() == floats{7});
  wait_until([&] { return b.first().memory_used() == 0; });
}

}  // namespace
}  // namespace gpu_tests
