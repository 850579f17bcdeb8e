// The common part of Garrick's ends of a lossy link (lossy.hpp).
//
// Thread safety: plain functions.
#pragma once

#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/transport/sockets.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "common/measure.hpp"
#include "net/common/lossy.hpp"

namespace bench {

inline constexpr garrick::net::actor_id client_id{1, 1}, server_id{2, 2};

// Each link is the first of a life of its own.
inline garrick::net::link_settings end_settings(bool connects) {
  static std::atomic<std::uint64_t> lives{1};
  garrick::net::link_settings s;
  // order: numbers that differ, nothing else
  s.session.self.incarnation =
      (connects ? 1000 : 2000) + lives.fetch_add(1, std::memory_order_relaxed);
  s.session.connects = connects;
  s.session.hello_first = garrick::base::duration::milliseconds(5);
  return s;
}

inline garrick::net::endpoint server_endpoint(bool stream) {
  return garrick::net::endpoint::parse((stream ? "tcp://" : "udp://") +
                                       std::string(lossy_end::server_address()) + ":4040")
      .value();
}

// The server: an object that `make(carrier&)` returns for each client, until it is ended.
template <class Make>
[[noreturn]] void serve_each(garrick::net::io_threads& io, const garrick::net::endpoint& at,
                             Make make) {
  namespace net = garrick::net;
  auto listener =
      net::listen(io, at,
                  net::accept_each([make](const net::arrival&, net::carrier& below,
                                          const net::connection&) { return make(below); }));
  if (!listener) arguments::fail(listener.error().to_string());
  for (;;) pause();
}

}  // namespace bench
