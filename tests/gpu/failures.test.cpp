// The fate of requests when drivers fail, hang, lose their device, or are left.
#include <garrick/base/concurrency/thread_state.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/devices.hpp"

namespace failures_test {
namespace {

using namespace gpu_tests;

using adder = floats(floats, floats);

auto spawn_add(bench_of_devices& b, gpu::kernel_options o = {}) {
  return gpu::spawn<adder>(b.system, b.built(), "add", nd_range::per_element(), std::move(o));
}
template <class Add>
error ask(bench_of_devices& b, const Add& add) {
  return b.system.request(add, floats{1, 2}, floats{3, 4}).get().error();
}

TEST_CASE("a driver that fails answers with its words, and the actor works on") {
  bench_of_devices b;
  const auto add = spawn_add(b);
  const std::string where = "kernel add on " + b.first().name();
  const auto check = [&](std::atomic<int>& code, int with, gpu_errc wanted, const char* word) {
    code = with;
    const error why = ask(b, add);
    code = 0;
    INFO(why.to_string());
    CHECK(why == wanted);
    CHECK(why.to_string().find(where) != std::string::npos);
    CHECK(why.to_string().find(word) != std::string::npos);
    CHECK(ask(b, add) == error());
  };
  check(layer().buffer_code, -4, gpu_errc::out_of_memory, "CL_MEM_OBJECT_ALLOCATION_FAILURE");
  check(layer().buffer_code, -6, gpu_errc::out_of_memory, "CL_OUT_OF_HOST_MEMORY");
  check(layer().kernel_code, -5, gpu_errc::out_of_memory, "clEnqueueNDRangeKernel");
  check(layer().kernel_code, -54, gpu_errc::bad_range, "CL_INVALID_WORK_GROUP_SIZE");
  check(layer().write_code, -30, gpu_errc::driver, "clEnqueueWriteBuffer: CL_INVALID_VALUE");
  check(layer().read_code, -30, gpu_errc::driver, "clEnqueueReadBuffer");
  check(layer().kernel_status, -14, gpu_errc::driver,
        "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST");
  // nothing of all that is left on the device
  static_cast<void>(gpu::figures_of(b.system, b.first()).get());
  wait_until([&] { return b.first().memory_used() == 0; });
}

TEST_CASE("a failure in a chain ends it as an error") {
  bench_of_devices b;
  using on_device = gpu::device_ref<float>;
  const auto square = gpu::spawn<on_device(on_device)>(b.system, b.built(), "square", nd_range(10));
  const on_device x = gpu::upload(b.system, b.first(), counting(10)).get().value();
  layer().kernel_status = -5;
  const auto y = b.system.request(square, x).get();
  CHECK(y.error() == gpu_errc::out_of_memory);
  layer().kernel_status = 0;
  CHECK(b.system.request(square, x).get());
}

TEST_CASE("a lost device fails requests under way, those that wait and later ones") {
  bench_of_devices b({.in_flight = 1});
  const gpu::program both = b.built(b.gpus.devices());
  const auto add = spawn_add(b);
  layer().hold_callbacks = true;
  auto under_way = b.system.request(add, floats{1}, floats{2});
  auto waits = b.system.request(add, floats{1}, floats{2});
  wait_until([] { return layer().held_callbacks == 4; });
  layer().lost = true;
  layer().hold_callbacks = false;
  layer().release_callbacks();  // they say success, as PoCL does; nothing has failed yet
  CHECK(under_way.get());
  const error why = waits.get().error();
  CHECK(why == gpu_errc::device_lost);
  CHECK(b.first().is_lost());
  layer().lost = false;
  const error later = ask(b, add);
  CHECK(later == gpu_errc::device_lost);
  CHECK(later.to_string().find("kernel add on " + b.first().name()) != std::string::npos);
  // the other one is not lost: a kernel that is spread goes on there
  const auto spread =
      gpu::spawn<adder>(b.system, both, "add", nd_range::per_element(), {.spread = true});
  CHECK(b.system.request(spread, floats{1}, floats{2}).get().value() == floats{3});
  CHECK(gpu::build(b.system, "kernel void f(global int* x) { *x = 1; }", {.on = {b.first()}})
            .get()
            .error() == gpu_errc::device_lost);
}

TEST_CASE("the loss that a callback tells of fails requests under way") {
  bench_of_devices b;
  const auto add = spawn_add(b);
  layer().hold_callbacks = true;
  auto first = b.system.request(add, floats{1}, floats{2});
  wait_until([] { return layer().held_callbacks == 4; });
  layer().kernel_status = -2;
  auto second = b.system.request(add, floats{1}, floats{2});
  wait_until([] { return layer().held_callbacks == 8; });
  layer().hold_callbacks = false;
  // the end of the first is known only by the callback of a later one
  layer().release_callbacks();
  CHECK(second.get().error() == gpu_errc::device_lost);
  static_cast<void>(first.get());
  CHECK(ask(b, add) == gpu_errc::device_lost);
}

TEST_CASE("a kernel that never ends is an error at its deadline") {
  bench_of_devices b;
  const auto add = spawn_add(b, {.deadline = 1s});
  layer().hold_callbacks = true;
  auto never = b.system.request(add, floats{1, 2}, floats{3, 4});
  wait_until([] { return layer().held_callbacks == 4; });  // the driver has all of it
  const error why = never.get().error();
  CHECK(why == gpu_errc::deadline);
  CHECK(why.to_string().find("kernel add on " + b.first().name()) != std::string::npos);
  // its memory is the driver's until that has given it back
  CHECK(b.first().memory_used() == 24);
  layer().hold_callbacks = false;
  layer().release_callbacks();
  CHECK(ask(b, add) == error());
  wait_until([&] { return b.first().memory_used() == 0; });
}

TEST_CASE("a request that was not submitted by its deadline is dropped") {
  bench_of_devices b({.in_flight = 1});
  const auto add = spawn_add(b, {.deadline = 1s});
  layer().hold_callbacks = true;
  auto first = b.system.request(add, floats{1}, floats{2});
  wait_until([] { return layer().held_callbacks == 4; });
  const std::uint64_t kernels_before = layer().kernels;
  CHECK(ask(b, add) == gpu_errc::deadline);
  CHECK(first.get().error() == gpu_errc::deadline);
  layer().hold_callbacks = false;
  layer().release_callbacks();
  CHECK(gpu::figures_of(b.system, b.first()).get());
  CHECK(layer().kernels == kernels_before);
}

TEST_CASE("more requests than may wait are overload") {
  bench_of_devices b({.in_flight = 1, .waiting = 2});
  const auto add = spawn_add(b);
  layer().hold_kernels = true;
  auto first = b.system.request(add, floats{1}, floats{2});
  wait_until([] { return layer().held_threads == 1; });
  auto second = b.system.request(add, floats{1}, floats{2});
  auto third = b.system.request(add, floats{1}, floats{2});
  const error why = ask(b, add);
  CHECK(why == gpu_errc::overload);
  CHECK(why.to_string().find("kernel add on " + b.first().name()) != std::string::npos);
  layer().release_threads();
  CHECK(first.get());
  CHECK(second.get());
  CHECK(third.get());
}

struct ping {};
class pinged : public actor<protocol<int(ping)>> {
 public:
  int on(ping) { return ++n_; }

