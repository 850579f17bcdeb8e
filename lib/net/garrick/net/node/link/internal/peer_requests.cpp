#include <garrick/net/node/link/internal/peer_requests.hpp>

namespace garrick::net::internal {

core::any_ref peer_requests::cancel(std::uint64_t number) {
  const place at = open_.find(number);
  if (at == open_.end()) return {};  // it was answered meanwhile
  core::any_ref elsewhere = std::move(at->second.handed_to);
  open_.erase(at);
  if (elsewhere)
    wanted_.forget(number);  // an answer may never come
  else
    wanted_.withdraw(number);
  return elsewhere;
}

bool peer_requests::hand_on(std::uint64_t number, core::cell& proxy) {
  const place at = open_.find(number);
  if (at == open_.end()) {  // cancelled meanwhile, or answered
    wanted_.forget(number);
    return false;
  }
  if (proxy.lock()) at->second.handed_to = core::handle_access::adopt<core::any_protocol>(&proxy);
  return true;
}

}  // namespace garrick::net::internal
