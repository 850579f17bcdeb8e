// Brokers without descriptors: open connections are served, new ones wait, and the I/O thread does
// not ask all the time.
//
// The test does not run under the sanitizer of undefined behaviour, which asks the kernel through a
// pipe whether it may look at memory.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>
#include <garrick/net/error.hpp>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include <support/transports.hpp>

#include "served.hpp"

namespace brokers_no_descriptors_test {

using namespace broker_test;

namespace {

/// Released each time a connection could not be accepted for lack of descriptors.
std::counting_semaphore<> without_descriptor{0};

/// Returns the processor time in seconds that this process's threads have used.
double processor_seconds() {
  rusage used{};
  REQUIRE(::getrusage(RUSAGE_SELF, &used) == 0);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// While it lives, the process gets no descriptor.
class no_descriptors {
 public:
  no_descriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const int highest = ::dup(0);
    REQUIRE(highest >= 0);
    fill_.push_back(highest);
    const rlimit none{static_cast<rlim_t>(highest) + 1, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fill_.push_back(fd);
    REQUIRE(errno == EMFILE);
  }
  ~no_descriptors() {
    ::setrlimit(RLIMIT_NOFILE, &before_);
    for (const int fd : fill_) ::close(fd);
  }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<int> fill_;
};

struct try_to_listen {};
/// Opens the endpoints that it is told, and reports the result.
class opener : public broker<result<void>(std::string), std::string(try_to_listen)> {
 public:
  explicit opener(broker_place p) : broker(p) {}
  using broker::on;
  result<void> on(const std::string& to) {
    const auto c = io().connect(to);
    if (!c) return c.error();
    answer_ = make_promise<void>();
    return answer_;
  }
  std::string on(try_to_listen) {
    const auto a = io().listen("tcp://127.0.0.1:0");
    const auto d = io().bind("udp://127.0.0.1:0");
    CHECK(a.error() == net_errc::io);
    CHECK(d.error() == net_errc::io);
    return a ? "" : a.error().to_string();
  }
  void on(const new_connection&) { answer_.deliver(); }
  void on(const connection_closed& c) { answer_.fail(c.why); }

 private:
  response_promise<void> answer_;
};

}  // namespace

/// Replaces the system's function, to see its failures.
extern "C" int accept4(int fd, sockaddr* from, socklen_t* size, int flags) {
  const auto accepted = static_cast<int>(::syscall(SYS_accept4, fd, from, size, flags));
  const int why = errno;
  if (accepted < 0 && why == EMFILE) without_descriptor.release();
  errno = why;
  return accepted;
}

TEST_CASE(
    "brokers: without descriptors connections are served, and a waiting one is accepted "
    "afterwards") {
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    served s(on_workers);
    const auto other = s.threads.spawn<opener>(s.system);
    const bare_socket inside = s.call();
    inside.write("1");
    CHECK(inside.read(1) == "1");
    const bare_socket knocks(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in to = bare_socket::loopback(s.at_.port());
    {
      const no_descriptors none;
      REQUIRE(::connect(knocks.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
      knocks.write("early");
      without_descriptor.acquire();
      const double used = processor_seconds();
      for (int i = 0; i < 3; ++i) without_descriptor.acquire();
      // The thread has rested three times for a tenth of a second. A thread that asked all the time
      // would have used that time up.
      CHECK(processor_seconds() - used < 0.15);
      inside.write("2");
      CHECK(inside.read(1) == "2");
      const auto refused = s.system.request(other, s.at_.to_string()).get();
      CHECK(refused.error() == net_errc::io);
      CHECK(s.system.request(other, try_to_listen{}).get().value().find("open files") !=
            std::string::npos);
    }
    CHECK(knocks.read(5) == "early");
    CHECK(s.t.opened == 2);
    CHECK(s.system.request(other, s.at_.to_string()).get());
  }
}

}  // namespace brokers_no_descriptors_test
