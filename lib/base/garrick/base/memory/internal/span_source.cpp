// Maps memory from the system, and gives it back.
#include "garrick/base/memory/internal/span_source.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "garrick/base/memory/internal/plain_addresses.hpp"

#if defined(__ELF__)
// Present only under LeakSanitizer: tells it that blocks may hold the last pointer to heap memory.
extern "C" [[gnu::weak]] void __lsan_register_root_region(const void* begin, std::size_t size);
#endif

namespace garrick::base::block_pool::detail {

char* span_system::map(std::size_t bytes, [[maybe_unused]] bool huge) {
  const std::size_t slack = region::bytes;
  void* const mapping =
      ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  expect_plain_addresses(mapping, bytes + slack);
  char* const from = static_cast<char*>(mapping);
  const std::size_t over = reinterpret_cast<std::uintptr_t>(from) % region::bytes;
  char* const begin = over == 0 ? from : from + (region::bytes - over);
  char* const end = begin + bytes;
  if (begin != from) ::munmap(from, static_cast<std::size_t>(begin - from));
  if (char* const mapped_end = from + bytes + slack; mapped_end != end)
    ::munmap(end, static_cast<std::size_t>(mapped_end - end));
#ifdef MADV_HUGEPAGE
  if (huge) ::madvise(begin, bytes, MADV_HUGEPAGE);
#endif
#if defined(__ELF__)
  if (__lsan_register_root_region != nullptr) __lsan_register_root_region(begin, bytes);
#endif
  return begin;
}

// Rounds to whole pages, since some systems have pages as large as two spans.
void span_system::forget(char* begin, char* end) noexcept {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const auto last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace garrick::base::block_pool::detail
