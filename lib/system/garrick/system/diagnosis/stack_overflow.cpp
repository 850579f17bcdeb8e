// The handler of SIGSEGV: it may call async-signal-safe functions only, and reads the thread's
// published state.
#include <garrick/base/concurrency/fatal.hpp>
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/base/types/message_type.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/system/diagnosis/stack_overflow.hpp>

#include <pthread.h>
#include <sys/mman.h>
#include <array>
#include <charconv>
#include <csignal>
#include <string_view>

namespace garrick::system {

namespace {

constexpr std::size_t alternate_stack_bytes = 64 * 1024;
thread_local void* alternate_stack = nullptr;

// The approximate bounds of the thread's stack, since the handler cannot ask for them.
thread_local char* stack_low = nullptr;
thread_local char* stack_high = nullptr;

void on_fault(int signal, siginfo_t* info, void*) noexcept {
  auto* const where = static_cast<char*>(info->si_addr);
  constexpr std::ptrdiff_t near = 256 * 1024;  // a large frame may jump over the guard page
  if (stack_low != nullptr && where < stack_high && where >= stack_low - near) {
    // order: own thread's value
    const std::uint64_t id = base::this_thread.actor_id.load(std::memory_order_relaxed);
    const base::message_type* const type =
        base::this_thread.handling.load(std::memory_order_relaxed);  // order: own thread's value
    std::string_view name;
    if (base::this_thread.actor != nullptr)
      name = static_cast<const core::cell*>(base::this_thread.actor)->name();
    std::array<char, 20> digits{};
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), id).ptr;
    // order: own thread's value
    const bool response = base::this_thread.in_response.load(std::memory_order_relaxed);
    std::signal(SIGABRT, SIG_DFL);
    base::end_process(
        base::fatal_cause::stack_overflow,
        {"stack overflow in actor ", name, "#",
         std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())),
         " while it was handling ", response ? "a response of type " : "",
         type != nullptr ? type->name : "its start",
         ": it recurses too deeply, or its locals are too large for its thread's stack"});
  }
  // Another fault: the process ends as it would have ended without this handler.
  base::tell_of_signal(signal);
  base::end_of_signal(signal);
}

}  // namespace

void report_stack_overflow_on_this_thread() noexcept {
  // Every thread installs the handler, since a program may have removed its own handler meanwhile.
  static_cast<void>(base::handle_signal(SIGSEGV, on_fault));
  void* const memory = ::mmap(nullptr, alternate_stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t s{};
  s.ss_sp = memory;
  s.ss_size = alternate_stack_bytes;
  if (::sigaltstack(&s, nullptr) != 0) {
    ::munmap(memory, alternate_stack_bytes);
    return;
  }
  alternate_stack = memory;
  // A thread of a pool has a stack of the default size, of which it has used very little. A call
  // for the exact bounds (pthread_getattr_np) would link the C library's scanf, 90 KB, into every
  // static program.
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return;
  std::size_t size = 0;
  if (::pthread_attr_getstacksize(&attributes, &size) == 0) {
    stack_high = static_cast<char*>(__builtin_frame_address(0));
    stack_low = stack_high - size;
  }
  ::pthread_attr_destroy(&attributes);
}

void forget_stack_overflow_on_this_thread() noexcept {
  if (alternate_stack == nullptr) return;
  stack_t off{};
  off.ss_flags = SS_DISABLE;
  ::sigaltstack(&off, nullptr);
  ::munmap(alternate_stack, alternate_stack_bytes);
  alternate_stack = nullptr;
}

}  // namespace garrick::system
