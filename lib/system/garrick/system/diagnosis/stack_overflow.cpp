// The handler of SIGSEGV: it may call async-signal-safe functions only, so it writes its line piece
// by piece and reads what the thread has published.
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/base/types/message_type.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/system/diagnosis/stack_overflow.hpp>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace garrick::system {

namespace {

constexpr std::size_t alternate_stack_bytes = 64 * 1024;
thread_local void* alternate_stack = nullptr;

// Where the thread's stack is, roughly, as the handler cannot ask.
thread_local char* stack_low = nullptr;
thread_local char* stack_high = nullptr;

void put(const char* text, std::size_t n) noexcept {
  // Nothing can be done if the report cannot be written.
  if (::write(STDERR_FILENO, text, n) < 0) return;
}
void put(const char* text) noexcept { put(text, std::strlen(text)); }

void put_number(std::uint64_t n) noexcept {
  char digits[20];
  std::size_t at = sizeof digits;
  do {
    digits[--at] = static_cast<char>('0' + n % 10);
    n /= 10;
  } while (n != 0);
  put(digits + at, sizeof digits - at);
}

void on_fault(int, siginfo_t* info, void*) noexcept {
  auto* const where = static_cast<char*>(info->si_addr);
  constexpr std::ptrdiff_t near = 256 * 1024;  // a large frame may jump over the guard page
  if (stack_low != nullptr && where < stack_high && where >= stack_low - near) {
    // order: own thread's value
    const std::uint64_t id = base::this_thread.actor_id.load(std::memory_order_relaxed);
    const base::message_type* const type =
        base::this_thread.handling.load(std::memory_order_relaxed);  // order: own thread's value
    put("garrick: stack overflow in actor ");
    if (base::this_thread.actor != nullptr) {
      const std::string_view name = static_cast<const core::cell*>(base::this_thread.actor)->name();
      put(name.data(), name.size());
    }
    put("#");
    put_number(id);
    put(" while it was handling ");
    if (base::this_thread.in_response.load(std::memory_order_relaxed))  // order: own thread's value
      put("a response of type ");
    if (type != nullptr)
      put(type->name.data(), type->name.size());
    else
      put("its start");
    put(": it recurses too deeply, or its locals are too large for its thread's stack\n");
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  std::signal(SIGSEGV,
              // another fault: it happens again when this returns, and ends the process as it would
              // have without us
              SIG_DFL);
}

// Called by every thread. A program that has removed its own handler meanwhile gets ours.
void install_handler() noexcept {
  struct sigaction present{};
  if (::sigaction(SIGSEGV, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) return;
  struct sigaction ours{};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  ::sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace

void report_stack_overflow_on_this_thread() noexcept {
  install_handler();
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
  // A thread of a pool has a stack of the default size and has used next to nothing of it. Asking
  // for the exact bounds (pthread_getattr_np) would bring the C library's scanf, 90 KB, into every
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
