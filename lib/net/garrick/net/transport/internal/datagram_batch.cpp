#include "garrick/net/transport/internal/datagram_batch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace garrick::net::internal {
namespace {

constexpr std::size_t most_sent = 64;

/// Returns the address at which a datagram came; size 0: an answer cannot be sent from it.
socket_address local_of(msghdr& m) noexcept {
  socket_address local;
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
      in_pktinfo info;
      std::memcpy(&info, CMSG_DATA(c), sizeof(info));
      auto* to = reinterpret_cast<sockaddr_in*>(&local.bytes);
      to->sin_family = AF_INET;
      to->sin_addr = info.ipi_spec_dst;
      local.size = sizeof(*to);
    } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info;
      std::memcpy(&info, CMSG_DATA(c), sizeof(info));
      if (IN6_IS_ADDR_MULTICAST(&info.ipi6_addr)) continue;
      auto* to = reinterpret_cast<sockaddr_in6*>(&local.bytes);
      to->sin6_family = AF_INET6;
      to->sin6_addr = info.ipi6_addr;
      // The routes choose the interface; a link-local address has a meaning on one only.
      if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) to->sin6_scope_id = info.ipi6_ifindex;
      local.size = sizeof(*to);
    }
  }
  return local;
}

template <class Info>
std::size_t put(datagram_control& to, int level, int type, const Info& info) noexcept {
  cmsghdr head{};
  head.cmsg_level = level;
  head.cmsg_type = type;
  head.cmsg_len = CMSG_LEN(sizeof(info));
  to = {};
  std::memcpy(to.bytes.data(), &head, sizeof(head));
  std::memcpy(to.bytes.data() + CMSG_LEN(0), &info, sizeof(info));
  return CMSG_SPACE(sizeof(info));
}

/// Writes the source address for the system. Returns the bytes of `to` that hold it.
std::size_t from_local(const socket_address& local, datagram_control& to) noexcept {
  if (local.size == 0) return 0;
  if (local.bytes.ss_family == AF_INET) {
    in_pktinfo info{};
    info.ipi_spec_dst = reinterpret_cast<const sockaddr_in*>(&local.bytes)->sin_addr;
    return put(to, IPPROTO_IP, IP_PKTINFO, info);
  }
  const auto* from = reinterpret_cast<const sockaddr_in6*>(&local.bytes);
  in6_pktinfo info{};
  info.ipi6_addr = from->sin6_addr;
  info.ipi6_ifindex = from->sin6_scope_id;
  return put(to, IPPROTO_IPV6, IPV6_PKTINFO, info);
}

}  // namespace

datagram_batch& datagram_batch::of_this_thread() {
  thread_local datagram_batch batch;
  return batch;
}

std::size_t datagram_batch::receive(int fd, int& failed, std::size_t limit) {
  for (std::size_t i = 0; i < limit; ++i) {
    parts_[i] = {room_.get() + i * each, each};
    headers_[i] = {};
    headers_[i].msg_hdr.msg_iov = &parts_[i];
    headers_[i].msg_hdr.msg_iovlen = 1;
    headers_[i].msg_hdr.msg_name = &ways_[i].remote.bytes;
    headers_[i].msg_hdr.msg_namelen = sizeof(ways_[i].remote.bytes);
    headers_[i].msg_hdr.msg_control = control_[i].bytes.data();
    headers_[i].msg_hdr.msg_controllen = control_[i].bytes.size();
  }
  int received = 0;
  do {
    received = ::recvmmsg(fd, headers_.data(), static_cast<unsigned>(limit), MSG_DONTWAIT, nullptr);
  } while (received < 0 && errno == EINTR);
  if (received <= 0) {
    failed = received < 0 ? errno : EAGAIN;
    return 0;
  }
  const auto n = static_cast<std::size_t>(received);
  for (std::size_t i = 0; i < n; ++i) {
    ways_[i].remote.size = headers_[i].msg_hdr.msg_namelen;
    ways_[i].local = local_of(headers_[i].msg_hdr);
  }
  return n;
}

std::size_t send_datagrams(int fd, std::span<const packet> packets, const datagram_way* by,
                           int& failed) {
  datagram_control control;
  const std::size_t controls = by == nullptr ? 0 : from_local(by->local, control);
  std::array<mmsghdr, most_sent> headers;
  std::array<iovec, most_sent> parts;
  const std::size_t n = std::min(packets.size(), most_sent);
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<const std::byte> b = packets[i].bytes();
    parts[i] = {const_cast<std::byte*>(b.data()), b.size()};
    headers[i] = {};
    headers[i].msg_hdr.msg_iov = &parts[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    if (by == nullptr) continue;
    headers[i].msg_hdr.msg_name = const_cast<sockaddr_storage*>(&by->remote.bytes);
    headers[i].msg_hdr.msg_namelen = by->remote.size;
    if (controls == 0) continue;
    headers[i].msg_hdr.msg_control = control.bytes.data();
    headers[i].msg_hdr.msg_controllen = controls;
  }
  int sent = 0;
  do {
    sent = ::sendmmsg(fd, headers.data(), static_cast<unsigned>(n), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  failed = errno;
  return 0;
}

}  // namespace garrick::net::internal
