// Memory at addresses that a mailbox's word cannot hold, as systems with five levels of page tables
// or with tagged pointers may give it: the process ends with a message when it gets the memory, and
// not later with a pointer that has lost its upper bits. This program's own mmap and operator new
// give such addresses.
#include <garrick/base/memory/block_pool.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <doctest/doctest.h>

#include "support/in_child.hpp"

namespace {

std::uintptr_t upper_bits = 0;  // of the addresses that the program gets from now on

void* with_upper_bits(void* address) noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) | upper_bits);
}

}  // namespace

extern "C" void* mmap(void* wanted, std::size_t bytes, int access, int flags, int file,
                      off_t offset) noexcept {
  const long address = ::syscall(SYS_mmap, wanted, bytes, access, flags, file, offset);
  return address == -1 ? MAP_FAILED : with_upper_bits(reinterpret_cast<void*>(address));
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  void* const block = std::aligned_alloc(step, (bytes + step - 1) / step * step);
  if (block == nullptr) throw std::bad_alloc();
  return with_upper_bits(block);
}
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }

namespace {

namespace pool = garrick::base::block_pool;

constexpr std::size_t small = 64, large = 4 * pool::largest_block;

}  // namespace

// Always in a child, since the pool asks for memory only when it has none.
TEST_CASE("far addresses: memory below 2^48 is taken") {
  const auto [text, status] = garrick::tests::in_child([] {
    for (const std::size_t bytes : {small, large}) {
      void* const block = pool::allocate(bytes);
      std::memset(block, 1, bytes);
      pool::deallocate(block, bytes);
    }
  });
  CHECK(text.empty());
  CHECK(status == 0);
}

TEST_CASE(
    "far addresses: the first bit that is too high, and a tag in the top byte, end the process") {
  for (const std::uintptr_t bits : {std::uintptr_t{1} << 48, std::uintptr_t{0xb4} << 56}) {
    for (const std::size_t bytes : {small, large}) {
      CAPTURE(bits);
      CAPTURE(bytes);
      const auto [text, status] = garrick::tests::in_child([&] {
        upper_bits = bits;
        static_cast<void>(pool::allocate(bytes));
      });
      CHECK(garrick::tests::has_aborted(status));
      CHECK(text.find("must lie at addresses of at most 48 bits") != std::string::npos);
    }
  }
}