 private:
  int n_ = 0;
};

std::atomic<int> calls_by_workers{0};
void look_for_workers(const char*) {
  if (base::this_thread.worker_of != nullptr) ++calls_by_workers;
}

TEST_CASE("no worker waits for a driver that blocks, and none calls it") {
  // With POCL_DEVICES=basic the kernel itself runs inside the call that is held here.
  bench_of_devices b;
  calls_by_workers = 0;
  layer().observer = &look_for_workers;
  const auto add = spawn_add(b);
  const auto other = b.system.spawn<pinged>();
  layer().hold_kernels = true;
  scoped_actor me(b.system.env());
  std::vector<pending_response<floats>> all;
  for (int i = 0; i < 50; ++i)
    all.push_back(me->request(add, counting(100), floats(100, static_cast<float>(i))));
  wait_until([] { return layer().held_threads == 1; });
  for (int i = 1; i <= 100; ++i) CHECK(b.system.request(other, ping{}).get().value() == i);
  layer().release_threads();
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(me->get(std::move(all[i])).value()[99] == 99 + static_cast<float>(i));

  layer().hold_builds = true;
  auto p = gpu::build(b.system, "kernel void f(global int* x) { *x = 2; }", {.on = {b.first()}});
  wait_until([] { return layer().held_threads == 1; });
  for (int i = 101; i <= 200; ++i) CHECK(b.system.request(other, ping{}).get().value() == i);
  layer().release_threads();
  CHECK(p.get());
  CHECK(calls_by_workers == 0);
  CHECK(layer().blocking == 0);
}

TEST_CASE("an actor that ends leaves its requests to their promises, and the device to itself") {
  bench_of_devices b;
  layer().hold_callbacks = true;
  {
    const auto add = spawn_add(b);
    auto r = b.system.request(add, floats{1}, floats{2});
    wait_until([] { return layer().held_callbacks == 4; });
    b.system.kill(add);
    const error why = r.get().error();
    INFO(why.to_string());
    CHECK((why == errc::broken_promise || why == errc::receiver_failed));
  }
  layer().hold_callbacks = false;
  layer().release_callbacks();
  const auto add = spawn_add(b);
  CHECK(ask(b, add) == error());
  wait_until([&] { return b.first().memory_used() == 0; });
}

/// Asks, and notes that it was answered.
class asks_once : public actor<protocol<void(ping)>> {
 public:
  asks_once(gpu::kernel_ref<adder> add, std::atomic<bool>& answered)
      : add_(std::move(add)), answered_(answered) {}
  void on_start() {
    request(add_, floats{1}, floats{2}).then([this](const floats&) { answered_ = true; });
  }
  void on(ping) {}

