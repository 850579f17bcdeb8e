#include "garrick/net/transport/internal/socket_calls.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "garrick/base/platform/assert.hpp"

namespace garrick::net::internal {
namespace {

constexpr std::size_t most_buffers = 256;
constexpr std::size_t ipv4_headers = 20 + 8;
constexpr std::size_t ipv6_headers = 40 + 8;

template <class T>
bool set_option(int fd, int level, int name, T value) noexcept {
  return ::setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

sockaddr* raw(socket_address& a) noexcept { return reinterpret_cast<sockaddr*>(&a.bytes); }
const sockaddr* raw(const socket_address& a) noexcept {
  return reinterpret_cast<const sockaddr*>(&a.bytes);
}

/// Sets the options of datagrams: never cut, and large buffers.
void prepare_datagrams(int fd, int family, const transport_settings& s) noexcept {
  if (family == AF_INET6)
    set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, int{IPV6_PMTUDISC_DO});
  else
    set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, int{IP_PMTUDISC_DO});
  if (s.datagram_buffer == 0) return;
  const int wanted = static_cast<int>(std::min<std::size_t>(s.datagram_buffer, 1u << 30));
  // The system may give less, which costs datagrams, as any full buffer does.
  set_option(fd, SOL_SOCKET, SO_RCVBUF, wanted);
  set_option(fd, SOL_SOCKET, SO_SNDBUF, wanted);
}

/// Bytes of a stream that the system may hold before it begins to send them. All later bytes wait
/// behind these, and by itself the system takes megabytes. Bytes under way do not count, so a long
/// path is still filled.
constexpr int most_unsent = 128 << 10;

/// Sets the options of a TCP socket: no byte waits for more to come, and few wait in the system.
void prepare_tcp(int fd) noexcept {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, most_unsent);
}

/// Returns true for all addresses of this machine.
bool is_any(const socket_address& a) noexcept {
  if (a.bytes.ss_family == AF_INET6)
    return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(&a.bytes)->sin6_addr);
  return reinterpret_cast<const sockaddr_in*>(&a.bytes)->sin_addr.s_addr == htonl(INADDR_ANY);
}

/// Asks for the address that each datagram has reached.
void ask_for_local(int fd, int family) noexcept {
  if (family == AF_INET6)
    set_option(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  else
    set_option(fd, IPPROTO_IP, IP_PKTINFO, 1);
}

const char* path_of(const socket_address& a) noexcept {
  return reinterpret_cast<const sockaddr_un*>(&a.bytes)->sun_path;
}

/// Removes the file of a socket without a listener. Returns 0, or the reason why it stays.
int remove_stale(const socket_address& at) {
  struct stat found{};
  if (::lstat(path_of(at), &found) != 0) return errno;
  if (!S_ISSOCK(found.st_mode)) return EEXIST;
  const unique_fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (probe.get() < 0) return errno;
  if (::connect(probe.get(), raw(at), at.size) == 0 || errno == EAGAIN) return EADDRINUSE;
  if (errno != ECONNREFUSED) return errno;
  return ::unlink(path_of(at)) == 0 ? 0 : errno;
}

/// Locks a folder. A process that replaces another file in it holds the lock for a moment only; a
/// longer holder is not a listener, and the attempt fails.
bool lock_folder(int folder) {
  constexpr int tries = 500;  // of a millisecond each
  for (int i = 0; ::flock(folder, LOCK_EX | LOCK_NB) != 0; ++i) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || i == tries) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

/// Binds in the place of a stale file. Two processes that both find it must not remove each other's
/// new file, so the folder is locked.
int replace_stale(int fd, const socket_address& at) {
  std::string folder = path_of(at);
  folder.erase(std::max<std::size_t>(folder.rfind('/'), 1));
  const unique_fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.get() < 0) return errno;
  if (!lock_folder(lock.get())) return EADDRINUSE;
  if (const int why = remove_stale(at); why != 0 && why != ENOENT) return why;
  if (::bind(fd, raw(at), at.size) != 0) return errno;
  return ::listen(fd, SOMAXCONN) == 0 ? 0 : errno;  // from now on it is not stale
}

base::result<unique_fd> bind_path(unique_fd fd, const socket_address& at,
                                  const transport_settings& s) {
  // On Linux the file gets the socket's mode, so it is never open for other users; elsewhere see
  // below.
  static_cast<void>(::fchmod(fd.get(), static_cast<mode_t>(s.mode)));
  int why = 0;
  if (::bind(fd.get(), raw(at), at.size) != 0) why = errno;
  if (why == EADDRINUSE) why = replace_stale(fd.get(), at);
  if (why == 0 && ::chmod(path_of(at), static_cast<mode_t>(s.mode)) != 0) why = errno;
  if (why == 0 && ::listen(fd.get(), SOMAXCONN) != 0) why = errno;
  if (why == EADDRINUSE)
    return base::make_error(net_errc::address_in_use, path_of(at), "another socket listens there");
  if (why != 0) return error_of_listening(why, path_of(at));
  return fd;
}

}  // namespace

