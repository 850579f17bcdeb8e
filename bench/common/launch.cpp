// Runs one program and reports its use of time and memory. The kernel's peak resident size of a
// child is never below that of the process that forked it, and the harness is written in Python.
// This launcher is small and static, so the figure is the program's.
//
//   bench_launch REPORT_FD PROGRAM [ARGUMENT...]
//
// Writes two lines to REPORT_FD: "pid N" after the start of the program, and at its end "exit CODE
// signal S utime_us U stime_us T maxrss_kb M wall_ns W".
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long long now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

long long microseconds(const timeval& t) { return t.tv_sec * 1'000'000LL + t.tv_usec; }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: bench_launch REPORT_FD PROGRAM [ARGUMENT...]\n", stderr);
    return 2;
  }
  const int report = std::atoi(argv[1]);
  fcntl(report, F_SETFD, FD_CLOEXEC);
  const long long start = now_ns();
  const pid_t child = fork();
  if (child < 0) {
    std::perror("bench_launch: fork");
    return 2;
  }
  if (child == 0) {
    execvp(argv[2], argv + 2);
    std::fprintf(stderr, "bench_launch: cannot run %s: %s\n", argv[2], std::strerror(errno));
    _exit(127);
  }
  dprintf(report, "pid %d\n", static_cast<int>(child));
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {}
  dprintf(report, "exit %d signal %d utime_us %lld stime_us %lld maxrss_kb %ld wall_ns %lld\n",
          WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          microseconds(used.ru_utime), microseconds(used.ru_stime), used.ru_maxrss,
          now_ns() - start);
  return 0;
}