 private:
  gpu::kernel_ref<adder> add_;
  std::atomic<bool>& answered_;
};

TEST_CASE("a system that ends waits for requests that are with the device") {
  layer();
  gpu::runtime gpus;
  std::atomic<bool> answered{false};
  std::thread release;
  {
    actor_system system;
    const gpu::program p =
        gpu::build(system, kernels, {.on = {gpus.devices().at(0)}}).get().value();
    const auto add = gpu::spawn<adder>(system, p, "add", nd_range::per_element());
    layer().hold_callbacks = true;
    system.spawn<asks_once>(add, lent(answered));
    release = std::thread([] {
      wait_until([] { return layer().held_callbacks == 4; });
      layer().hold_callbacks = false;
      layer().release_callbacks();
    });
  }
  CHECK(answered);
  release.join();
  restore(layer());
}

TEST_CASE("a system may end before the device is done") {
  layer();
  gpu::runtime gpus;
  {
    settings s;
    s.shutdown.deadline = 1ms;
    actor_system system(s);
    const gpu::program p =
        gpu::build(system, kernels, {.on = {gpus.devices().at(0)}}).get().value();
    const auto add = gpu::spawn<adder>(system, p, "add", nd_range::per_element());
    layer().hold_callbacks = true;
    send(add, floats{1}, floats{2});
    wait_until([] { return layer().held_callbacks == 4; });
  }
  restore(layer());  // no requester is left for the answer
  wait_until([&] { return gpus.devices().at(0).memory_used() == 0; });
}

TEST_CASE("a runtime that ends fails remaining requests, and leaves behind those that hang") {
  layer();
  actor_system system;
  auto gpus = std::make_unique<gpu::runtime>(gpu::gpu_settings{.in_flight = 1, .shutdown = 1ms});
  const gpu::program p = gpu::build(system, kernels, {.on = {gpus->devices().at(0)}}).get().value();
  const auto add = gpu::spawn<adder>(system, p, "add", nd_range::per_element());
  SUBCASE("a kernel that never reports") {
    layer().hold_callbacks = true;
    auto hangs = system.request(add, floats{1}, floats{2});
    wait_until([] { return layer().held_callbacks == 4; });
    auto waits = system.request(add, floats{1}, floats{2});
    gpus.reset();
    CHECK(hangs.get().error() == gpu_errc::closed);
    CHECK(waits.get().error() == gpu_errc::closed);
  }
  SUBCASE("a thread that does not come back from the driver") {
    layer().hold_kernels = true;
    auto hangs = system.request(add, floats{1}, floats{2});
    wait_until([] { return layer().held_threads == 1; });
    gpus.reset();
    CHECK(hangs.get().error() == gpu_errc::closed);
  }
  CHECK(system.request(add, floats{1}, floats{2}).get().error() == gpu_errc::closed);
  restore(layer());
  wait_until([] { return layer().held_threads == 0; });
}

}  // namespace
}  // namespace failures_test
