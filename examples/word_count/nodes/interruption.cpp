#include "interruption.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace word_count {

interruption::interruption() {
  ::sigemptyset(&waits_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now{};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
      ::sigaddset(&waits_, signal);
  }
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &waits_, &before_))
    throw std::system_error(error, std::generic_category(), "signals cannot be blocked");
}

interruption::~interruption() { let_it_end(); }

bool interruption::has_come() const noexcept {
  sigset_t pending{};
  ::sigpending(&pending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (::sigismember(&waits_, signal) == 1 && ::sigismember(&pending, signal) == 1) return true;
  return false;
}

void interruption::let_it_end() const noexcept {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

interruption::watch::watch(const interruption& of, std::function<void()> give_up)
    : signals_(::signalfd(-1, &of.waits_, SFD_CLOEXEC)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  try {
    if (signals_ < 0 || stop_ < 0)
      throw std::system_error(errno, std::generic_category(), "signals cannot be waited for");
    thread_ = std::thread([this, f = std::move(give_up)] {
      std::array<pollfd, 2> either{{{signals_, POLLIN, 0}, {stop_, POLLIN, 0}}};
      while (::poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {}
      // The signal is not read, so it stays pending, and is delivered when it is unblocked.
      if (either[0].revents != 0 && either[1].revents == 0) f();
    });
  } catch (...) {
    ::close(signals_);
    ::close(stop_);
    throw;
  }
}

interruption::watch::~watch() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(stop_, &one, sizeof(one)) < 0);  // a counter of one has room
  thread_.join();
  ::close(signals_);
  ::close(stop_);
}

}  // namespace word_count