base::error error_of(int number, std::string_view where) {
  const std::string words = std::generic_category().message(number);
  switch (number) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case EADDRNOTAVAIL:
    case ETIMEDOUT:
    case ENOENT: return base::make_error(net_errc::unreachable, where, words);
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE: return base::make_error(net_errc::connection_lost, where, words);
    case EADDRINUSE: return base::make_error(net_errc::address_in_use, where, words);
    default: return base::make_error(net_errc::io, where, words);
  }
}

base::error error_of_listening(int number, std::string_view where) {
  if (number == EADDRINUSE) return error_of(number, where);
  return base::make_error(net_errc::io, where, std::generic_category().message(number));
}

socket_address address_of(const endpoint& e) {
  socket_address a;
  if (e.kind() == transport_kind::unix_stream) {
    auto* to = reinterpret_cast<sockaddr_un*>(&a.bytes);
    to->sun_family = AF_UNIX;
    GARRICK_ASSERT(e.path().size() < sizeof(to->sun_path), "an endpoint's path is too long");
    std::memcpy(to->sun_path, e.path().c_str(), e.path().size() + 1);
    a.size = sizeof(sockaddr_un);
  } else if (e.is_ipv6()) {
    auto* to = reinterpret_cast<sockaddr_in6*>(&a.bytes);
    to->sin6_family = AF_INET6;
    to->sin6_port = htons(e.port());
    ::inet_pton(AF_INET6, e.host().c_str(), &to->sin6_addr);
    a.size = sizeof(sockaddr_in6);
  } else {
    auto* to = reinterpret_cast<sockaddr_in*>(&a.bytes);
    to->sin_family = AF_INET;
    to->sin_port = htons(e.port());
    ::inet_pton(AF_INET, e.host().c_str(), &to->sin_addr);
    a.size = sizeof(sockaddr_in);
  }
  return a;
}

endpoint endpoint_of(transport_kind kind, const socket_address& a, const endpoint& unnamed) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::uint16_t port = 0;
  if (a.bytes.ss_family == AF_INET6) {
    const auto* from = reinterpret_cast<const sockaddr_in6*>(&a.bytes);
    ::inet_ntop(AF_INET6, &from->sin6_addr, text.data(), text.size());
    port = ntohs(from->sin6_port);
  } else if (a.bytes.ss_family == AF_INET) {
    const auto* from = reinterpret_cast<const sockaddr_in*>(&a.bytes);
    ::inet_ntop(AF_INET, &from->sin_addr, text.data(), text.size());
    port = ntohs(from->sin_port);
  } else {
    return unnamed;
  }
  return endpoint::of(kind, text.data(), port).value_or(unnamed);
}

socket_address local_address(int fd) {
  socket_address a;
  a.size = sizeof(a.bytes);
  if (::getsockname(fd, raw(a), &a.size) != 0) a.size = 0;
  return a;
}

socket_address remote_address(int fd) {
  socket_address a;
  a.size = sizeof(a.bytes);
  if (::getpeername(fd, raw(a), &a.size) != 0) a.size = 0;
  return a;
}

bool same_address(const socket_address& a, const socket_address& b) noexcept {
  return a.size == b.size && std::memcmp(&a.bytes, &b.bytes, a.size) == 0;
}

base::result<unique_fd> open_socket(transport_kind kind, const socket_address& like,
                                    const transport_settings& s) {
  const int family = like.bytes.ss_family;
  const bool is_udp = kind == transport_kind::udp;
  unique_fd fd(
      ::socket(family, (is_udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return error_of(errno, "socket");
  if (is_udp) prepare_datagrams(fd.get(), family, s);
  if (kind == transport_kind::tcp) prepare_tcp(fd.get());
  return fd;
}

void prepare_accepted(int fd, transport_kind kind) noexcept {
  if (kind == transport_kind::tcp) prepare_tcp(fd);
}

int start_connect(int fd, const socket_address& to, const transport_settings& s) {
  if (s.from) {
    const socket_address from = address_of(*s.from);
    if (from.bytes.ss_family != to.bytes.ss_family) return EADDRNOTAVAIL;
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (::bind(fd, raw(from), from.size) != 0) return errno;
  }
  if (::connect(fd, raw(to), to.size) == 0) return 0;
  return errno == EINTR ? EINPROGRESS : errno;
}

int connect_outcome(int fd) noexcept {
  int why = 0;
  socklen_t size = sizeof(why);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) == 0 ? why : errno;
}

base::error check_user(int fd, const transport_settings& s) {
  if (s.any_user) return {};
  ucred other{};
  socklen_t size = sizeof(other);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0)
    return error_of(errno, "the identity of the other end");
  if (other.uid == ::geteuid() || std::count(s.users.begin(), s.users.end(), other.uid) != 0)
    return {};
  return base::make_error(net_errc::refused, "unix",
                          "user " + std::to_string(other.uid) + " is not allowed here");
}

base::result<unique_fd> bind_socket(transport_kind kind, const socket_address& at,
                                    const transport_settings& s) {
  base::result<unique_fd> opened = open_socket(kind, at, s);
  if (!opened) return opened.error();
  unique_fd fd = *std::move(opened);
  if (kind == transport_kind::unix_stream) return bind_path(std::move(fd), at, s);
  if (at.bytes.ss_family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (kind == transport_kind::udp && is_any(at)) ask_for_local(fd.get(), at.bytes.ss_family);
  if (kind == transport_kind::tcp) set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(fd.get(), raw(at), at.size) != 0) return error_of_listening(errno, "bind");
  if (kind == transport_kind::tcp && ::listen(fd.get(), SOMAXCONN) != 0)
    return error_of_listening(errno, "listen");
  return fd;
}

int addresses_of(const std::string& host, std::uint16_t port, std::vector<socket_address>& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first);
      failed != 0)
    return failed;
  for (const addrinfo* i = first; i != nullptr; i = i->ai_next) {
    socket_address& a = found.emplace_back();
    a.size = i->ai_addrlen;
    std::memcpy(&a.bytes, i->ai_addr, i->ai_addrlen);
  }
  ::freeaddrinfo(first);
  return 0;
}

