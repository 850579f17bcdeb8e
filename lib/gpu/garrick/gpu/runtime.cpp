#include "garrick/gpu/runtime.hpp"

#include <garrick/base/platform/assert.hpp>
#include <garrick/base/settings/setting_table.hpp>
#include <garrick/garrick.hpp>

#include <chrono>
#include <exception>
#include <stdexcept>

#include "garrick/gpu/internal/builder.hpp"
#include "garrick/gpu/internal/device_core.hpp"
#include "garrick/gpu/internal/discovery.hpp"

namespace garrick::gpu {

namespace internal {

/// The parts of a runtime.
class runtime_core {
 public:
  explicit runtime_core(const gpu_settings& s) : compiler(std::make_shared<builder>(s)) {
    for (found_device& f : find_devices(refused)) {
      const std::string name = f.info.name;
      try {
        cores.push_back(std::make_shared<device_core>(f.id, std::move(f.info), s));
      } catch (const std::runtime_error& e) {  // the driver refuses a context or a queue
        refused.push_back(name + ": " + e.what());
      }
    }
    limit = s.shutdown;
    try {
      compiler->start();
      for (; started < cores.size(); ++started) cores[started]->start(compiler);
    } catch (...) {
      close();
      throw;
    }
    for (const auto& c : cores) devices.emplace_back(c);
  }

  void close() noexcept {
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(limit.count());
    compiler->begin_close();
    for (std::size_t i = 0; i < started; ++i) cores[i]->begin_close();
    compiler->end_close(until);
    for (std::size_t i = 0; i < started; ++i) cores[i]->end_close(until);
  }

  std::vector<std::string> refused;
  std::shared_ptr<builder> compiler;
  std::vector<std::shared_ptr<device_core>> cores;
  std::size_t started = 0;
  std::vector<device> devices;
  base::duration limit{};
};

}  // namespace internal

namespace {

void check(const gpu_settings& s) {
  gpu_settings defaults;
  base::setting_table table;
  add_settings(table, defaults);
  defaults = s;
  if (const auto refused = table.first_refused()) throw std::invalid_argument(refused->why);
}

}  // namespace

runtime::runtime(const gpu_settings& s) {
  check(s);
  core_ = std::make_unique<internal::runtime_core>(s);
}

runtime::~runtime() {
  GARRICK_ASSERT(base::this_thread.worker_of == nullptr,
                 "a gpu::runtime waits for drivers when it ends: not on a worker");
  core_->close();
}

const std::vector<device>& runtime::devices() const noexcept { return core_->devices; }
const std::vector<std::string>& runtime::refused() const noexcept { return core_->refused; }

std::vector<device> runtime::find(const device_filter& which) const {
  std::vector<device> found;
  for (const device& d : devices())
    if (which.takes(d.info())) found.push_back(d);
  return found;
}

base::result<device> runtime::first(const device_filter& which) const {
  for (const device& d : devices())
    if (which.takes(d.info())) return d;
  std::string there;
  for (const device& d : devices()) there.append(there.empty() ? "" : ", ").append(d.name());
  return make_error(gpu_errc::no_device, "first()",
                    there.empty() ? "this machine has none" : "there are: " + there);
}

}  // namespace garrick::gpu
