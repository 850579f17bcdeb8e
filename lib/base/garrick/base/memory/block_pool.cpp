// The slow path of the block pool: batches that change hands, fresh memory, and threads that come
// and go.
#include "garrick/base/memory/block_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>

#include "garrick/base/platform/assert.hpp"

// Present only under LeakSanitizer: tells it that blocks may hold the last pointer to heap memory.
extern "C" [[gnu::weak]] void __lsan_register_root_region(const void* begin, std::size_t size);

namespace garrick::base::block_pool {
namespace detail {
namespace {

/// A list in the depot. It lies in its own first block: `free_block::next` is its first word.
struct stored_list {
  free_block* next;    // of the blocks in this list
  stored_list* below;  // the next list of the depot
  std::uint32_t blocks;
};
static_assert(sizeof(stored_list) <= block_step);

constexpr std::size_t slot_count = 8;

/// What all threads share of one size class.
struct alignas(64) shared_class {
  std::atomic<free_block*> slots[slot_count]{};  // full batches (B2)
  // under the mutex
  alignas(64) std::mutex mutex;
  stored_list* lists = nullptr;
  std::size_t stored_blocks = 0;  // blocks in `lists`
  std::size_t cut_blocks = 0;     // blocks ever cut from fresh memory
};

/// Where fresh memory comes from. All of it stays reachable from here, and mapped until the process
/// ends.
struct memory_source {
  static constexpr std::size_t first_region = std::size_t{1} << 20;
  static constexpr std::size_t largest_region = std::size_t{16} << 20;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  std::mutex mutex;
  // under the mutex
  char* next = nullptr;
  char* end = nullptr;
  std::size_t region = first_region;
  std::size_t mapped = 0;
};

struct thread_node {
  const thread_lists* lists;
  thread_node* before;
  thread_node* after;
};

/// The living threads that have used the pool, for counting.
struct thread_registry {
  std::mutex mutex;
  thread_node* first = nullptr;  // under the mutex
};

// All trivially destructible, so that they work until the very end of the process.
constinit shared_class shared[class_count];
constinit memory_source source;
constinit thread_registry registry;
constinit std::atomic<std::size_t> large_in_use{0};

enum class thread_phase : std::uint8_t { fresh, registered, ended };
constinit thread_local thread_phase phase = thread_phase::fresh;

constexpr std::size_t bytes_of(std::size_t size_class) { return (size_class + 1) * block_step; }

// --- batches ---

[[nodiscard]] bool put_in_slot(std::size_t size_class, free_block* batch) noexcept {
  for (auto& slot : shared[size_class].slots) {
    free_block* expected = nullptr;
    // order: relaxed; only a hint whether the exchange below is worth it.
    if (slot.load(std::memory_order_relaxed) != nullptr) continue;
    // order: release; pairs with the exchange in take_from_slot: the blocks' links, and what was
    // done with the blocks before, are visible there.
    if (slot.compare_exchange_strong(expected, batch, std::memory_order_release,
                                     std::memory_order_relaxed))
      return true;
  }
  return false;
}

[[nodiscard]] free_block* take_from_slot(std::size_t size_class) noexcept {
  for (auto& slot : shared[size_class].slots) {
    // order: relaxed; only a hint whether the exchange below is worth it.
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    // order: acquire; pairs with the compare-exchange in put_in_slot.
    if (free_block* batch = slot.exchange(nullptr, std::memory_order_acquire)) return batch;
  }
  return nullptr;
}

void put_in_depot(std::size_t size_class, free_block* list, std::uint32_t blocks) noexcept {
  if (list == nullptr) return;
  auto* stored = reinterpret_cast<stored_list*>(list);
  shared_class& depot = shared[size_class];
  const std::lock_guard lock(depot.mutex);
  stored->below = depot.lists;
  stored->blocks = blocks;
  depot.lists = stored;
  depot.stored_blocks += blocks;
}

struct some_blocks {
  free_block* first = nullptr;
  std::uint32_t count = 0;
};

[[nodiscard]] some_blocks take_from_depot(std::size_t size_class) noexcept {
  shared_class& depot = shared[size_class];
  const std::lock_guard lock(depot.mutex);
  if (depot.lists == nullptr) return {};
  stored_list* stored = depot.lists;
  depot.lists = stored->below;
  depot.stored_blocks -= stored->blocks;
  return {reinterpret_cast<free_block*>(stored), stored->blocks};
}

void put_batch(std::size_t size_class, free_block* batch) noexcept {
  if (!put_in_slot(size_class, batch)) put_in_depot(size_class, batch, batch_blocks);
}

// --- fresh memory ---

/// Maps the next region, under the source's mutex. The first is small; later ones are aligned for
/// huge pages, which make fresh memory several times cheaper.
void map_region() {
  const bool huge = source.mapped != 0;
  const std::size_t size = source.region;
  const std::size_t slack = huge ? memory_source::huge_page : 0;
  void* mapping =
      ::mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  char* begin = static_cast<char*>(mapping);
  if (huge) {
    const auto over = reinterpret_cast<std::uintptr_t>(begin) % memory_source::huge_page;
    char* aligned = over == 0 ? begin : begin + (memory_source::huge_page - over);
    if (aligned != begin) ::munmap(begin, static_cast<std::size_t>(aligned - begin));
    if (const auto rest = static_cast<std::size_t>(begin + size + slack - (aligned + size));
        rest != 0)
      ::munmap(aligned + size, rest);
    begin = aligned;
    ::madvise(begin, size, MADV_HUGEPAGE);
  }
  if (__lsan_register_root_region != nullptr) __lsan_register_root_region(begin, size);
  source.next = begin;
  source.end = begin + size;
  source.mapped += size;
  source.region = std::min(source.region * 2, memory_source::largest_region);
}

/// A list of new blocks: a batch, or what was left of a region.
[[nodiscard]] some_blocks cut(std::size_t size_class) {
  const std::size_t bytes = bytes_of(size_class);
  char* begin = nullptr;
  std::size_t count = batch_blocks;
  {
    const std::lock_guard lock(source.mutex);
    if (static_cast<std::size_t>(source.end - source.next) < bytes) map_region();
    count = std::min(count, static_cast<std::size_t>(source.end - source.next) / bytes);
    begin = source.next;
    source.next += count * bytes;
  }
  for (std::size_t i = 0; i < count; ++i) {
    char* next = i + 1 < count ? begin + (i + 1) * bytes : nullptr;
    ::new (begin + i * bytes) free_block{reinterpret_cast<free_block*>(next)};
  }
  const std::lock_guard lock(shared[size_class].mutex);
  shared[size_class].cut_blocks += count;
  return {reinterpret_cast<free_block*>(begin), static_cast<std::uint32_t>(count)};
}

// --- the reserve ---

alignas(block_step) std::byte reserve[reserved_blocks * block_step];
std::atomic<std::uint32_t> reserve_used{0};

// --- threads ---

/// Keeps the thread in the registry while it lives, and gives everything back when it ends (B3).
class thread_guard {
 public:
  thread_guard() noexcept {
    const std::lock_guard lock(registry.mutex);
    node_.lists = &lists;
    node_.after = registry.first;
    if (registry.first != nullptr) registry.first->before = &node_;
    registry.first = &node_;
    phase = thread_phase::registered;
    for (thread_list& list : lists.of)
      // order: relaxed; own thread, under the mutex.
      list.count.store(0, std::memory_order_relaxed);
  }
  thread_guard(const thread_guard&) = delete;
  thread_guard& operator=(const thread_guard&) = delete;

