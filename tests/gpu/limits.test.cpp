// The limits of a request; the omissions of drivers, and the threads that they hold up.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/devices.hpp"
#include "support/rounds.hpp"

namespace limits_test {
namespace {

using namespace gpu_tests;

using adder = floats(floats, floats);
using on_device = gpu::device_ref<float>;
using squarer = floats(floats);

/// The code and the words of an error.
void check_error(const error& why, gpu_errc code, std::initializer_list<std::string_view> words) {
  INFO(why.to_string());
  CHECK(why == code);
  for (const std::string_view w : words) CHECK(why.to_string().find(w) != std::string::npos);
}

gpu::program built_from(bench_of_devices& b, const char* source) {
  return gpu::build(b.system, source, {.on = {b.first()}}).get().value();
}

// ---- omissions of a driver ----------------------------------------------------------------------

TEST_CASE("commands enqueued before a failure are flushed, so that they report") {
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

TEST_CASE("a driver that never reports commands behind a failure does not keep a place for them") {
  bench_of_devices b({.in_flight = 1});
  using kernel = on_device(floats);
  const auto square = gpu::spawn<floats(floats)>(b.system, b.built(), "square", nd_range(2));
  const auto stays = gpu::spawn<kernel>(b.system, b.built(), "square", nd_range(2));
  layer().hold_reads = true;
  layer().kernel_status = -14;
  for (int i = 0; i < 3; ++i) {
    check_error(b.system.request(square, floats{1, 2}).get().error(), gpu_errc::driver,
                {"kernel square on " + b.first().name()});
    CHECK(b.system.request(stays, floats{1, 2}).get().error() == gpu_errc::driver);
  }
  layer().kernel_status = 0;
  CHECK(b.system.request(stays, floats{3, 4}).get());
  wait_until([&] { return b.first().memory_used() == 0; });
  // it reports after all, on commands that are forgotten
  wait_until([] { return layer().held_callbacks == 3; });
  layer().hold_reads = false;
  layer().release_callbacks();
  CHECK(b.system.request(square, floats{3, 4}).get().value() == floats{9, 16});
}

TEST_CASE("the end of a runtime does not wait for reports of requests that are over") {
  layer();
  actor_system system;
  auto gpus = std::make_unique<gpu::runtime>(gpu::gpu_settings{.shutdown = 600s});
  const gpu::program p = gpu::build(system, kernels, {.on = {gpus->devices().at(0)}}).get().value();
  const auto square = gpu::spawn<squarer>(system, p, "square", nd_range::per_element());
  layer().hold_reads = true;
  layer().kernel_status = -5;
  CHECK(system.request(square, floats{1}).get().error() == gpu_errc::out_of_memory);
  wait_until([] { return layer().held_callbacks == 1; });
  gpus.reset();
  restore(layer());  // the report meets a device that was left behind
}

TEST_CASE("a request that ran out of time gives up its place when its events say that it is over") {
  bench_of_devices b({.in_flight = 1});
  const auto square = gpu::spawn<squarer>(b.system, b.built(), "square", nd_range::per_element(),
                                          {.deadline = 300ms});
  layer().hold_reads = true;
  CHECK(b.system.request(square, floats{1}).get().error() == gpu_errc::deadline);
  wait_until([&] { return b.first().memory_used() == 0; });
  layer().hold_reads = false;
  // On a busy machine it may run out of time, too.
  result<floats> squared = b.system.request(square, floats{3}).get();
  while (squared.error() == gpu_errc::deadline) squared = b.system.request(square, floats{3}).get();
  CHECK(squared.value() == floats{9});
  layer().release_callbacks();
}

TEST_CASE("a request that waited for memory until its deadline holds up no other behind it") {
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

TEST_CASE(
    "a request that waited until its deadline leaves its place to others, though the driver is "
    "full") {
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
  // On a busy machine it may run out of time, too.
  auto moved = gpu::upload(b.system, b.first(), floats{1}).get();
  while (moved.error() == errc::timeout) moved = gpu::upload(b.system, b.first(), floats{1}).get();
  CHECK(moved);
}

TEST_CASE("the move of a ref from another device counts in the request's deadline") {
  bench_of_devices b;
  REQUIRE(b.gpus.devices().size() == 2);
  const on_device x = gpu::upload(b.system, b.second(), floats{1, 2, 3}).get().value();
  const gpu::program p = b.built(b.gpus.devices());
  layer().hold_callbacks = true;
  // On a busy machine the read may not be asked for in time either.
  for (duration deadline = 200ms; layer().held_callbacks == 0; deadline = deadline * 4) {
    const auto moves =
        gpu::spawn<on_device(on_device)>(b.system, p, "square", nd_range(3),
                                         {.foreign = gpu::foreign_ref::move, .deadline = deadline});
    check_error(b.system.request(moves, x).get().error(), gpu_errc::deadline,
                {"kernel square on " + b.first().name()});
  }
  CHECK(layer().held_callbacks == 1);  // of the read: the kernel was never asked for
}

TEST_CASE("the end of a runtime does not wait for a compiler, nor do waiting builds") {
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
    CHECK(x.get());  // and the ref goes: only the callback may be left now
    gpus.reset();
  }
  restore(layer());  // fails if the device was released by a callback
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

// ---- the limits of a request --------------------------------------------------------------------

TEST_CASE("outputs and local memory that no device has are refused before anybody makes room") {
  bench_of_devices b;
  const gpu::program p = b.built();
  const std::int64_t buffers = layer().buffers;
  const std::uint64_t kernels_before = layer().kernels;
  // as bytes this is 4, in a number of 64 bits
  constexpr std::size_t wraps = std::numeric_limits<std::size_t>::max() / 4 + 2;
  const std::string where = "kernel where on " + b.first().name();
  const auto refused = [&]<class R>(std::type_identity<R>, gpu::kernel_options o) {
    const auto k = gpu::spawn<R()>(b.system, p, "where", nd_range(1), std::move(o));
    check_error(b.system.request(k).get().error(), gpu_errc::out_of_memory, {where, "output 1"});
  };
  refused(std::type_identity<gpu::device_ref<int>>(), {.output_elements = {wraps}});
  refused(std::type_identity<std::vector<int>>(), {.output_elements = {wraps}});
  refused(std::type_identity<gpu::pinned<int>>(), {.output_elements = {wraps}});
  refused(std::type_identity<std::vector<int>>(), {.output_elements = {std::size_t{1} << 45}});
  using ints = std::vector<int>;
  const auto local = [&](std::size_t n) {
    const auto k = gpu::spawn<ints(ints, gpu::local<int>)>(
        b.system, p, "group_sums", nd_range(64).groups_of(16),
        {.output_elements = {4}, .local_elements = {n}});
    return b.system.request(k, ints(64, 1)).get();
  };
  const std::size_t most = b.first().info().local_memory / sizeof(int);
  check_error(local(most + 1).error(), gpu_errc::out_of_memory,
              {"kernel group_sums on " + b.first().name(), "local argument 1"});
  CHECK(local(wraps).error() == gpu_errc::out_of_memory);
  CHECK(layer().buffers == buffers);
  CHECK(layer().kernels == kernels_before);
  CHECK(local(16).value() == ints(4, 16));
}

TEST_CASE("a kernel that says the size of its groups has them") {
  bench_of_devices b;
  const gpu::program p = built_from(b,
                                    "kernel __attribute__((reqd_work_group_size(4, 1, 1)))"
                                    "void sizes(global int* out) {"
                                    "  out[get_global_id(0)] = (int)get_local_size(0); }");
  const auto run = [&](nd_range r) {
    const auto k =
        gpu::spawn<std::vector<int>()>(b.system, p, "sizes", r, {.output_elements = {8}});
    return b.system.request(k).get();
  };
  CHECK(run(nd_range(8)).value() == std::vector<int>(8, 4));
  CHECK(run(nd_range(8).groups_of(4)).value() == std::vector<int>(8, 4));
  check_error(run(nd_range(8).groups_of(2)).error(), gpu_errc::bad_range,
              {"kernel sizes", b.first().name(), "the kernel wants it as 8 in groups of 4"});
  check_error(run(nd_range(6)).error(), gpu_errc::bad_range, {"do not divide"});
}

struct too_long {
  float at = 0;
  int id = 0;
  int more = 0;
};

TEST_CASE("a value of the wrong size is refused") {
  bench_of_devices b;
  const gpu::program p = b.built();
  // of a built-in type, at once
  check_error(gpu::try_spawn<void(gpu::in_out<floats>, too_long)>(b.system, p, "scale", nd_range(1))
                  .error(),
              gpu_errc::wrong_arguments,
              {"kernel scale on " + b.first().name(), "parameter 2 is of float", "of 12 bytes"});
  // of a type that only the source knows, by drivers that look (PoCL does not)
  const auto scale =
      gpu::spawn<void(gpu::in_out<floats>, float)>(b.system, p, "scale", nd_range::per_element());
  layer().argument_code = -51;
  check_error(
      b.system.request(scale, floats{1}, 2.0f).get().error(), gpu_errc::wrong_arguments,
      {"kernel scale on " + b.first().name(), "clSetKernelArg of argument 0: CL_INVALID_ARG_SIZE"});
  layer().argument_code = 0;
  CHECK(b.system.request(scale, floats{1}, 2.0f).get().value() == floats{2});  // it lives on
}

TEST_CASE("a kernel that may write shared memory is not given a device_ref as an input") {
  bench_of_devices b;
  const gpu::program p = built_from(b,
                                    "kernel void spoils(global float* x, global float* out) {"
                                    "  out[get_global_id(0)] = x[get_global_id(0)]++; }");
  check_error(gpu::try_spawn<floats(on_device)>(b.system, p, "spoils", nd_range(1)).error(),
              gpu_errc::wrong_arguments, {"parameter 1 is not const", "in_out"});
  CHECK(gpu::try_spawn<floats(gpu::in_out<on_device>)>(b.system, p, "spoils", nd_range(1)));
  // a container is a copy, which the kernel may write
  const auto k = gpu::spawn<floats(floats)>(b.system, p, "spoils", nd_range::per_element());
  CHECK(b.system.request(k, floats{1, 2}).get().value() == floats{1, 2});
}

}  // namespace
}  // namespace limits_test
