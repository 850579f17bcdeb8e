#include "garrick/gpu/internal/opencl.hpp"

#include <array>
#include <string>
#include <utility>

namespace garrick::gpu::internal {

namespace {

#define GARRICK_CL_CODE(name) \
  std::pair<cl_int, std::string_view> { name, #name }
constexpr std::array known{
    GARRICK_CL_CODE(CL_DEVICE_NOT_FOUND),
    GARRICK_CL_CODE(CL_DEVICE_NOT_AVAILABLE),
    GARRICK_CL_CODE(CL_COMPILER_NOT_AVAILABLE),
    GARRICK_CL_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    GARRICK_CL_CODE(CL_OUT_OF_RESOURCES),
    GARRICK_CL_CODE(CL_OUT_OF_HOST_MEMORY),
    GARRICK_CL_CODE(CL_PROFILING_INFO_NOT_AVAILABLE),
    GARRICK_CL_CODE(CL_MEM_COPY_OVERLAP),
    GARRICK_CL_CODE(CL_BUILD_PROGRAM_FAILURE),
    GARRICK_CL_CODE(CL_MAP_FAILURE),
    GARRICK_CL_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    GARRICK_CL_CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    GARRICK_CL_CODE(CL_INVALID_VALUE),
    GARRICK_CL_CODE(CL_INVALID_DEVICE),
    GARRICK_CL_CODE(CL_INVALID_CONTEXT),
    GARRICK_CL_CODE(CL_INVALID_COMMAND_QUEUE),
    GARRICK_CL_CODE(CL_INVALID_MEM_OBJECT),
    GARRICK_CL_CODE(CL_INVALID_BINARY),
    GARRICK_CL_CODE(CL_INVALID_BUILD_OPTIONS),
    GARRICK_CL_CODE(CL_INVALID_PROGRAM),
    GARRICK_CL_CODE(CL_INVALID_PROGRAM_EXECUTABLE),
    GARRICK_CL_CODE(CL_INVALID_KERNEL_NAME),
    GARRICK_CL_CODE(CL_INVALID_KERNEL),
    GARRICK_CL_CODE(CL_INVALID_ARG_INDEX),
    GARRICK_CL_CODE(CL_INVALID_ARG_VALUE),
    GARRICK_CL_CODE(CL_INVALID_ARG_SIZE),
    GARRICK_CL_CODE(CL_INVALID_KERNEL_ARGS),
    GARRICK_CL_CODE(CL_INVALID_WORK_DIMENSION),
    GARRICK_CL_CODE(CL_INVALID_WORK_GROUP_SIZE),
    GARRICK_CL_CODE(CL_INVALID_WORK_ITEM_SIZE),
    GARRICK_CL_CODE(CL_INVALID_GLOBAL_OFFSET),
    GARRICK_CL_CODE(CL_INVALID_EVENT_WAIT_LIST),
    GARRICK_CL_CODE(CL_INVALID_EVENT),
    GARRICK_CL_CODE(CL_INVALID_OPERATION),
    GARRICK_CL_CODE(CL_INVALID_BUFFER_SIZE),
    GARRICK_CL_CODE(CL_INVALID_GLOBAL_WORK_SIZE),
};
#undef GARRICK_CL_CODE

gpu_errc meaning_of(cl_int code) noexcept {
  if (means_lost(code)) return gpu_errc::device_lost;
  switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE: return gpu_errc::out_of_memory;
    case CL_INVALID_WORK_DIMENSION:
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_OFFSET:
    case CL_INVALID_GLOBAL_WORK_SIZE: return gpu_errc::bad_range;
    case CL_INVALID_ARG_SIZE:
    case CL_INVALID_ARG_VALUE: return gpu_errc::wrong_arguments;
    case CL_COMPILER_NOT_AVAILABLE: return gpu_errc::unsupported;
    default: return gpu_errc::driver;
  }
}

}  // namespace

std::string_view name_of(cl_int code) noexcept {
  for (const auto& [value, name] : known)
    if (value == code) return name;
  return "an unknown error";
}

// Our contexts and queues are valid as long as we hold them. So a driver that reports them as
// invalid has lost its device. NVIDIA's driver reports them after a fault, or returns a code of its
// own.
bool means_lost(cl_int code) noexcept {
  constexpr cl_int nvidia_fault = -9999;
  return code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_CONTEXT ||
         code == CL_INVALID_COMMAND_QUEUE || code == nvidia_fault;
}

base::error driver_error(std::string_view where, std::string_view called, cl_int code) {
  std::string why(called);
  why.append(": ").append(name_of(code)).append(" (").append(std::to_string(code)).append(")");
  return base::make_error(meaning_of(code), where, why);
}

}  // namespace garrick::gpu::internal
