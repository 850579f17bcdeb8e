// Building programs, keeping them, and choosing devices.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "gpu/devices.hpp"

namespace programs_test {
namespace {

using namespace gpu_tests;

namespace fs = std::filesystem;

/// A folder that is gone with the test.
struct temporary_folder {
  fs::path path = fs::temp_directory_path() / ("garrick_gpu_" + std::to_string(getpid()));
  temporary_folder() { fs::create_directories(path); }
  ~temporary_folder() { fs::remove_all(path); }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
};

TEST_CASE("a failed build has the compiler's log") {
  bench_of_devices b;
  const error why = gpu::build(b.system, "kernel void f(global int* x) { *x = unknown_name; }",
                               {.on = {b.first()}, .name = "broken"})
                        .get()
                        .error();
  INFO(why.to_string());
  CHECK(why == gpu_errc::build_failed);
  CHECK(why.to_string().find("broken on " + b.first().name()) != std::string::npos);
  CHECK(why.to_string().find("unknown_name") != std::string::npos);
  CHECK(gpu::build(b.system, "", {.on = {b.first()}}).get().error() == gpu_errc::build_failed);
  CHECK(gpu::build(b.system, kernels, {}).get().error() == gpu_errc::no_device);
  CHECK(gpu::build(b.system, kernels, {.on = {gpu::device()}}).get().error() ==
        gpu_errc::no_device);
  layer().build_code = -6;
  CHECK(gpu::build(b.system, kernels, {.on = {b.first()}, .flags = "-DNEW"}).get().error() ==
        gpu_errc::build_failed);
}

TEST_CASE("a program that was built once is not built again, for each device and flags apart") {
  bench_of_devices b;
  const std::uint64_t before = layer().sources;
  const gpu::program p = b.built();
  CHECK(layer().sources == before + 1);
  CHECK(p.devices() == std::vector{b.first()});
  CHECK(p.kernels().size() == 10);
  static_cast<void>(b.built());
  CHECK(layer().sources == before + 1);
  static_cast<void>(b.built(b.gpus.devices()));
  CHECK(layer().sources == before + 2);
  CHECK(gpu::build(b.system, kernels, {.on = {b.first()}, .flags = "-DX=1"}).get());
  CHECK(layer().sources == before + 3);
}

TEST_CASE("the flags of a build reach the compiler") {
  bench_of_devices b;
  const gpu::program p = gpu::build(b.system, "kernel void f(global int* out) { out[0] = VALUE; }",
                                    {.on = {b.first()}, .flags = "-DVALUE=42"})
                             .get()
                             .value();
  const auto f = gpu::spawn<std::vector<int>()>(b.system, p, "f", nd_range(1));
  CHECK(b.system.request(f).get().value() == std::vector<int>{42});
}

TEST_CASE(
    "a folder keeps programs from one runtime to the next, and a damaged file is built anew") {
  const temporary_folder folder;
  const gpu::gpu_settings s{.cache = folder.path.string()};
  const auto run = [&](std::uint64_t sources, std::uint64_t binaries) {
    const std::uint64_t s0 = layer().sources;
    const std::uint64_t b0 = layer().binaries;
    bench_of_devices b(s);
    const auto add =
        gpu::spawn<floats(floats, floats)>(b.system, b.built(), "add", nd_range::per_element());
    CHECK(b.system.request(add, floats{1}, floats{2}).get().value() == floats{3});
    CHECK(layer().sources - s0 == sources);
    CHECK(layer().binaries - b0 == binaries);
    // the kernel's parameters are known from a binary, too
    CHECK(gpu::try_spawn<floats(floats)>(b.system, b.built(), "add", nd_range(1)).error() ==
          gpu_errc::wrong_arguments);
  };
  run(1, 0);
  run(0, 1);
  const auto file = fs::directory_iterator(folder.path)->path();
  const auto whole = fs::file_size(file);
  SUBCASE("half of it is missing") { fs::resize_file(file, whole / 2); }
  SUBCASE("a byte is another one") {
    std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
    f.seekg(static_cast<std::streamoff>(whole / 2));
    const char c = static_cast<char>(f.get() ^ 1);
    f.seekp(static_cast<std::streamoff>(whole / 2));
    f.put(c);
  }
  SUBCASE("it is empty") { fs::resize_file(file, 0); }
  run(1, 0);  // the driver has not seen it
  run(0, 1);
}

TEST_CASE("devices are chosen by type, name and capability") {
  bench_of_devices b;
  CHECK(b.gpus.find().size() == b.gpus.devices().size());
  CHECK(b.gpus.find({.type = gpu::device_type::cpu}).size() == b.gpus.devices().size());
  CHECK(b.gpus.find({.type = gpu::device_type::gpu}).empty());
  CHECK(b.gpus.find({.name = "PORTABLE computing"}).size() == b.gpus.devices().size());
  CHECK(
      b.gpus.find({.needs = gpu::capability::doubles | gpu::capability::online_compiler}).size() ==
      b.gpus.devices().size());
  CHECK(b.gpus.find({.memory = 1ull << 60}).empty());
  CHECK(b.gpus.first().value() == b.first());
  const error why = b.gpus.first({.type = gpu::device_type::gpu}).error();
  CHECK(why == gpu_errc::no_device);
  CHECK(why.to_string().find(b.first().name()) != std::string::npos);
  const gpu::device_info& d = b.first().info();
  CHECK(d.compute_units > 0);
  CHECK(d.largest_group > 0);
  CHECK(b.first().memory_budget() == d.memory / 4 * 3);
}

TEST_CASE("a machine without devices is no failure until one is asked for") {
  layer().no_devices = true;
  gpu::runtime none;
  CHECK(none.devices().empty());
  CHECK(none.first().error() == gpu_errc::no_device);
  CHECK(none.refused().size() == 1);
  restore(layer());
}

TEST_CASE("devices of one runtime are refused by another") {
  bench_of_devices a;
  gpu::runtime other;
  CHECK(gpu::build(a.system, kernels, {.on = {a.first(), other.devices().at(0)}}).get().error() ==
        gpu_errc::no_device);
}

TEST_CASE("a program may outlive its runtime, and its kernels answer that it is closed") {
  settings one;
  one.scheduler.workers = 1;
  actor_system system(one);
  gpu::program p;
  {
    layer();
    gpu::runtime gpus;
    p = gpu::build(system, kernels, {.on = {gpus.devices().at(0)}}).get().value();
  }
  const auto add = gpu::spawn<floats(floats, floats)>(system, p, "add", nd_range(1));
  CHECK(system.request(add, floats{1}, floats{2}).get().error() == gpu_errc::closed);
  CHECK(gpu::build(system, kernels, {.on = p.devices()}).get().error() == gpu_errc::closed);
}

TEST_CASE("settings out of range are refused") {
  CHECK_THROWS_AS(gpu::runtime(gpu::gpu_settings{.in_flight = 0}), std::invalid_argument);
  CHECK_THROWS_AS(gpu::runtime(gpu::gpu_settings{.queues = 17}), std::invalid_argument);
}

class builds : public actor<protocol<float(std::string)>> {
 public:
  explicit builds(gpu::device d) : device_(std::move(d)) {}
  task<float> on(std::string source) {
    gpu::build_options o;  // GCC 12 compiles no list of elements in a coroutine
    o.on.push_back(device_);
    pending_response<gpu::program> building = gpu::build(*this, source, std::move(o));
    result<gpu::program> p = co_await std::move(building).within(30s);
    if (!p) co_return -1.0f;
    const auto f =
        gpu::spawn<gpu::device_ref<float>(gpu::device_ref<float>)>(*this, *p, "twice", nd_range(6));
    result<gpu::device_ref<float>> x = co_await gpu::upload(*this, device_, counting(6));
    if (!x) co_return -2.0f;
    result<gpu::device_ref<float>> y = co_await request(f, *x);
    if (!y) co_return -3.0f;
    result<floats> back = co_await gpu::download(*this, *y);
    if (!back) co_return -4.0f;
    co_return (*back)[5];
  }

 private:
  gpu::device device_;
};

TEST_CASE("an actor builds, spawns, uploads and downloads without a thread that waits") {
  bench_of_devices b;
  const auto a = b.system.spawn<builds>(b.first());
  const std::string source =
      "kernel void twice(global const float* x, global float* out) {"
      "  out[get_global_id(0)] = 2 * x[get_global_id(0)]; }";
  CHECK(b.system.request(a, source).get().value() == 10);
  CHECK(b.system.request(a, std::string("nonsense")).get().value() == -1);
}

}  // namespace
}  // namespace programs_test
