#include "garrick/gpu/internal/builder.hpp"

#include <garrick/base/platform/platform.hpp>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "garrick/gpu/internal/binary_cache.hpp"
#include "garrick/gpu/internal/device_core.hpp"
#include "garrick/gpu/internal/left_behind.hpp"
#include "garrick/gpu/internal/sha256.hpp"

namespace garrick::gpu::internal {
namespace {

/// The most bytes of a compiler's log that an error shows.
constexpr std::size_t longest_log = 16384;
/// The most kernels of one program, and parameters of one kernel.
constexpr cl_uint most_kernels = 4096;
constexpr cl_uint most_parameters = 1024;

/// Returns the job's flags, with one that lets `spawn` compare a kernel's parameters with a
/// signature.
std::string flags_of(const build_job& j) { return "-cl-kernel-arg-info " + j.options.flags; }

std::string key_of(const build_job& j, const device_info& d) {
  sha256 h;
  for (const std::string& part :
       {j.source, flags_of(j), d.platform, d.vendor, d.driver_version, d.version, d.name}) {
    h.add(part);
    h.add(std::string_view("\0", 1));  // no part has a null character
  }
  return to_hex(h.finish());
}

std::string log_of(cl_program p, cl_device_id d) {
  std::size_t size = 0;
  if (clGetProgramBuildInfo(p, d, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS ||
      size == 0)
    return {};
  std::string log(size, '\0');
  clGetProgramBuildInfo(p, d, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  log.resize(std::min(log.find('\0'), std::min(log.size(), longest_log)));
  return log;
}

detail::address_space space_of(cl_kernel_arg_address_qualifier q) {
  switch (q) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL: return detail::address_space::global;
    case CL_KERNEL_ARG_ADDRESS_CONSTANT: return detail::address_space::constant;
    case CL_KERNEL_ARG_ADDRESS_LOCAL: return detail::address_space::local;
    default: return detail::address_space::value;
  }
}

std::string kernel_text(cl_kernel k, cl_uint parameter, bool of_parameter) {
  std::size_t size = 0;
  const auto ask = [&](std::size_t n, void* to, std::size_t* needed) {
    return of_parameter ? clGetKernelArgInfo(k, parameter, CL_KERNEL_ARG_TYPE_NAME, n, to, needed)
                        : clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, n, to, needed);
  };
  constexpr std::size_t longest = 4096;
  if (ask(0, nullptr, &size) != CL_SUCCESS || size == 0 || size > longest) return {};
  std::string s(size, '\0');
  if (ask(size, s.data(), nullptr) != CL_SUCCESS) return {};
  s.resize(std::min(s.find('\0'), s.size()));
  return s;
}

detail::built_kernel describe(cl_kernel k, const std::shared_ptr<device_core>& on) {
  detail::built_kernel made;
  made.name = kernel_text(k, 0, false);
  made.handle = k;
  made.on = on;
  cl_uint n = 0;
  clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof n, &n, nullptr);
  made.parameters.resize(std::min(n, most_parameters));
  made.types_known = true;
  for (cl_uint i = 0; i < made.parameters.size(); ++i) {
    detail::parameter& p = made.parameters[i];
    cl_kernel_arg_address_qualifier space = 0;
    cl_kernel_arg_type_qualifier qualifiers = 0;
    if (clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, nullptr) !=
        CL_SUCCESS) {
      made.types_known = false;
      break;
    }
    clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, nullptr);
    p.space = space_of(space);
    p.is_const = (qualifiers & CL_KERNEL_ARG_TYPE_CONST) != 0;
    p.type = kernel_text(k, i, true);
    while (!p.type.empty() && (p.type.back() == '*' || p.type.back() == ' ')) p.type.pop_back();
  }
  const cl_device_id d = on->id();
  clGetKernelWorkGroupInfo(k, d, CL_KERNEL_WORK_GROUP_SIZE, sizeof made.largest_group,
                           &made.largest_group, nullptr);
  clGetKernelWorkGroupInfo(k, d, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof made.required_group,
                           made.required_group.data(), nullptr);
  if (made.largest_group == 0) made.largest_group = on->info().largest_group;
  return made;
}

std::vector<std::byte> binary_of(cl_program p) {
  std::size_t size = 0;
  if (clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS ||
      size == 0 || size > largest_binary)
    return {};
  std::vector<std::byte> bytes(size);
  auto* to = reinterpret_cast<unsigned char*>(bytes.data());
  if (clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof to, static_cast<void*>(&to), nullptr) !=
      CL_SUCCESS)
    return {};
  return bytes;
}

/// Makes a program from a binary with the right checksum (G7). Returns null if the driver refuses
/// it.
cl_program from_binary(device_core& on, std::span<const std::byte> bytes,
                       const std::string& flags) {
  const cl_device_id id = on.id();
  const std::size_t size = bytes.size();
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  const cl_program p = clCreateProgramWithBinary(on.context(), 1, &id, &size, &at, &status, &code);
  if (code != CL_SUCCESS || p == nullptr) return nullptr;
  if (status == CL_SUCCESS &&
      clBuildProgram(p, 1, &id, flags.c_str(), nullptr, nullptr) == CL_SUCCESS)
    return p;
  clReleaseProgram(p);
  return nullptr;
}

}  // namespace

void builder::start() {
  thread_ = std::thread([me = shared_from_this()] { me->run(); });
}

void builder::post(build_job j) {
  gpu_errc why{};
  {
    const std::lock_guard lock(mutex_);
    if (closing_)
      why = gpu_errc::closed;
    else if (waiting_.size() >= settings_.waiting)
      why = gpu_errc::overload;
    else
      return waiting_.push_back(std::move(j)), work_.notify_one();
  }
  j.done.fail(make_error(why, "the build of " + j.options.name));
}

