// Addresses of acceptors: IPv6, and Unix domain sockets with files that stay private and are
// cleared.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>
#include <garrick/net/error.hpp>

#include <sys/stat.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <support/transports.hpp>

#include "served.hpp"

namespace broker_addresses_test {

using namespace broker_test;

/// Sends "hello" to a server, and answers with the server's answer.
class talker : public broker<result<std::string>(say)> {
 public:
  explicit talker(broker_place p) : broker(p) {}
  using broker::on;
  result<std::string> on(const say& s) {
    const auto c = io().connect(s.text, {.read = receive_policy::exactly(5)});
    if (!c) return c.error();
    answer_ = make_promise<std::string>();
    return answer_;
  }
  void on(const new_connection& n) {
    CHECK(n.peer.to_string().find("://") != std::string::npos);
    io().write(n.connection, "hello").value();
  }
  void on(const new_data& d) { answer_.deliver(std::string(d.bytes.text())); }
  void on(const connection_closed& c) { answer_.fail(c.why); }

 private:
  response_promise<std::string> answer_;
};

/// Sends datagrams back, and notes their senders.
class parrot : public broker<std::string(where), std::string(int)> {
 public:
  parrot(broker_place p, const std::string& at) : broker(p) { socket_ = io().bind(at).value(); }
  using broker::on;
  std::string on(where) { return io().local(socket_).to_string(); }
  std::string on(int) { return from_; }
  void on(const new_datagram& d) {
    from_ = d.from.to_string();
    io().send_to(d.socket, d.from, d.bytes.bytes()).value();
  }

 private:
  datagram_handle socket_;
  std::string from_;
};

/// A Unix domain socket that is bound to this path, and does not listen.
bare_socket bound_to(const std::string& path) {
  bare_socket s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  path.copy(a.sun_path, sizeof(a.sun_path) - 1);
  REQUIRE(::bind(s.fd(), reinterpret_cast<const sockaddr*>(&a), sizeof(a)) == 0);
  return s;
}

std::string said_to(served& s, const std::string& at) {
  const auto t = s.threads.spawn<talker>(s.system);
  return s.system.request(t, say{{}, at}).get().value();
}

TEST_CASE("broker addresses: streams and datagrams by IPv6 are as those by IPv4") {
  if (!has_ipv6()) {
    MESSAGE("skipped: this machine has no IPv6");
    return;
  }
  served s(false, greedy, "tcp://[::1]:0");
  CHECK(s.at_.to_string().starts_with("tcp://[::1]:"));
  CHECK(said_to(s, s.at_.to_string()) == "hello");

  const auto p = s.threads.spawn<parrot>(s.system, std::string("udp://[::1]:0"));
  const endpoint there = at(s.system.request(p, where{}).get().value());
  CHECK(there.to_string().starts_with("udp://[::1]:"));
  const bare_socket c(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_addr = in6addr_loopback;
  to.sin6_port = htons(there.port());
  REQUIRE(::connect(c.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
  c.write("hello");
  CHECK(c.read(5) == "hello");
  CHECK(s.system.request(p, 1).get().value().starts_with("udp://[::1]:"));
}

TEST_CASE("broker addresses: a socket's file is private, goes with its broker, and has one owner") {
  scratch_folder folder;
  const std::string path = folder.file("socket");
  {
    served s(false, greedy, "unix://" + path);
    struct stat found{};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
    CHECK(said_to(s, "unix://" + path) == "hello");
    tally t;
    const auto second =
        s.system.try_spawn<echo>(broker_place(s.threads), lent(t), "unix://" + path, greedy);
    REQUIRE_FALSE(second);
    CHECK(second.error().to_string().find("another socket listens there") != std::string::npos);
    CHECK(said_to(s, "unix://" + path) == "hello");
    send(s.server, shut{});
    wait_until([&] { return s.t.acceptors_closed == 1; });
    CHECK(::access(path.c_str(), F_OK) != 0);
  }
  {
    const auto s = std::make_unique<served>(false, greedy, "unix://" + path);
    CHECK(::access(path.c_str(), F_OK) == 0);
    s->system.exit(s->server, exit_code::user_shutdown);
    wait_until([&] { return s->t.ended == 1; });
    wait_until([&] { return ::access(path.c_str(), F_OK) != 0; });
  }
}

TEST_CASE("broker addresses: a file that a killed process has left is replaced, others are not") {
  scratch_folder folder;
  const std::string path = folder.file("socket"), other = folder.file("text");
  bound_to(path).close();
  socket_settings open_to_all = greedy;
  open_to_all.transport.mode = 0666;
  served s(false, open_to_all, "unix://" + path);
  struct stat found{};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0666);
  CHECK(said_to(s, "unix://" + path) == "hello");

  ::close(::open(other.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  tally t;
  for (const std::string& bad : {"unix://" + other, "unix://" + folder.file("no") + "/such/folder"})
    CHECK_FALSE(s.system.try_spawn<echo>(broker_place(s.threads), lent(t), bad, greedy));
  REQUIRE(::stat(other.c_str(), &found) == 0);
  CHECK(S_ISREG(found.st_mode));
}

TEST_CASE("broker addresses: an address where another socket is open is an error that says so") {
  served s;
  tally t;
  const auto second =
      s.system.try_spawn<echo>(broker_place(s.threads), lent(t), s.at_.to_string(), greedy);
  REQUIRE_FALSE(second);
  CHECK(second.error().to_string().find("in use") != std::string::npos);
  const auto p = s.threads.spawn<parrot>(s.system, std::string("udp://127.0.0.1:0"));
  const std::string there = s.system.request(p, where{}).get().value();
  CHECK_FALSE(s.system.try_spawn<parrot>(broker_place(s.threads), there));
  CHECK_FALSE(s.system.try_spawn<parrot>(broker_place(s.threads), s.at_.to_string()));
}

}  // namespace broker_addresses_test
