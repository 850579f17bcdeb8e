#include "garrick/gpu/internal/discovery.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace garrick::gpu::internal {
namespace {

/// The most bytes of a driver's text, which may have any length.
constexpr std::size_t longest_text = 1 << 16;
/// The most platforms, and the most devices of one platform.
constexpr cl_uint most_found = 256;

std::string trimmed(std::string s) {
  s.resize(s.find('\0') == std::string::npos ? s.size() : s.find('\0'));
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\t'; };
  while (!s.empty() && blank(s.back())) s.pop_back();
  s.erase(s.begin(), std::ranges::find_if_not(s, blank));
  return s;
}

template <class Ask>
std::string text_of(Ask ask) {
  std::size_t size = 0;
  if (ask(0, nullptr, &size) != CL_SUCCESS || size == 0 || size > longest_text) return {};
  std::string s(size, '\0');
  if (ask(size, s.data(), nullptr) != CL_SUCCESS) return {};
  return trimmed(std::move(s));
}
std::string platform_text(cl_platform_id p, cl_platform_info what) {
  return text_of([&](std::size_t n, void* to, std::size_t* size) {
    return clGetPlatformInfo(p, what, n, to, size);
  });
}
std::string device_text(cl_device_id d, cl_device_info what) {
  return text_of([&](std::size_t n, void* to, std::size_t* size) {
    return clGetDeviceInfo(d, what, n, to, size);
  });
}
template <class T>
T device_number(cl_device_id d, cl_device_info what) {
  T x{};
  return clGetDeviceInfo(d, what, sizeof x, &x, nullptr) == CL_SUCCESS ? x : T{};
}

device_type type_of(cl_device_type t) {
  if ((t & CL_DEVICE_TYPE_GPU) != 0) return device_type::gpu;
  if ((t & CL_DEVICE_TYPE_ACCELERATOR) != 0) return device_type::accelerator;
  if ((t & CL_DEVICE_TYPE_CPU) != 0) return device_type::cpu;
  return device_type::other;
}

capability abilities_of(cl_device_id d) {
  const std::string extensions = " " + device_text(d, CL_DEVICE_EXTENSIONS) + " ";
  const auto has = [&](std::string_view e) {
    return extensions.find(" " + std::string(e) + " ") != std::string::npos;
  };
  capability c = capability::none;
  // Since OpenCL 1.2 doubles are no extension any more; this query shows if a device has them.
  if (device_number<cl_device_fp_config>(d, CL_DEVICE_DOUBLE_FP_CONFIG) != 0)
    c = c | capability::doubles;
  if (has("cl_khr_fp16")) c = c | capability::halves;
  if ((device_number<cl_command_queue_properties>(d, CL_DEVICE_QUEUE_PROPERTIES) &
       CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0)
    c = c | capability::out_of_order;
  c = c | (device_number<cl_bool>(d, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE
               ? capability::shared_memory
               : capability::own_memory);
  if (device_number<cl_bool>(d, CL_DEVICE_COMPILER_AVAILABLE) != CL_FALSE)
    c = c | capability::online_compiler;
  return c;
}

device_info info_of(cl_device_id d, const std::string& platform) {
  return {.name = device_text(d, CL_DEVICE_NAME),
          .vendor = device_text(d, CL_DEVICE_VENDOR),
          .platform = platform,
          .driver_version = device_text(d, CL_DRIVER_VERSION),
          .version = device_text(d, CL_DEVICE_VERSION),
          .type = type_of(device_number<cl_device_type>(d, CL_DEVICE_TYPE)),
          .can = abilities_of(d),
          .compute_units = device_number<cl_uint>(d, CL_DEVICE_MAX_COMPUTE_UNITS),
          .clock_mhz = device_number<cl_uint>(d, CL_DEVICE_MAX_CLOCK_FREQUENCY),
          .memory = device_number<cl_ulong>(d, CL_DEVICE_GLOBAL_MEM_SIZE),
          .largest_buffer = device_number<cl_ulong>(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE),
          .local_memory = device_number<cl_ulong>(d, CL_DEVICE_LOCAL_MEM_SIZE),
          .largest_group = device_number<std::size_t>(d, CL_DEVICE_MAX_WORK_GROUP_SIZE)};
}

/// Returns the reason why the device cannot be used; empty if it can.
std::string why_not(cl_device_id d, const device_info& info) {
  if (device_number<cl_bool>(d, CL_DEVICE_AVAILABLE) == CL_FALSE) return "it is not available";
  if ((info.can & capability::online_compiler) == capability::none) return "it has no compiler";
  if (info.largest_group == 0 || info.memory == 0)
    return "its driver does not tell its memory and largest group";
  return {};
}

}  // namespace

std::vector<found_device> find_devices(std::vector<std::string>& refused) {
  std::vector<found_device> all;
  cl_uint count = 0;
  // Without any driver the loader returns an error, which means that there are no devices.
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return all;
  std::vector<cl_platform_id> platforms(std::min(count, most_found));
  if (clGetPlatformIDs(static_cast<cl_uint>(platforms.size()), platforms.data(), nullptr) !=
      CL_SUCCESS)
    return all;
  for (const cl_platform_id p : platforms) {
    const std::string name = platform_text(p, CL_PLATFORM_NAME);
    cl_uint n = 0;
    const cl_int code = clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 0, nullptr, &n);
    if (code != CL_SUCCESS || n == 0) {
      refused.push_back(name + ": " + std::string(name_of(code)));
      continue;
    }
    std::vector<cl_device_id> ids(std::min(n, most_found));
    if (clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, static_cast<cl_uint>(ids.size()), ids.data(),
                       nullptr) != CL_SUCCESS)
      continue;
    for (const cl_device_id d : ids) {
      device_info info = info_of(d, name);
      if (const std::string why = why_not(d, info); !why.empty())
        refused.push_back(info.name + ": " + why);
      else
        all.push_back({d, std::move(info)});
    }
  }
  // Sorts by kind, and keeps the drivers' order within a kind. (std::stable_sort of GCC 12's
  // library gives a deprecation warning with clang.)
  std::vector<found_device> sorted;
  sorted.reserve(all.size());
  for (const device_type t :
       {device_type::gpu, device_type::accelerator, device_type::cpu, device_type::other})
    for (found_device& f : all)
      if (f.info.type == t) sorted.push_back(std::move(f));
  return sorted;
}

}  // namespace garrick::gpu::internal
