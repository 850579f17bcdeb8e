#include <garrick/net/node/link_source.hpp>

#include <chrono>
#include <thread>
#include <utility>

namespace garrick::net {

socket_source::socket_source(io_settings io, transport_settings transport, accept_limits accept)
    : io_(io), transport_(std::move(transport)), accept_(std::move(accept)) {
  if (accept_.together == nullptr) accept_.together = std::make_shared<connection_count>();
}

base::result<connection> socket_source::connect(const endpoint& to,
                                                std::unique_ptr<hosted_maker> make) {
  return net::connect(io_, to, std::move(make), transport_);
}

base::result<listener> socket_source::listen(const endpoint& at,
                                             std::shared_ptr<accept_policy> policy) {
  return net::listen(io_, at, std::move(policy), transport_, accept_);
}

void socket_source::share_with(base::executor& workers) { io_.share_with(workers); }

base::instant socket_source::now() const noexcept { return base::real_clock().now(); }

void socket_source::wait_for_end(const std::vector<connection>& links, base::duration limit) {
  const base::instant until = now() + limit;
  // Runs only at the end of a node: not worth a condition variable that every link would signal.
  for (const connection& link : links)
    while (!link.is_over() && now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void socket_source::stop() noexcept { io_.stop(); }

}  // namespace garrick::net