  ~thread_guard() {
    phase = thread_phase::ended;
    const std::lock_guard lock(registry.mutex);
    for (std::size_t c = 0; c < class_count; ++c) give_back(c);
    if (node_.before != nullptr) node_.before->after = node_.after;
    if (node_.after != nullptr) node_.after->before = node_.before;
    if (registry.first == &node_) registry.first = node_.after;
  }

  void touch() const noexcept {}

 private:
  static void give_back(std::size_t size_class) noexcept {
    thread_list& list = lists.of[size_class];
    // order: relaxed; own thread's field.
    put_in_depot(size_class, list.loaded, list.count.load(std::memory_order_relaxed));
    put_in_depot(size_class, list.spare, batch_blocks);
    list.loaded = list.spare = nullptr;
    list.count.store(batch_blocks,
                     // order: relaxed; own thread's field: "full" sends each free to the slow path.
                     std::memory_order_relaxed);
  }

  thread_node node_{};
};

void register_thread() noexcept {
  static thread_local thread_guard guard;
  guard.touch();
}

/// For a thread that has ended: one block. The others of its list go to the depot.
[[nodiscard]] void* allocate_after_end(std::size_t size_class) {
  some_blocks some = take_from_depot(size_class);
  if (some.first == nullptr) some = {take_from_slot(size_class), batch_blocks};
  if (some.first == nullptr) some = cut(size_class);
  put_in_depot(size_class, some.first->next, some.count - 1);
  return some.first;
}

}  // namespace

void* allocate_slow(std::size_t size_class) {
  if (phase == thread_phase::fresh) register_thread();
  if (phase == thread_phase::ended) return allocate_after_end(size_class);
  thread_list& list = lists.of[size_class];
  some_blocks some{list.spare, batch_blocks};
  list.spare = nullptr;
  if (some.first == nullptr) some = {take_from_slot(size_class), batch_blocks};
  if (some.first == nullptr) some = take_from_depot(size_class);
  if (some.first == nullptr) some = cut(size_class);
  list.loaded = some.first->next;
  // order: relaxed; own thread's field.
  list.count.store(some.count - 1, std::memory_order_relaxed);
  return some.first;
}

void deallocate_slow(void* memory, std::size_t size_class) noexcept {
  if (phase == thread_phase::fresh) register_thread();
  auto* block = ::new (memory) free_block{nullptr};
  if (phase == thread_phase::ended) return put_in_depot(size_class, block, 1);
  thread_list& list = lists.of[size_class];
  if (list.loaded != nullptr) {  // full, unless the thread has just been registered
    if (list.spare != nullptr) put_batch(size_class, list.spare);
    list.spare = list.loaded;
  }
  list.loaded = block;
  list.count.store(1, std::memory_order_relaxed);  // order: relaxed; own thread's field.
}

void* allocate_large(std::size_t bytes) {
  void* block = ::operator new(bytes, std::align_val_t{block_step});
  large_in_use.fetch_add(1, std::memory_order_relaxed);  // order: relaxed; a statistic.
  return block;
}

void deallocate_large(void* block, std::size_t bytes) noexcept {
  large_in_use.fetch_sub(1, std::memory_order_relaxed);  // order: relaxed; a statistic.
  ::operator delete(block, bytes, std::align_val_t{block_step});
}

namespace {

[[nodiscard]] std::size_t class_in_use(std::size_t size_class) noexcept {
  const std::lock_guard registry_lock(registry.mutex);
  shared_class& everybodys = shared[size_class];
  const std::lock_guard lock(everybodys.mutex);
  std::size_t free = everybodys.stored_blocks;
  for (const auto& slot : everybodys.slots)
    // order: relaxed; callers are quiet while they count.
    if (slot.load(std::memory_order_relaxed) != nullptr) free += batch_blocks;
  for (const thread_node* thread = registry.first; thread != nullptr; thread = thread->after) {
    const thread_list& list = thread->lists->of[size_class];
    // order: relaxed; callers are quiet while they count.
    free += list.count.load(std::memory_order_relaxed) + (list.spare != nullptr ? batch_blocks : 0);
  }
  return everybodys.cut_blocks - free;
}

}  // namespace
}  // namespace detail

std::size_t blocks_in_use(std::size_t bytes) noexcept {
  // order: relaxed; callers are quiet while they count.
  if (GARRICK_POOL_IS_NEW || bytes > largest_block)
    return detail::large_in_use.load(std::memory_order_relaxed);
  return detail::class_in_use(detail::class_of(bytes));
}

std::size_t blocks_in_use() noexcept {
  // order: relaxed; callers are quiet while they count.
  std::size_t sum = detail::large_in_use.load(std::memory_order_relaxed);
  if (!GARRICK_POOL_IS_NEW)
    for (std::size_t c = 0; c < class_count; ++c) sum += detail::class_in_use(c);
  return sum;
}

void* allocate_reserved() noexcept {
  if (GARRICK_POOL_IS_NEW) return nullptr;  // there `deallocate` frees what is not the reserve's
  // order: relaxed; a number of its own for each caller
  std::uint32_t used = detail::reserve_used.load(std::memory_order_relaxed);
  do {
    if (used == reserved_blocks) return nullptr;
    // order: relaxed both; as above
  } while (!detail::reserve_used.compare_exchange_weak(used, used + 1, std::memory_order_relaxed,
                                                       std::memory_order_relaxed));
  detail::shared_class& smallest = detail::shared[detail::class_of(block_step)];
  const std::lock_guard lock(smallest.mutex);
  ++smallest.cut_blocks;  // from now on it is a block like the others
  return detail::reserve + used * block_step;
}

std::size_t mapped_bytes() noexcept {
  const std::lock_guard lock(detail::source.mutex);
  return detail::source.mapped;
}

}  // namespace garrick::base::block_pool