void builder::run() noexcept {
  base::platform::name_this_thread("gpu builder");
  for (;;) {
    std::optional<build_job> next;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      if (closing_) break;
      next.emplace(std::move(waiting_.front()));
      waiting_.pop_front();
      asker_.emplace(std::move(next->done));
      asked_for_ = next->options.name;
    }
    answer(*next);
  }
  kept_.clear();
  const std::lock_guard lock(mutex_);
  thread_ended_ = true;
  ended_.notify_all();
}

void builder::answer(const build_job& j) noexcept {
  std::optional<completion<program>> asker;
  try {
    result<program> p = build(j);
    asker = take_asker();
    if (!asker) return;  // the end of the runtime has answered
    if (p)
      (*asker)(*std::move(p));
    else
      asker->fail(p.error());
  } catch (const std::exception& e) {  // no memory
    if (!asker) asker = take_asker();
    if (asker) asker->fail(make_error(gpu_errc::build_failed, j.options.name, e.what()));
  }
}

std::optional<completion<program>> builder::take_asker() noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(asker_, std::nullopt);
}

result<program> builder::build(const build_job& j) {
  auto all = std::make_shared<detail::built_program>();
  all->name = j.options.name;
  for (const device& d : j.options.on) {
    result<kept_program> p = build_on(d, j);
    if (!p) return p.error();
    all->on.push_back(*std::move(p));
  }
  return program(std::move(all));
}

result<builder::kept_program> builder::build_on(const device& d, const build_job& j) {
  const std::shared_ptr<device_core>& on = d.core();
  const std::string where = j.options.name + " on " + d.name();
  if (on->is_lost()) return make_error(gpu_errc::device_lost, where);
  const std::string key = key_of(j, d.info());
  for (const auto& [known, p] : kept_)
    if (known == key && p->on == on) return p;

  const std::string flags = flags_of(j);
  const bool on_disk = !settings_.cache.empty();
  cl_program made = nullptr;
  if (on_disk)
    if (const auto bytes = load_binary(settings_.cache, key))
      made = from_binary(*on, *bytes, flags);
  const bool was_on_disk = made != nullptr;
  cl_int code = CL_SUCCESS;
  if (!was_on_disk) {
    const char* text = j.source.data();
    const std::size_t size = j.source.size();
    if (size == 0) return make_error(gpu_errc::build_failed, where, "the source is empty");
    made = clCreateProgramWithSource(on->context(), 1, &text, &size, &code);
    if (code != CL_SUCCESS) return driver_error(where, "clCreateProgramWithSource", code);
    const cl_device_id id = on->id();
    code = clBuildProgram(made, 1, &id, flags.c_str(), nullptr, nullptr);
  }
  // From here on the device's thread releases `made`.
  auto* const owner = new detail::device_program(on, made);
  const std::shared_ptr<detail::device_program> built(owner, detail::discard_program());
  if (means_lost(code)) {
    on->lose();
    return driver_error(where, "clBuildProgram", code);
  }
  if (code != CL_SUCCESS)
    return make_error(gpu_errc::build_failed, where,
                      std::string(name_of(code)) + "\n" + log_of(made, on->id()));
  cl_uint n = 0;
  code = clCreateKernelsInProgram(made, 0, nullptr, &n);
  std::vector<cl_kernel> kernels(std::min(n, most_kernels));
  if (code == CL_SUCCESS && !kernels.empty())
    code = clCreateKernelsInProgram(made, static_cast<cl_uint>(kernels.size()), kernels.data(),
                                    nullptr);
  if (code != CL_SUCCESS) return driver_error(where, "clCreateKernelsInProgram", code);
  for (const cl_kernel k : kernels) built->kernels.push_back(describe(k, on));
  if (on_disk && !was_on_disk) store_binary(settings_.cache, key, binary_of(made));
  keep(key, built);
  return kept_program(built);
}

void builder::keep(std::string key, kept_program p) {
  if (kept_.size() >= most_kept) kept_.pop_front();
  kept_.emplace_back(std::move(key), std::move(p));
}

void builder::begin_close() noexcept {
  std::deque<build_job> all;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    std::swap(all, waiting_);
    work_.notify_one();
  }
  for (build_job& j : all)
    j.done.fail(make_error(gpu_errc::closed, "the build of " + j.options.name));
}

void builder::end_close(std::chrono::steady_clock::time_point until) noexcept {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_until(lock, until, [this] { return thread_ended_; })) {
      thread_.detach();  // a compilation that takes longer has no requester any more
      const std::string name = asked_for_;
      lock.unlock();
      if (const auto asker = take_asker())
        asker->fail(make_error(gpu_errc::closed, "the build of " + name));
      return leave_behind(shared_from_this());
    }
  }
  thread_.join();
}

}  // namespace garrick::gpu::internal

namespace garrick::gpu::detail {

void begin_build(std::string source, build_options o, completion<program> done) {
  if (o.on.empty() || !o.on.front())
    return done.fail(make_error(gpu_errc::no_device, o.name,
                                "build_options::on names no device; runtime::find gives some"));
  const auto& compiler = o.on.front().core()->compiler();
  for (const device& d : o.on) {
    if (!d || d.core()->compiler() != compiler)
      return done.fail(make_error(gpu_errc::no_device, o.name,
                                  "the devices of a program belong to one runtime"));
    if (!d.has(o.needs))
      return done.fail(make_error(gpu_errc::unsupported, o.name + " on " + d.name(),
                                  "the device lacks a capability that the program needs"));
  }
  compiler->post({std::move(source), std::move(o), std::move(done)});
}

}  // namespace garrick::gpu::detail
