#include "support/stacks_when_stuck.hpp"

#include <atomic>

#ifdef __linux__

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GARRICK_SANITIZER_STACKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GARRICK_SANITIZER_STACKS
#endif
#endif
#ifdef GARRICK_SANITIZER_STACKS
#include <sanitizer/common_interface_defs.h>
#endif
#endif

namespace garrick::tests {

namespace {

std::atomic<const char*> running{"no test case"};

#ifdef __linux__

std::atomic<bool> written{false};

void say(const char* text) noexcept {
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text, std::strlen(text));
}

// With names and lines under a sanitizer; without one, with addresses for addr2line.
void write_own_stack() noexcept {
#ifdef GARRICK_SANITIZER_STACKS
  __sanitizer_print_stack_trace();
#elif __has_include(<execinfo.h>)
  std::array<void*, 48> frames;
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), frames.size()), STDERR_FILENO);
#endif
}

void on_turn(int) {
  write_own_stack();
  written.store(true);
}

// A thread that does not answer (it may hang in the memory's locks, which its report needs, too)
// must not keep the others from it.
void wait_for_the_report() noexcept {
  const timespec pause{0, 10'000'000};
  for (int i = 0; i < 300 && !written.load(); ++i) ::nanosleep(&pause, nullptr);
}

struct directory_entry {  // as the kernel writes it: getdents64(2)
  std::uint64_t inode;
  std::int64_t next;
  unsigned short length;
  unsigned char type;
  char name[1];
};

// Without memory from the heap: the thread that is interrupted may hold its locks.
void on_alarm(int) {
  say("\nstuck in: ");
  say(running.load());
  say("\n");
  const auto self = static_cast<long>(::syscall(SYS_gettid));
  const int tasks = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY);
  alignas(directory_entry) static std::array<char, 16384> entries;
  long bytes = 0;
  while ((bytes = ::syscall(SYS_getdents64, tasks, entries.data(), entries.size())) > 0) {
    for (long at = 0; at < bytes;) {
      const auto& entry = *reinterpret_cast<const directory_entry*>(entries.data() + at);
      at += entry.length;
      const long thread = std::strtol(entry.name, nullptr, 10);
      if (thread <= 0) continue;  // . and ..
      say("\nthread ");
      say(entry.name);
      say("\n");
      if (thread == self) {
        write_own_stack();
        continue;
      }
      written.store(false);
      if (::syscall(SYS_tgkill, ::getpid(), thread, SIGUSR2) == 0) wait_for_the_report();
    }
  }
  ::_exit(124);
}

#endif

}  // namespace

void stuck_in(const char* name) noexcept { running.store(name); }

#ifndef __linux__
void stacks_when_stuck() {}
#else
void stacks_when_stuck() {
  const char* const seconds = std::getenv("TEST_ALARM");
  if (seconds == nullptr) return;
#if !defined(GARRICK_SANITIZER_STACKS) && __has_include(<execinfo.h>)
  std::array<void*, 1> frames;  // the first call loads a library
  ::backtrace(frames.data(), frames.size());
#endif
  struct sigaction action{};
  action.sa_flags = SA_RESTART;
  action.sa_handler = on_turn;
  ::sigaction(SIGUSR2, &action, nullptr);
  action.sa_handler = on_alarm;
  ::sigaction(SIGALRM, &action, nullptr);
  ::alarm(static_cast<unsigned>(std::strtoul(seconds, nullptr, 10)));
}
#endif

}  // namespace garrick::tests
