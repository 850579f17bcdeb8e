// The slow path of the block pool: batches that change hands, blocks that go back to their spans,
// threads that come and go, and processes that fork.
//
// Locks, in the order in which they are taken: the caretakers', the registry's, a class's (in the
// order of sizes), the source's.
#include "garrick/base/memory/block_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "garrick/base/memory/internal/batch_slots.hpp"
#include "garrick/base/memory/internal/plain_addresses.hpp"
#include "garrick/base/memory/internal/span_source.hpp"
#include "garrick/base/platform/assert.hpp"

namespace garrick::base::block_pool {
namespace detail {
namespace {

constexpr std::size_t slot_count = 16;

/// The data of one size class that all threads share.
struct alignas(64) shared_class {
  batch_slots<free_block, slot_count> slots;  // full batches (B2)
  // under the mutex
  alignas(64) std::mutex mutex;
  span* with_free = nullptr;      // the depot: spans with some free blocks (B4)
  span* cutting = nullptr;        // where the next blocks are cut
  std::size_t stored_blocks = 0;  // in the depot
  std::size_t cut_blocks = 0;     // in all spans of this class, or from the reserve
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
constinit span_source source;
constinit thread_registry registry;
constinit std::atomic<std::size_t> large_in_use{0};

enum class thread_phase : std::uint8_t { fresh, registered, ended };
constinit thread_local thread_phase phase = thread_phase::fresh;
constinit thread_local thread_node* own_node = nullptr;

constexpr std::size_t bytes_of(std::size_t size_class) { return (size_class + 1) * block_step; }

// --- the depot ---

alignas(block_step) std::byte reserve[reserved_blocks * block_step];
std::atomic<std::uint32_t> reserve_used{0};
// never full, so it is never retired
constinit span span_of_reserve{nullptr, nullptr, nullptr, 0, 0, 0xffff};

[[nodiscard]] span& span_of(free_block* block) noexcept {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(reserve);
  return offset < sizeof(reserve) ? span_of_reserve : region::span_of(block);
}

void link(shared_class& depot, span& s) noexcept {
  s.before = nullptr;
  s.next = depot.with_free;
  if (s.next != nullptr) s.next->before = &s;
  depot.with_free = &s;
}

void unlink(shared_class& depot, span& s) noexcept {
  (s.before != nullptr ? s.before->next : depot.with_free) = s.next;
  if (s.next != nullptr) s.next->before = s.before;
}

/// Takes a span away from this class, after all of its blocks have come back.
void retire(shared_class& depot, span& s) noexcept {
  unlink(depot, s);
  depot.stored_blocks -= s.capacity;
  depot.cut_blocks -= s.capacity;
  source.put(s);
}

/// Puts every block back into its span (B4). Blocks of one span often come in a row.
void put_in_depot(std::size_t size_class, free_block* list) noexcept {
  if (list == nullptr) return;
  shared_class& depot = shared[size_class];
  const std::lock_guard lock(depot.mutex);
  while (list != nullptr) {
    span& s = span_of(list);
    free_block* free = s.free;
    std::uint16_t count = 0;
    do {
      free_block* const block = std::exchange(list, list->next);
      block->next = std::exchange(free, block);
      ++count;
    } while (list != nullptr && &span_of(list) == &s);
    s.free = free;
    depot.stored_blocks += count;
    if (s.free_count == 0) link(depot, s);
    s.free_count = static_cast<std::uint16_t>(s.free_count + count);
    if (s.free_count == s.capacity) retire(depot, s);
  }
}

struct some_blocks {
  free_block* first = nullptr;
  std::uint32_t count = 0;
};

/// Returns free blocks of one span, a batch at most.
[[nodiscard]] some_blocks take_from_span(shared_class& depot, span& s) noexcept {
  some_blocks some{s.free, s.free_count};
  if (some.count <= batch_blocks) {
    unlink(depot, s);
    s.free = nullptr;
    s.free_count = 0;
  } else {
    some.count = batch_blocks;
    free_block* last = some.first;
    for (std::uint32_t i = 1; i < batch_blocks; ++i) last = last->next;
    s.free = std::exchange(last->next, nullptr);
    s.free_count = static_cast<std::uint16_t>(s.free_count - batch_blocks);
  }
  depot.stored_blocks -= some.count;
  return some;
}

/// Returns up to a batch of blocks: few only if the depot has few, and none if it has none.
[[nodiscard]] some_blocks take_from_depot(std::size_t size_class) noexcept {
  constexpr std::uint32_t enough = batch_blocks / 2;
  shared_class& depot = shared[size_class];
  const std::lock_guard lock(depot.mutex);
  some_blocks some;
  while (some.count < enough && depot.with_free != nullptr) {
    if (some.count + depot.with_free->free_count > batch_blocks && some.count != 0) break;
    const some_blocks more = take_from_span(depot, *depot.with_free);
    free_block* last = more.first;
    if (some.count != 0)
      while (last->next != nullptr) last = last->next;
    if (some.count != 0) last->next = some.first;
    some = {more.first, some.count + more.count};
  }
  return some;
}

void put_batch(std::size_t size_class, free_block* batch) noexcept {
  if (!shared[size_class].slots.put(batch)) put_in_depot(size_class, batch);
}

// --- fresh blocks ---

/// Returns a list of new blocks: a batch, or the rest of a span.
[[nodiscard]] some_blocks cut(std::size_t size_class) {
  const std::size_t bytes = bytes_of(size_class);
  shared_class& everybodys = shared[size_class];
  std::size_t count = 0;
  char* begin = nullptr;
  {
    const std::lock_guard lock(everybodys.mutex);
    if (everybodys.cutting == nullptr) everybodys.cutting = &source.take(bytes);
    span& s = *everybodys.cutting;
    count = std::min<std::size_t>(batch_blocks, std::size_t{s.capacity} - s.cut);
    begin = span_source::begin_of(s) + s.cut * bytes;
    s.cut = static_cast<std::uint16_t>(s.cut + count);
    everybodys.cut_blocks += count;
    if (s.cut == s.capacity) everybodys.cutting = nullptr;
  }
  for (std::size_t i = 0; i < count; ++i) {
    char* next = i + 1 < count ? begin + (i + 1) * bytes : nullptr;
    ::new (begin + i * bytes) free_block{reinterpret_cast<free_block*>(next)};
  }
  return {reinterpret_cast<free_block*>(begin), static_cast<std::uint32_t>(count)};
}

// --- caretakers give idle memory back ---

constinit std::mutex caretakers_mutex;
constinit caretaker* caretakers = nullptr;  // under the mutex

/// Called after every call that may have left spans idle, when no lock is held any more.
void call_caretaker() noexcept {
  if (!source.wants_care()) return;
  const std::lock_guard lock(caretakers_mutex);
  if (caretakers != nullptr) caretakers->wake();
}

// --- threads ---

/// Keeps the thread in the registry while it lives, and gives everything back when it ends (B3).
class thread_guard {
 public:
  thread_guard() noexcept {
    const std::lock_guard lock(registry.mutex);
    own_node = &node_;
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
    std::unique_lock lock(registry.mutex);
    for (std::size_t c = 0; c < class_count; ++c) give_back(c);
    if (node_.before != nullptr) node_.before->after = node_.after;
    if (node_.after != nullptr) node_.after->before = node_.before;
    if (registry.first == &node_) registry.first = node_.after;
    own_node = nullptr;
    lock.unlock();
    call_caretaker();
  }

