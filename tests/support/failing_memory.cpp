#include "support/failing_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace garrick::tests {

constinit thread_local int failing_allocation = 0;
constinit thread_local bool fails_for_good = false;
constinit thread_local std::size_t failing_size = 0;

namespace {

/// Throws std::bad_alloc if this allocation must fail.
void fail_if_it_is_time(std::size_t bytes) {
  if (failing_allocation > 0 && bytes >= failing_size && --failing_allocation == 0) {
    if (fails_for_good) failing_allocation = 1;
    throw std::bad_alloc();
  }
}

}  // namespace

}  // namespace garrick::tests

void* operator new(std::size_t bytes) {
  garrick::tests::fail_if_it_is_time(bytes);
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  garrick::tests::fail_if_it_is_time(bytes);
  void* memory = nullptr;
  const std::size_t wanted = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  if (posix_memalign(&memory, wanted, bytes == 0 ? 1 : bytes) == 0) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
