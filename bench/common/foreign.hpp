// Neighbours that hold processors: processes that turn on the spot as long as this object lives, as
// a renderer or a client that polls would. They are processes of their own, so that their processor
// time is not that of the program.
//
// Thread safety: construct it before the program has a second thread, since it forks.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace bench {

class foreign_spinners {
 public:
  explicit foreign_spinners(std::uint64_t number) {
    if (number == 0) return;
    // So the kernel does not add their time to that of children which were waited for, which the
    // launcher would report as the program's.
    std::signal(SIGCHLD, SIG_IGN);
    const pid_t program = getpid();
    children_.reserve(number);
    while (children_.size() < number) {
      const pid_t child = fork();
      if (child == 0) spin(program);
      if (child < 0) {
        end();
        throw std::runtime_error("a foreign process cannot be started");
      }
      children_.push_back(child);
    }
  }
  foreign_spinners(const foreign_spinners&) = delete;
  foreign_spinners& operator=(const foreign_spinners&) = delete;
  foreign_spinners(foreign_spinners&&) = delete;
  foreign_spinners& operator=(foreign_spinners&&) = delete;
  ~foreign_spinners() { end(); }

 private:
  [[noreturn]] static void spin(pid_t program) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != program) _exit(0);  // it ended before it could be watched
    for (volatile std::uint64_t turns = 0;;) turns = turns + 1;
  }

  void end() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    // Waits until none is left; as the signal is ignored, no single one is reported.
    while (!children_.empty() && (waitpid(-1, nullptr, 0) >= 0 || errno == EINTR)) {}
  }

  std::vector<pid_t> children_;
};

}  // namespace bench
