// A server in a process of its own, forked before this one has threads. It says where it can be
// found, and ends with this process.
//
// Thread safety: none; made and destroyed on the main thread.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "common/measure.hpp"

namespace bench {

class served {
 public:
  // Calls `serve(tell)` in the child, which tells its port once. When `serve` returns, the child
  // waits for its end.
  template <class Serve>
  explicit served(const Serve& serve) {
    int ends[2];
    if (pipe(ends) != 0) arguments::fail("no pipe");
    child_ = fork();
    if (child_ < 0) arguments::fail("no process");
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      serve([&](std::uint16_t port) {
        if (write(ends[1], &port, sizeof port) != sizeof port) _exit(2);
      });
      for (;;) pause();
    }
    close(ends[1]);
    if (read(ends[0], &port_, sizeof port_) != sizeof port_)
      arguments::fail("the server has not started");
    close(ends[0]);
  }
  served(const served&) = delete;
  served& operator=(const served&) = delete;
  ~served() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  std::uint16_t port() const { return port_; }

 private:
  pid_t child_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace bench