base::result<std::vector<socket_address>> look_up(const endpoint& e) {
  if (e.kind() == transport_kind::unix_stream || e.is_numeric()) return std::vector{address_of(e)};
  std::vector<socket_address> found;
  const int failed = addresses_of(e.host(), e.port(), found);
  if (failed != 0) return base::make_error(net_errc::unreachable, e.host(), ::gai_strerror(failed));
  return found;
}

std::size_t most_accepted() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::size_t>::max();
  return std::max<std::size_t>(1, now.rlim_cur / 2);
}

socket_file::socket_file(std::string path) : path_(std::move(path)) {
  struct stat found{};
  if (::lstat(path_.c_str(), &found) != 0) path_.clear();
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

void socket_file::remove() noexcept {
  if (path_.empty()) return;
  struct stat found{};
  if (::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_)
    ::unlink(path_.c_str());
  path_.clear();
}

void limit_unread(int fd) noexcept {
  // By itself the system holds ever more bytes, up to megabytes, if the reader is slower than the
  // writer, and all lanes wait behind them. On a path of at most this round trip (the handshake's,
  // in microseconds) this limit still allows 10 Gbit a second. A longer path is left to the system.
  constexpr std::uint32_t short_way = 200;
  constexpr int most_unread = 256 << 10;
  tcp_info way{};
  socklen_t size = sizeof way;
  const bool is_known = ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &way, &size) == 0;
  if (is_known && way.tcpi_rtt > 0 && way.tcpi_rtt <= short_way)
    set_option(fd, SOL_SOCKET, SO_RCVBUF, most_unread);
}

void keep_alive(int fd, base::duration after) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::int64_t most = 32767;  // the system takes no more
  const auto seconds =
      static_cast<int>(std::clamp((after.count() + second - 1) / second, std::int64_t{1}, most));
  if (!set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds)) return;
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::min(seconds, 10));
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

std::ptrdiff_t receive_stream(int fd, std::span<std::byte> into, int& failed) {
  for (;;) {
    const ssize_t got = ::recv(fd, into.data(), into.size(), MSG_DONTWAIT);
    if (got >= 0) return got;
    failed = errno;
    if (failed != EINTR) return -1;
  }
}

std::ptrdiff_t send_stream(int fd, std::span<const packet> packets, int& failed) {
  constexpr int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
  const auto uninterrupted = [&failed](auto call) -> std::ptrdiff_t {
    for (;;) {
      const ssize_t sent = call();
      if (sent >= 0) return sent;
      failed = errno;
      if (failed != EINTR) return -1;
    }
  };
  // A single packet, the usual case, is sent without a list that the system would have to copy.
  if (packets.size() == 1)
    return uninterrupted([fd, only = packets.front().bytes()] {
      return ::send(fd, only.data(), only.size(), flags);
    });
  std::array<iovec, most_buffers> parts;
  const std::size_t n = std::min(packets.size(), parts.size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<const std::byte> b = packets[i].bytes();
    parts[i] = {const_cast<std::byte*>(b.data()), b.size()};
  }
  msghdr m{};
  m.msg_iov = parts.data();
  m.msg_iovlen = n;
  return uninterrupted([fd, &m] { return ::sendmsg(fd, &m, flags); });
}

std::size_t path_limit(const socket_address& to) noexcept {
  const bool is_v6 = to.bytes.ss_family == AF_INET6;
  // The system tells the limit only to a connected socket, so a socket is connected for this;
  // nothing is sent.
  const unique_fd fd(::socket(to.bytes.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0 || ::connect(fd.get(), raw(to), to.size) != 0) return 0;
  int limit = 0;
  socklen_t size = sizeof(limit);
  if (::getsockopt(fd.get(), is_v6 ? int{IPPROTO_IPV6} : int{IPPROTO_IP}, is_v6 ? IPV6_MTU : IP_MTU,
                   &limit, &size) != 0)
    return 0;
  const std::size_t headers = is_v6 ? ipv6_headers : ipv4_headers;
  const auto bytes = static_cast<std::size_t>(limit);
  return bytes > headers ? bytes - headers : 0;
}

}  // namespace garrick::net::internal
