#include "support/failing_memory.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace garrick::tests {

constinit thread_local int failing_allocation = 0;
constinit thread_local bool fails_for_good = false;

}  // namespace garrick::tests

void* operator new(std::size_t bytes) {
  using namespace garrick::tests;
  if (failing_allocation > 0 && --failing_allocation == 0) {
    if (fails_for_good) failing_allocation = 1;
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
