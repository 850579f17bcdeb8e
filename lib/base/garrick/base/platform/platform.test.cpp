// The operating system's services: usable cores, waits on a word, clocks, threads' places.
#include <garrick/base/platform/platform.hpp>

#include <doctest/doctest.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <support/forbidden_call.hpp>
#include <support/in_child.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace platform_test {

using namespace garrick::base;
namespace tests = garrick::tests;

namespace {

/// A folder that looks like the root of a machine's file system, as far as cgroups go.
class fake_root {
 public:
  fake_root()
      : path_(std::filesystem::temp_directory_path() /
              ("garrick_root_" + std::to_string(platform::monotonic_ns()))) {}
  ~fake_root() { std::filesystem::remove_all(path_); }
  fake_root(const fake_root&) = delete;
  fake_root& operator=(const fake_root&) = delete;

  fake_root& file(const std::string& name, const std::string& content) {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << content << "\n";
    return *this;
  }
  [[nodiscard]] std::uint32_t cores(std::uint32_t affinity) const {
    return platform::usable_cores_at(path_.string(), affinity);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("usable cores: the affinity mask counts where no quota is set") {
  fake_root root;
  CHECK(root.cores(6) == 6);
  root.file("proc/self/cgroup", "0::/app").file("sys/fs/cgroup/app/cpu.max", "max 100000");
  CHECK(root.cores(6) == 6);
  CHECK(root.cores(0) == 1);
  CHECK(platform::usable_cores() >= 1);
}

TEST_CASE(
    "usable cores: a quota of the second cgroup version is rounded up and never raises the "
    "number") {
  fake_root root;
  root.file("proc/self/cgroup", "0::/app").file("sys/fs/cgroup/app/cpu.max", "250000 100000");
  CHECK(root.cores(8) == 3);
  CHECK(root.cores(2) == 2);
  for (const char* half_or_less : {"50000 100000", "10000 100000", "1 100000"}) {
    root.file("sys/fs/cgroup/app/cpu.max", half_or_less);
    CHECK(root.cores(8) == 1);
  }
}

TEST_CASE(
    "usable cores: in a container the process' group is the root of its view, or is not there at "
    "all") {
  for (const char* group : {"0::/", "0::/docker/0123abcd"}) {
    fake_root root;
    root.file("proc/self/cgroup", group).file("sys/fs/cgroup/cpu.max", "150000 100000");
    CHECK(root.cores(8) == 2);
  }
  fake_root root;
  root.file("proc/self/cgroup", "4:cpuacct,cpu:/")
      .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
  root.file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  CHECK(root.cores(8) == 1);
}

TEST_CASE("usable cores: the tightest of all groups above counts") {
  fake_root root;
  root.file("proc/self/cgroup", "0::/slice/app/leaf")
      .file("sys/fs/cgroup/slice/cpu.max", "200000 100000");
  root.file("sys/fs/cgroup/slice/app/leaf/cpu.max", "500000 100000");
  CHECK(root.cores(8) == 2);
}

TEST_CASE("usable cores: a quota of the first cgroup version") {
  fake_root root;
  root.file("proc/self/cgroup", "3:cpu,cpuacct:/box\n2:cpuset:/box");
  root.file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "400000")
      .file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000");
  CHECK(root.cores(8) == 4);
  root.file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1");
  CHECK(root.cores(8) == 8);
}

TEST_CASE("usable cores: nonsense in the files is no limit") {
  fake_root root;
  root.file("proc/self/cgroup", "garbage\n0::/app").file("sys/fs/cgroup/app/cpu.max", "lots of it");
  CHECK(root.cores(5) == 5);
  root.file("sys/fs/cgroup/app/cpu.max", "100000 0");
  CHECK(root.cores(5) == 5);
}

TEST_CASE("a futex wait ends at once if the word has changed, and at its time if it has not") {
  std::atomic<std::uint32_t> word{1};
  platform::futex_wait(word, 0);
  CHECK(platform::futex_wait_for(word, 0, 60'000'000'000));
  const auto begin = platform::monotonic_ns();
  while (platform::futex_wait_for(word, 1, 2'000'000)) {}
  CHECK(platform::monotonic_ns() - begin >= 2'000'000);
}

TEST_CASE("wake_all wakes all threads that wait on a word") {
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint32_t> awake{0};
  std::thread threads[3];
  for (auto& t : threads)
    t = std::thread([&] {
      while (word.load() == 0) platform::futex_wait(word, 0);
      awake.fetch_add(1);
    });
  word.store(1);
  platform::futex_wake_all(word);
  for (auto& t : threads) t.join();
  CHECK(awake.load() == 3);
}

TEST_CASE("clocks move on and a sleep takes its time") {
  const auto wall = platform::monotonic_ns();
  const auto cpu = platform::thread_cpu_ns();
  platform::sleep_ns(3'000'000);
  const auto cpu_after = platform::thread_cpu_ns();
  const auto passed = platform::monotonic_ns() - wall;
  CHECK(passed >= 3'000'000);
  CHECK(cpu_after >= cpu);
  // The processor time that this thread has used in addition to its sleep has passed, too.
  CHECK(cpu_after - cpu + 2'000'000 <= passed);
}

TEST_CASE("the process barrier can be asked for again and again") {
  const bool first = platform::enable_process_barrier();
  CHECK(platform::enable_process_barrier() == first);
  CHECK(platform::process_barrier_enabled() == first);
  platform::process_barrier();
}

TEST_CASE("a thread has the default stack: it may use nearly all of it, and no more is promised") {
  const std::size_t bytes = platform::default_stack_bytes();
  CHECK(bytes >= 64 * 1024);
  std::thread([&] {
    const auto begin = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const std::size_t far = bytes - bytes / 4;
    volatile char* const block = static_cast<volatile char*>(__builtin_alloca(far));
    for (std::size_t i = 0; i < far; i += 4096) block[i] = 1;
    CHECK(begin - reinterpret_cast<std::uintptr_t>(&block[0]) >= far);
  }).join();
}

TEST_CASE("a process barrier that a filter forbids afterwards ends the process with a message" *
          doctest::skip(IS_EMULATED)) {
  if (!platform::enable_process_barrier()) return;  // this system has none
  const auto [text, status] = tests::in_child([] {
    platform::process_barrier();
    if (!tests::forbid_call(SYS_membarrier, EPERM)) ::_exit(2);
    platform::process_barrier();
  });
  CHECK(tests::has_aborted(status));
  CHECK(text.starts_with("garrick: the system refuses membarrier"));
  CHECK(text.find("a seccomp filter") != std::string::npos);
}

TEST_CASE("a process barrier for which the kernel has no memory is done for the whole system" *
          doctest::skip(IS_EMULATED)) {
  if (!platform::enable_process_barrier()) return;  // this system has none
  const auto [text, status] = tests::in_child([] {
    if (!tests::forbid_call_with(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, ENOMEM))
      ::_exit(2);
    platform::process_barrier();  // goes on
    if (!tests::forbid_call_with(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, EINVAL)) ::_exit(3);
    std::fputs("then: ", stderr);
    platform::process_barrier();
  });
  CHECK(tests::has_aborted(status));
  CHECK(text.starts_with("then: garrick: the system refuses membarrier"));
}

TEST_CASE("a thread's place is the processor that it runs on") {
  CHECK(platform::thread_place().processor() == platform::thread_place::unknown);
  const auto me = platform::thread_place::of_this_thread();
  if (me.processor() == platform::thread_place::unknown) return;  // this system does not say
  for (;;) {
    const int before = sched_getcpu();
    const std::int32_t seen = me.processor();
    if (sched_getcpu() != before) continue;  // moved meanwhile
    CHECK(seen == before);
    break;
  }
}

TEST_CASE("the system's account of a thread agrees with the thread's own clock") {
  CHECK_FALSE(platform::thread_place().times());
  const auto me = platform::thread_place::of_this_thread();
  const auto before = me.times();
  if (!before) return;  // this system does not say
  const std::uint64_t begin = platform::thread_cpu_ns();
  std::uint64_t used = 0;
  while (used < 20'000'000) used = platform::thread_cpu_ns() - begin;
  std::optional<platform::processor_times> after;
  std::thread([&] { after = me.times(); }).join();  // from another thread, while this one sleeps
  REQUIRE(after);
  CHECK(after->ran_ns >= before->ran_ns + used / 2);
  CHECK(after->ran_ns <= platform::thread_cpu_ns());
  CHECK(after->waited_ns >= before->waited_ns);
}

TEST_CASE(
    "a thread leaves the processors that it is told to leave, and stays if there is no other") {
  std::int32_t left = platform::thread_place::unknown;
  std::int32_t now = platform::thread_place::unknown;
  bool moved = false;
  bool moved_from_all = true;
  std::thread([&] {  // a thread of its own, since it keeps off these processors for good
    cpu_set_t mine;
    sched_getaffinity(0, sizeof(mine), &mine);
    std::vector<std::int32_t> all;
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &mine)) all.push_back(i);
    moved_from_all = platform::leave_processors(all);
    left = sched_getcpu();
    moved = platform::leave_processors({&left, 1});
    now = sched_getcpu();
  })
      .join();
  CHECK_FALSE(moved_from_all);
  CHECK(moved == (now != left));
}

TEST_CASE(
    "a thread that asks for short time slices has them, where the system knows such a thing") {
#if defined(SYS_sched_getattr)
  struct {
    std::uint32_t size = 48;
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::uint32_t nice_and_priority[2] = {};
    std::uint64_t runtime = 0;
    std::uint64_t rest[2] = {};
  } mine;
  std::thread([&] {
    garrick::base::platform::short_time_slices();
    CHECK(::syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) == 0);
  }).join();
  CHECK((mine.runtime == 100'000 || mine.runtime == 0));  // 0: a kernel before 6.12
  CHECK(mine.policy == SCHED_OTHER);
#endif
}

TEST_CASE("the system's bytes fill a span of any length, and are others each time") {
  for (const std::size_t n : {0u, 1u, 8u, 300u, 100'000u}) {
    std::vector<std::byte> first(n), second(n);
    platform::draw_unguessable(first);
    platform::draw_unguessable(second);
    if (n < 8) continue;  // so few may be equal
    CHECK(first != second);
    CHECK(std::any_of(first.end() - 8, first.end(), [](std::byte b) { return b != std::byte{}; }));
  }
}

}  // namespace platform_test
