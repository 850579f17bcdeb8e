#include "garrick/net/transport/sockets.hpp"

#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "garrick/net/transport/internal/datagram_listener.hpp"
#include "garrick/net/transport/internal/stream_host.hpp"
#include "garrick/net/transport/internal/stream_listener.hpp"

namespace garrick::net {
namespace {

class made_by final : public internal::maker {
 public:
  explicit made_by(std::unique_ptr<hosted_maker> make) : make_(std::move(make)) {}
  std::unique_ptr<hosted> make(carrier& below, const connection& self) override {
    return make_->make(below, self);
  }

 private:
  std::unique_ptr<hosted_maker> make_;
};

base::error invalid(std::string_view name, std::string_view why) {
  return base::make_error(base::errc::invalid_setting, name, why);
}

base::error wrong_with(const transport_settings& s, std::size_t threads) {
  const auto wrong = [](std::string_view name, std::string_view why) {
    return invalid("transport_settings." + std::string(name), why);
  };
  if (s.thread && *s.thread >= threads)
    return wrong("thread", "there are I/O threads 0 to " + std::to_string(threads - 1));
  if (s.read_size == 0) return wrong("read_size", "nothing would be read");
  if (s.high_water == 0) return wrong("high_water", "nothing could be sent");
  if (s.low_water > s.high_water) return wrong("low_water", "it is above high_water");
  if (s.most_queued < s.high_water) return wrong("most_queued", "it is below high_water");
  if (s.attempt_limit <= base::duration()) return wrong("attempt_limit", "it is not above zero");
  if (s.close_limit < base::duration()) return wrong("close_limit", "it is below zero");
  if (s.largest_datagram < least_datagram)
    return wrong("largest_datagram", std::to_string(s.largest_datagram) + " is below " +
                                         std::to_string(least_datagram) +
                                         ", which every path takes");
  return {};
}

base::error wrong_with(const accept_limits& l) {
  const auto wrong = [](std::string_view name, std::string_view why) {
    return invalid("accept_limits." + std::string(name), why);
  };
  if (l.connections == 0) return wrong("connections", "must be above zero: no peer could connect");
  if (l.pending == 0) return wrong("pending", "must be above zero: no peer could connect");
  if (l.admission <= base::duration()) return wrong("admission", "it is not above zero");
  return {};
}

/// Returns the door of a listener with these limits.
std::shared_ptr<internal::gate> gate_of(transport_kind kind, accept_limits l) {
  const std::size_t most = internal::most_accepted();
  if (kind == transport_kind::udp || l.connections <= most)
    return std::make_shared<internal::gate>(l);
  l.connections = most;
  return std::make_shared<internal::gate>(l, most);
}

internal::io_loop& loop_for(internal::io_pool& pool, const transport_settings& s) {
  return *pool.loops[s.thread ? *s.thread : pool.least_loaded()];
}

template <class L, class... More>
base::result<listener> begun(std::shared_ptr<internal::reception> at, internal::unique_fd fd,
                             More... more) {
  try {
    const auto made = std::make_shared<L>(std::move(at), std::move(fd), std::move(more)...);
    if (!made->begin()) return base::errc::shutting_down;
    return listener(made);
  } catch (const std::system_error& e) {  // the system watches no more descriptors
    return internal::error_of_listening(e.code().value(), "listen");
  }
}

}  // namespace

base::result<connection> connect(io_threads& io, const endpoint& at,
                                 std::unique_ptr<hosted_maker> make, const transport_settings& s) {
  const endpoint to = at.advertised();
  if (base::error wrong = wrong_with(s, io.size())) return wrong;
  if (make == nullptr) return invalid("connect", "the maker of the link is null");
  if (to.kind() != transport_kind::unix_stream && to.port() == 0)
    return base::make_error(net_errc::bad_endpoint, to.to_string(),
                            "no other end has port 0: `listen` returns the port that was chosen");
  if (s.from && (s.from->kind() != to.kind() || !s.from->is_numeric()))
    return invalid("from", "no address of the kind of " + to.to_string());
  internal::io_loop& loop = loop_for(io.pool(), s);
  std::shared_ptr<internal::host> link;
  if (to.kind() == transport_kind::udp)
    link = std::make_shared<internal::datagram_host>(loop, s, to);
  else
    link = std::make_shared<internal::stream_host>(loop, s, to);
  if (!link->begin(std::make_unique<made_by>(std::move(make)))) return base::errc::shutting_down;
  return connection(link);
}

base::result<listener> listen(io_threads& io, const endpoint& at,
                              std::shared_ptr<accept_policy> policy, const transport_settings& s,
                              const accept_limits& limits) {
  if (base::error wrong = wrong_with(s, io.size())) return wrong;
  if (base::error wrong = wrong_with(limits)) return wrong;
  if (policy == nullptr) return invalid("listen", "there is no policy");
  const base::result<std::vector<internal::socket_address>> found = internal::look_up(at);
  if (!found) return found.error();
  base::error why;
  for (const internal::socket_address& a : *found) {
    base::result<internal::unique_fd> bound = internal::bind_socket(at.kind(), a, s);
    if (!bound) {
      why = bound.error().at(at.to_string());
      continue;
    }
    internal::socket_file file;
    endpoint local = at;
    if (at.kind() == transport_kind::unix_stream)
      file = internal::socket_file(at.path());
    else
      local = at.with_port(
          internal::endpoint_of(at.kind(), internal::local_address(bound->get()), at).port());
    auto all = std::make_shared<internal::reception>(io.pool(), loop_for(io.pool(), s), s,
                                                     std::move(policy), std::move(local),
                                                     gate_of(at.kind(), limits));
    if (at.kind() == transport_kind::udp)
      return begun<internal::datagram_listener>(std::move(all), *std::move(bound));
    return begun<internal::stream_listener>(std::move(all), *std::move(bound), std::move(file));
  }
  return why;
}

}  // namespace garrick::net
