// Foreign processes that spin as long as this object lives, like a renderer or a polling client.
// They are separate processes, so that their processor time does not count as the program's.
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
    // Otherwise the kernel would add their time to that of the waited-for children, which the
    // launcher reports as the program's.
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
    if (getppid() != program) _exit(0);  // the program ended before the call above
    for (volatile std::uint64_t turns = 0;;) turns = turns + 1;
  }

  void end() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    // Waits until no child is left; since the signal is ignored, waitpid reports no single child.
    while (!children_.empty() && (waitpid(-1, nullptr, 0) >= 0 || errno == EINTR)) {}
  }

  std::vector<pid_t> children_;
};

}  // namespace bench
