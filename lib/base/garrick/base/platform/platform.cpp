// Linux' system calls and files, and the portable fallback of each.
#include <garrick/base/platform/assert.hpp>
#include <garrick/base/platform/platform.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <climits>
#include <ctime>
#if __has_include(<sys/rseq.h>) && (defined(__x86_64__) || defined(__aarch64__))
#include <sys/rseq.h>
#define GARRICK_HAS_RSEQ 1
#endif
#endif
#ifndef GARRICK_HAS_RSEQ
#define GARRICK_HAS_RSEQ 0
#endif

namespace garrick::base::platform {

// --- waiting on a word ---------------------------------------------------------------------------

#if defined(__linux__)

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

timespec to_timespec(std::uint64_t ns) noexcept {
  timespec out{};
  out.tv_sec = static_cast<time_t>(ns / ns_per_s);
  out.tv_nsec = static_cast<long>(ns % ns_per_s);
  return out;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                 nullptr, 0);
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  futex(word, FUTEX_WAIT_PRIVATE, expected, nullptr);
}

bool futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::uint64_t timeout_ns) noexcept {
  const timespec timeout = to_timespec(timeout_ns);
  return futex(word, FUTEX_WAIT_PRIVATE, expected, &timeout) == 0 || errno != ETIMEDOUT;
}

void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE_PRIVATE, 1, nullptr);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE_PRIVATE, static_cast<std::uint32_t>(INT_MAX), nullptr);
}

#else

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  // order: acquire, pairs with the release that made the word change
  word.wait(expected, std::memory_order_acquire);
}