  void touch() const noexcept {}

 private:
  static void give_back(std::size_t size_class) noexcept {
    thread_list& list = lists.of[size_class];
    put_in_depot(size_class, list.loaded);
    put_in_depot(size_class, list.spare);
    list.loaded = list.spare = nullptr;
    list.count.store(batch_blocks,
                     // order: relaxed; own thread's field: "full" sends each free to the slow path.
                     std::memory_order_relaxed);
  }

  thread_node node_{};
};

// --- fork ---

/// Takes all locks before a fork: the child has one thread and the locks as they were, so no other
/// thread may hold a lock at that moment.
void lock_all() noexcept {
  caretakers_mutex.lock();
  registry.mutex.lock();
  for (shared_class& c : shared) c.mutex.lock();
  source.mutex().lock();
}
void unlock_all() noexcept {
  source.mutex().unlock();
  for (shared_class& c : shared) c.mutex.unlock();
  registry.mutex.unlock();
  caretakers_mutex.unlock();
}
/// Resets the state in the child: the blocks kept by the parent's other threads are lost, and so
/// are the caretakers.
void go_on_in_child() noexcept {
  thread_node* const mine = own_node;
  registry.first = mine;
  if (mine != nullptr) mine->before = mine->after = nullptr;
  caretakers = nullptr;
  source.forget_care();
  unlock_all();
}

/// Runs when the process begins, before the program's own constructors. So a fork handler of the
/// program's, which may send, runs before these locks are taken. The registration needs memory for
/// three pointers: a process without that much at its start has no use for the pool.
[[gnu::constructor(101)]] void handle_forks() noexcept {
  ::pthread_atfork(lock_all, unlock_all, go_on_in_child);
}

void register_thread() noexcept {
  static thread_local thread_guard guard;
  guard.touch();
}

/// Returns one block to a thread that has ended. The others of its list go to the depot.
[[nodiscard]] void* allocate_after_end(std::size_t size_class) {
  some_blocks some = take_from_depot(size_class);
  if (some.first == nullptr) some = {shared[size_class].slots.take(), batch_blocks};
  if (some.first == nullptr) some = cut(size_class);
  put_in_depot(size_class, some.first->next);
  return some.first;
}

}  // namespace

void* allocate_slow(std::size_t size_class) {
  if (phase == thread_phase::fresh) register_thread();
  if (phase == thread_phase::ended) return allocate_after_end(size_class);
  thread_list& list = lists.of[size_class];
  some_blocks some{list.spare, batch_blocks};
  list.spare = nullptr;
  if (some.first == nullptr) some = {shared[size_class].slots.take(), batch_blocks};
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
  if (phase == thread_phase::ended) return put_in_depot(size_class, block);
  thread_list& list = lists.of[size_class];
  free_block* const surplus = list.loaded != nullptr ? list.spare : nullptr;
  // the loaded list is full, or null if the thread has just been registered
  if (list.loaded != nullptr) list.spare = list.loaded;
  list.loaded = block;
  list.count.store(1, std::memory_order_relaxed);  // order: relaxed; own thread's field.
  if (surplus == nullptr) return;
  put_batch(size_class, surplus);
  call_caretaker();
}

// These functions call none of the inline functions that test for the sanitizer: the linker may
// have kept the program's copies of those.
void* allocate_as_built(std::size_t bytes) {
  return GARRICK_POOL_IS_NEW || bytes > largest_block ? allocate_large(bytes)
                                                      : allocate_class(class_of(bytes));
}
void deallocate_as_built(void* block, std::size_t bytes) noexcept {
  if (GARRICK_POOL_IS_NEW || bytes > largest_block) return deallocate_large(block, bytes);
  deallocate_class(block, class_of(bytes));
}

void* allocate_large(std::size_t bytes) {
  void* block = ::operator new(bytes, std::align_val_t{block_step});
  expect_plain_addresses(block, bytes);
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
  std::size_t free = everybodys.stored_blocks + everybodys.slots.count() * batch_blocks;
  for (const thread_node* thread = registry.first; thread != nullptr; thread = thread->after) {
    const thread_list& list = thread->lists->of[size_class];
    // order: relaxed; callers are quiet while they count.
    free += list.count.load(std::memory_order_relaxed) + (list.spare != nullptr ? batch_blocks : 0);
  }
  return everybodys.cut_blocks - free;
}

/// Empties the slots: full batches, which no thread wants at the moment, must not keep spans from
/// becoming free.
void empty_slots() noexcept {
  for (std::size_t c = 0; c < class_count; ++c)
    while (free_block* const batch = shared[c].slots.take()) put_in_depot(c, batch);
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
  if (GARRICK_POOL_IS_NEW) return nullptr;  // `deallocate` would give it to operator delete
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

std::size_t mapped_bytes() noexcept { return detail::source.now().mapped; }
std::size_t held_bytes() noexcept { return detail::source.now().held; }

std::size_t give_back(std::size_t most) noexcept {
  detail::empty_slots();
  return detail::source.give_back(most, true);
}

void caretaker::join(std::size_t kept_bytes) noexcept {
  const std::lock_guard lock(detail::caretakers_mutex);
  kept_ = kept_bytes;
  next_ = std::exchange(detail::caretakers, this);
  detail::source.set_kept(most_kept(this));
}

void caretaker::leave() noexcept {
  std::unique_lock lock(detail::caretakers_mutex);
  caretaker** at = &detail::caretakers;
  while (*at != this && *at != nullptr) at = &(*at)->next_;
  if (*at == nullptr) return;
  *at = next_;
  if (detail::caretakers != nullptr) {
    detail::source.set_kept(most_kept(detail::caretakers));
    return detail::caretakers->wake();
  }
  lock.unlock();
  detail::empty_slots();
  detail::source.give_back(~std::size_t{0}, false);
}

std::size_t caretaker::most_kept(const caretaker* first) noexcept {
  std::size_t most = 0;
  for (const caretaker* c = first; c != nullptr; c = c->next_) most = std::max(most, c->kept_);
  return most;
}

}  // namespace garrick::base::block_pool
