#include "garrick/net/transport/internal/datagram_listener.hpp"

#include <exception>
#include <new>
#include <utility>

#include "garrick/net/transport/internal/socket_calls.hpp"

namespace garrick::net::internal {
namespace {

/// After this many batches, other residents of the loop have their turn.
constexpr int most_batches_at_once = 8;

bool same_way(const datagram_way& a, const datagram_way& b) noexcept {
  return same_address(a.remote, b.remote) && same_address(a.local, b.local);
}

}  // namespace

bool datagram_listener::begin() {
  if (!at_->loop.add(shared_from_this())) return false;
  return at_->loop.post(make_job([me = shared_from_this()] {
    if (!me->left_) me->socket_->wait_readable(me, 0);
  }));
}

void datagram_listener::close() noexcept {
  if (at_->closed.exchange(true)) return;
  try {
    at_->loop.post(make_job([me = shared_from_this()] { me->leave_if_over(); }));
  } catch (const std::exception&) {
    return;  // it leaves with its last peer, or with the loop
  }
}

void datagram_listener::stop() {
  at_->closed = stops_ = true;
  leave_if_over();
}

void datagram_listener::leave_if_over() noexcept {
  if (left_ || !peers_.empty() || !at_->closed) return;
  left_ = true;
  socket_.reset();
  at_->policy->closed();
  at_->loop.remove(*this);
}

void datagram_listener::forget(const datagram_way& who) noexcept {
  peers_.erase(who.key());
  leave_if_over();
}

void datagram_listener::completed(std::uint64_t, int, std::size_t) {
  if (left_) return;
  static_cast<void>(receive_some());
  if (!left_) socket_->wait_readable(shared_from_this(), 0);
}

bool datagram_listener::receive_some() {
  datagram_batch& batch = datagram_batch::of_this_thread();
  for (int i = 0; i < most_batches_at_once && !left_; ++i) {
    int failed = 0;
    const std::size_t n = batch.receive(fd_, failed);
    if (n == 0) return false;
    std::size_t first = 0;
    for (std::size_t k = 1; k <= n; ++k) {
      if (k < n && same_way(batch.way(k), batch.way(first))) continue;
      sort(batch, first, k);
      first = k;
    }
    if (n < datagram_batch::most) return false;
  }
  return !left_;
}

void datagram_listener::sort(const datagram_batch& batch, std::size_t first, std::size_t last) {
  const auto known = peers_.find(batch.way(first).key());
  std::shared_ptr<datagram_host> peer;
  if (known != peers_.end()) peer = known->second;
  // The policy is asked about each datagram of a newcomer until it lets the peer in; the new link
  // has that datagram already.
  for (; peer == nullptr && first != last; ++first) {
    try {
      peer = admit(batch.way(first), batch.bytes(first));
    } catch (...) { ++at_->limits->refused; }
  }
  if (peer == nullptr || first == last) return;
  peer->deliver(last - first, [&](std::size_t i) { return batch.bytes(first + i); });
}

std::shared_ptr<datagram_host> datagram_listener::admit(const datagram_way& way,
                                                        std::span<const std::byte> bytes) {
  if (at_->closed) return nullptr;
  if (!at_->policy->may_begin(bytes)) {
    ++at_->limits->refused;
    return nullptr;
  }
  arrival who{endpoint_of(transport_kind::udp, way.remote, at_->local), at_->local, bytes,
              base::real_clock().now()};
  if (verdict v = at_->policy->look(who); v.what() != verdict::kind::start) {
    const packet words = v.take_words();
    if (v.what() != verdict::kind::more || words.empty()) ++at_->limits->refused;
    int failed = 0;
    if (!words.empty()) static_cast<void>(send_datagrams(fd_, std::span(&words, 1), &way, failed));
    return nullptr;
  }
  // After the policy: a datagram that it refuses takes no place of a peer that waits.
  std::unique_ptr<ticket> place = ticket::take(at_->limits, who.now);
  if (place == nullptr) {
    ++at_->limits->refused;
    return nullptr;
  }
  if (at_->closed) return nullptr;  // the socket may have gone with the peer that gave way
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  auto peer = std::make_shared<datagram_host>(at_->loop, at_->settings, std::move(place),
                                              shared_from_this(), way, who.remote, copy);
  const connection fresh(peer);
  try {
    if (at_->policy->claim(who, fresh) != fresh) {
      peer->abandon();
      ++at_->limits->refused;
      return nullptr;
    }
    auto make = std::make_unique<by_policy>(at_->policy, std::move(who), std::move(copy));
    peers_.emplace(way.key(), peer);
    if (peer->begin(std::move(make))) {
      ++at_->limits->started;
      return peer;
    }
  } catch (...) {
    peer->abandon();
    peers_.erase(way.key());
    throw;
  }
  peers_.erase(way.key());
  return nullptr;
}

}  // namespace garrick::net::internal
