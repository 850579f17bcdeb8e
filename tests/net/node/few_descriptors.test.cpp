// The limit on a node's connections where the process may have few descriptors.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include <support/transports.hpp>

namespace few_descriptors_test {

using namespace garrick;
using namespace garrick::tests;

/// Standard error goes to a file while this lives.
class written_errors {
 public:
  written_errors() : before_(::dup(2)) {
    const int to = ::open(path_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    REQUIRE(to >= 0);
    REQUIRE(::dup2(to, 2) == 2);
    ::close(to);
  }
  ~written_errors() {
    ::dup2(before_, 2);
    ::close(before_);
  }
  written_errors(const written_errors&) = delete;
  written_errors& operator=(const written_errors&) = delete;
  [[nodiscard]] std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  scratch_folder folder_;
  const std::string path_ = folder_.file("errors");
  const int before_;
};

/// Returns the log of a node that listens with this limit.
std::string log_of(std::size_t connections, const char* where = "tcp://127.0.0.1:0") {
  const written_errors errors;
  actor_system system;
  net::node_settings s;
  s.accept.connections = connections;
  net::node self(system, s);
  REQUIRE(self.listen(where).has_value());
  return errors.text();
}

TEST_CASE("few descriptors: the log says that a node takes fewer connections than its setting") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{400, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  const std::string more = log_of(201);
  const std::string as_many = log_of(200);
  const std::string by_default = log_of(net::accept_limits().connections);
  const std::string datagrams = log_of(201, "udp://127.0.0.1:0");
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_MESSAGE(more.find("accept.connections is lowered to 200") != more.npos, more);
  CHECK(as_many.empty());
  CHECK(by_default.empty());
  CHECK(datagrams.empty());
}

}  // namespace few_descriptors_test
