// Lets a test run out of threads: while a `room_for_threads` lives, the address space has room for
// the stacks of only as many more threads as it was made for.
//
// Not under sanitizers, which need all of the address space, and not under an emulator, which has
// no such limit: `doctest::skip(HAS_SANITIZER || IS_EMULATED)` of in_child.hpp.
#pragma once

#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace garrick::tests {

class room_for_threads {
 public:
  explicit room_for_threads(std::uint64_t count) {
    getrlimit(RLIMIT_AS, &before_);
    pthread_getattr_default_np(&stacks_before_);
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, stack);
    pthread_setattr_default_np(&large);
    pthread_attr_destroy(&large);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur =
        pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + count * stack + stack / 2;
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  }
  ~room_for_threads() {
    setrlimit(RLIMIT_AS, &before_);
    pthread_setattr_default_np(&stacks_before_);
    pthread_attr_destroy(&stacks_before_);
  }
  room_for_threads(const room_for_threads&) = delete;
  room_for_threads& operator=(const room_for_threads&) = delete;

 private:
  static constexpr std::uint64_t stack = std::uint64_t{4} << 30;
  rlimit before_{};
  pthread_attr_t stacks_before_{};
};

}  // namespace garrick::tests
