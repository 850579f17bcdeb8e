// Without descriptors no link is lost, and calls that need one fail with an error that says so.
//
// The test does not run under the sanitizer of undefined behaviour, which asks the kernel through a
// pipe whether it may look at memory.
#include <garrick/net/transport/accept_policy.hpp>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>
#include <vector>

#include <support/transports.hpp>

namespace no_descriptors_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

/// Released when a newcomer could not be accepted for lack of descriptors.
class refusals {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    all_.push_back(base::real_clock().now());
  }
  [[nodiscard]] std::vector<base::instant> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<base::instant> all_;
} without_descriptor;

}  // namespace

/// Replaces the system's function, to see its failures.
extern "C" int accept4(int fd, sockaddr* from, socklen_t* size, int flags) {
  const auto accepted = static_cast<int>(::syscall(SYS_accept4, fd, from, size, flags));
  const int why = errno;
  if (accepted < 0 && why == EMFILE) without_descriptor.add();
  errno = why;
  return accepted;
}

TEST_CASE("accept: without descriptors newcomers wait, and are let in when there are some again") {
  io_threads io;
  const auto n = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(n));
  std::vector<bare_socket> all;
  const bare_socket here = bare_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  // The process gets no descriptor above the highest one in use.
  const rlimit none{static_cast<rlim_t>(here.fd()) + 1, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  std::vector<int> fill;
  for (int fd = ::dup(here.fd()); fd >= 0; fd = ::dup(here.fd())) fill.push_back(fd);
  bool is_told = false;
  try {
    const io_threads others;
  } catch (const std::system_error&) { is_told = true; }
  const sockaddr_in to = bare_socket::loopback(door->local().port());
  REQUIRE(::connect(here.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
  // The I/O thread does not ask all the time.
  wait_until([] { return without_descriptor.all().size() >= 2; });
  const std::vector<base::instant> asked = without_descriptor.all();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  for (const int fd : fill) ::close(fd);
  CHECK(is_told);
  CHECK(asked[1] - asked[0] >= base::duration::milliseconds(100));
  CHECK(n->wait_for(link_event::kind::connected));
}

}  // namespace no_descriptors_test