bool futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::uint64_t timeout_ns) noexcept {
  const std::uint64_t end = monotonic_ns() + timeout_ns;
  // order: acquire, pairs with the release that made the word change
  while (word.load(std::memory_order_acquire) == expected) {
    if (monotonic_ns() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept { word.notify_one(); }
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept { word.notify_all(); }

#endif

// --- a barrier on behalf of all threads ----------------------------------------------------------

namespace {

/// Replaces the barrier where the system has none: the other side has a full fence then.
void fence() noexcept {
#if !GARRICK_TSAN  // ThreadSanitizer knows no fences: there both sides use read-modify-writes
  // order: seq_cst, pairs with the other side's full fence
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace

#if defined(__linux__)

namespace {

bool call_membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

bool register_for_barriers() noexcept {
  const long known = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (known < 0 || (known & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0 ||
      !call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
    return false;
  // order: none needed; the initialisation of `answer` below carries it to those that rely on it
  process_barrier_ready.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace

bool enable_process_barrier() noexcept {
  static const bool answer = register_for_barriers();
  return answer;
}

void process_barrier() noexcept {
  if (!process_barrier_enabled()) {
    fence();
    return;
  }
  if (call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) [[likely]]
    return;
  // The kernel had no memory for this barrier. The barrier for all processes of the system takes
  // milliseconds, but needs no memory.
  if (call_membarrier(MEMBARRIER_CMD_GLOBAL)) return;
  // Other threads rely on this barrier: between two of their instructions nothing else replaces it.
  refused_by_system(
      "membarrier, which it granted when the first actor system was made. Was a seccomp filter "
      "installed since? Let the filter allow membarrier, or install it before");
}

#else

bool enable_process_barrier() noexcept { return false; }

void process_barrier() noexcept { fence(); }

#endif

// --- time ----------------------------------------------------------------------------------------

std::uint64_t monotonic_ns() noexcept {
#if defined(__linux__)
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * ns_per_s +
         static_cast<std::uint64_t>(now.tv_nsec);
#else
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
#endif
}

std::uint64_t thread_cpu_ns() noexcept {
#if defined(__linux__)
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * ns_per_s +
         static_cast<std::uint64_t>(now.tv_nsec);
#else
  return 0;
#endif
}

void sleep_ns(std::uint64_t ns) noexcept {
#if defined(__linux__)
  const timespec time = to_timespec(ns);
  nanosleep(&time, nullptr);
#else
  std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
#endif
}

void precise_sleeps() noexcept {
#if defined(__linux__)
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#endif
}

#if defined(__linux__) && defined(SYS_sched_setattr)
namespace {
/// The kernel's `sched_attr`, of which older C libraries have no declaration.
struct scheduling_attributes {
  std::uint32_t size = sizeof(scheduling_attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
}  // namespace

void short_time_slices() noexcept {
  scheduling_attributes mine;
  if (::syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) != 0) return;
  if (mine.policy != SCHED_OTHER && mine.policy != SCHED_BATCH) return;
  mine.runtime = 100'000;
  ::syscall(SYS_sched_setattr, 0, &mine, 0);
}
#else
void short_time_slices() noexcept {}
#endif

// --- threads and cores ---------------------------------------------------------------------------

void name_this_thread(std::string_view name) noexcept {
#if defined(__linux__)
  char cut[16] = {};
  std::memcpy(cut, name.data(), std::min<std::size_t>(name.size(), sizeof(cut) - 1));
  pthread_setname_np(pthread_self(), cut);
#else
  (void)name;
#endif
}

std::uint64_t this_thread_id() noexcept {
#if defined(__linux__)
  return static_cast<std::uint64_t>(syscall(SYS_gettid));
#else
  return 0;
#endif
}

std::size_t default_stack_bytes() noexcept {
  std::size_t bytes = std::size_t{512} * 1024;  // macOS gives this to a second thread
#if defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return bytes;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
#endif
  return bytes;
}

thread_place thread_place::of_this_thread() noexcept {
  thread_place here;
  here.id_ = this_thread_id();
#if GARRICK_HAS_RSEQ
  // The C library has registered this area with the kernel, which keeps the number up to date
  // whenever the thread gets a processor.
  if (__rseq_size != 0) {
    const auto* const area = reinterpret_cast<const struct rseq*>(
        static_cast<const char*>(__builtin_thread_pointer()) + __rseq_offset);
    here.number_ = &area->cpu_id;
  }
#endif
  return here;
}

std::int32_t thread_place::processor() const noexcept {
  return number_ == nullptr ? unknown : static_cast<std::int32_t>(*number_);
}

std::optional<processor_times> thread_place::times() const noexcept {
#if defined(__linux__)
  if (id_ == 0) return {};
  char text[64] = "/proc/self/task/";
  char* const end = std::to_chars(text + std::strlen(text), text + 40, id_).ptr;
  std::memcpy(end, "/schedstat", sizeof("/schedstat"));
  const int file = ::open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t length = ::read(file, text, sizeof text);
  ::close(file);
  processor_times out;
  const char* const last = text + std::max<ssize_t>(length, 0);
  const auto ran = std::from_chars(text, last, out.ran_ns);
  if (ran.ec != std::errc() || ran.ptr == last) return {};
  if (std::from_chars(ran.ptr + 1, last, out.waited_ns).ec != std::errc()) return {};
  return out;
#else
  return {};
#endif
}

#if defined(__linux__)

namespace {

constexpr std::size_t most_processors = 65536;

/// An empty set for `count` processors; null if there is no memory. The fixed cpu_set_t ends at
/// 1024 processors.
class processor_set {
 public:
  explicit processor_set(std::size_t count) noexcept
      : set_(CPU_ALLOC(count)), bytes_(CPU_ALLOC_SIZE(count)) {
    if (set_ != nullptr) CPU_ZERO_S(bytes_, set_);
  }
  ~processor_set() {
    if (set_ != nullptr) CPU_FREE(set_);
  }
  processor_set(const processor_set&) = delete;
  processor_set& operator=(const processor_set&) = delete;

  [[nodiscard]] cpu_set_t* get() const noexcept { return set_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  cpu_set_t* set_;
  std::size_t bytes_;
};

}  // namespace

#endif

std::vector<std::int32_t> usable_processors() {
  std::vector<std::int32_t> all;
#if defined(__linux__)
  // The mask's size is the kernel's, not ours: grow until it fits.
  for (std::size_t count = CPU_SETSIZE; count <= most_processors; count *= 2) {
    const processor_set set(count);
    if (set.get() == nullptr) break;
    if (sched_getaffinity(0, set.bytes(), set.get()) == 0) {
      for (std::size_t i = 0; i < count; ++i)
        if (CPU_ISSET_S(i, set.bytes(), set.get())) all.push_back(static_cast<std::int32_t>(i));
      break;
    }
    if (errno != EINVAL) break;
  }
#endif
  return all;
}

bool bind_this_thread(std::span<const std::int32_t> processors) noexcept {
#if defined(__linux__)
  const auto highest = std::max_element(processors.begin(), processors.end());
  if (highest == processors.end() || *highest < 0 ||
      static_cast<std::size_t>(*highest) >= most_processors)
    return false;
  const processor_set set(static_cast<std::size_t>(*highest) + 1);
  if (set.get() == nullptr) return false;
  for (const std::int32_t n : processors)
    if (n >= 0) CPU_SET_S(static_cast<std::size_t>(n), set.bytes(), set.get());
  return sched_setaffinity(0, set.bytes(), set.get()) == 0;
#else
  static_cast<void>(processors);
  return false;
#endif
}

void draw_unguessable(std::span<std::byte> to) {
#if defined(__linux__)
  while (!to.empty()) {
    const ssize_t got = getrandom(to.data(), to.size(), 0);
    if (got < 0 && errno != EINTR) throw std::system_error(errno, std::system_category());
    to = to.subspan(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
#else
  std::random_device system;
  for (std::byte& b : to) b = static_cast<std::byte>(system());
#endif
}

void* reserve_addresses(std::size_t bytes) noexcept {
#if defined(__linux__)
  void* const range =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return range == MAP_FAILED ? nullptr : range;
#else
  static_cast<void>(bytes);
  return nullptr;
#endif
}

bool open_on_node(void* begin, std::size_t bytes, std::uint32_t node) noexcept {
#if defined(__linux__) && defined(SYS_mbind)
  // MPOL_PREFERRED; the header that names it belongs to libnuma
  constexpr unsigned long prefer = 1;
  unsigned long nodes[16] = {};
  constexpr std::size_t bits = 8 * sizeof(nodes[0]);
  if (node >= std::size(nodes) * bits) return false;
  nodes[node / bits] = 1ul << (node % bits);
  if (::mprotect(begin, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  return ::syscall(SYS_mbind, begin, bytes, prefer, nodes, std::size(nodes) * bits + 1, 0ul) == 0;
#else
  static_cast<void>(begin), static_cast<void>(bytes), static_cast<void>(node);
  return false;
#endif
}

std::int32_t memory_node_of(const void* byte) noexcept {
#if defined(__linux__) && defined(SYS_get_mempolicy)
  constexpr unsigned long node_of_address = 3;  // MPOL_F_NODE | MPOL_F_ADDR
  int node = -1;
  return ::syscall(SYS_get_mempolicy, &node, nullptr, 0ul, byte, node_of_address) == 0 ? node : -1;
#else
  static_cast<void>(byte);
  return -1;
#endif
}

bool leave_processors(std::span<const std::int32_t> busy) noexcept {
  try {
    // before this thread has been moved
    thread_local const std::vector<std::int32_t> allowed = usable_processors();
    std::vector<std::int32_t> others;
    std::copy_if(
        allowed.begin(), allowed.end(), std::back_inserter(others),
        [busy](std::int32_t n) { return std::find(busy.begin(), busy.end(), n) == busy.end(); });
    return bind_this_thread(others);
  } catch (...) {
    return false;  // no memory for a few numbers: the thread stays where it is
  }
}

namespace {

/// Returns quota/period, rounded up; 0 if there is no limit or the numbers make no sense.
std::uint32_t cores_of_quota(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<std::uint32_t>(
      std::clamp<long long>((quota + period - 1) / period, 1, 1 << 20));
}

/// Returns the whole of a small file; empty if it cannot be read. Uses no stream, because streams
/// bring the standard library's locales into every static program.
std::string content_of(const std::string& path) {
  std::string content;
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return content;
  try {
    char part[512];
    while (const std::size_t n = std::fread(part, 1, sizeof(part), file)) content.append(part, n);
  } catch (...) {
    content.clear();  // no memory for a few lines: as if the file could not be read
  }
  std::fclose(file);
  return content;
}

/// Returns the number at the start of `text`, and moves `text` behind it; 0 if there is none.
long long take_number(const char*& text) noexcept {
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  text = end;
  return value;
}

/// cgroup v2: "<quota|max> <period>". "max" is not a number, so it reads as no limit.
std::uint32_t v2_limit(const std::string& folder) {
  const std::string content = content_of(folder + "/cpu.max");
  const char* text = content.c_str();
  const long long quota = take_number(text);
  return cores_of_quota(quota, take_number(text));
}

/// cgroup v1: quota (-1: none) and period in two files.
std::uint32_t v1_limit(const std::string& folder) {
  const std::string quota = content_of(folder + "/cpu.cfs_quota_us");
  const std::string period = content_of(folder + "/cpu.cfs_period_us");
  const char* quota_text = quota.c_str();
  const char* period_text = period.c_str();
  return cores_of_quota(take_number(quota_text), take_number(period_text));
}

/// Returns the tightest limit of a group and all groups above it: any of them can throttle the
/// process.
template <class Limit>
std::uint32_t tightest(const std::string& mount, std::string group, Limit limit) {
  std::uint32_t least = 0;
  for (;;) {
    const std::uint32_t here = limit(mount + group);
    if (here != 0) least = least == 0 ? here : std::min(least, here);
    if (group.empty()) return least;
    const auto slash = group.find_last_of('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

bool names_cpu(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

std::uint32_t cgroup_limit(const std::string& root) {
  std::uint32_t least = 0;
  const auto consider = [&least](std::uint32_t limit) {
    if (limit != 0) least = least == 0 ? limit : std::min(least, limit);
  };
  // each line: number:controllers:path
  const std::string groups = content_of(root + "/proc/self/cgroup");
  std::size_t next = 0;
  while (next < groups.size()) {
    const std::size_t end = std::min(groups.find('\n', next), groups.size());
    const std::string line = groups.substr(next, end - next);
    next = end + 1;
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers.empty()) {
      for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
        consider(tightest(root + mount, group, v2_limit));
    } else if (names_cpu(controllers)) {
      for (const std::string& mount :
           {std::string("/sys/fs/cgroup/cpu"), "/sys/fs/cgroup/" + controllers})
        consider(tightest(root + mount, group, v1_limit));
    }
  }
  return least;
}

}  // namespace

std::uint32_t usable_cores_at(std::string_view root, std::uint32_t affinity) noexcept {
  const std::uint32_t cores = std::max(1U, affinity);
  try {
    const std::uint32_t limit = cgroup_limit(std::string(root));
    return limit == 0 ? cores : std::min(cores, limit);
  } catch (...) {
    return cores;  // out of memory while reading a few lines: the mask alone is good enough
  }
}

std::uint32_t usable_cores() noexcept {
  std::size_t mask = 0;
  try {
    mask = usable_processors().size();
  } catch (...) {  // no memory for the list: as if the system did not say
  }
  return usable_cores_at(
      "", mask != 0 ? static_cast<std::uint32_t>(mask) : std::thread::hardware_concurrency());
}

}  // namespace garrick::base::platform
