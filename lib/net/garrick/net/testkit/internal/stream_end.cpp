#include "garrick/net/testkit/internal/stream_end.hpp"

#include <utility>

#include "garrick/net/error.hpp"

namespace garrick::net::testkit::internal {

void stream_end::started() {
  if (connects())
    reopen();
  else if (connection_)
    tell_connected();
}

void stream_end::reopen() {
  if (is_dead() || !connects() || connecting_ || connection_ || upper() == nullptr) return;
  connecting_ = true;
  const std::uint64_t attempt = ++attempt_;
  auto self = std::static_pointer_cast<stream_end>(shared_from_this());
  timeline& net = at().time();
  net.at(net.now(), [self = std::move(self), attempt] { self->knock_(self, attempt); });
}

void stream_end::refused(std::uint64_t attempt, const base::error& why) {
  if (!wants(attempt)) return;
  connecting_ = false;
  later(at().time().now(),
        [why](carried& upper, base::instant now) { upper.disconnected(why, now); });
}

void stream_end::tell_connected() {
  later(at().time().now(), [this, c = connection_](carried& upper, base::instant now) {
    if (connection_ != c) return;
    told_ = true;
    upper.connected(now);
    c->receive_soon(c->side_of(*this));
  });
}

void stream_end::join(std::shared_ptr<two_way> c) {
  if (const auto old = connection_) {
    lose(old.get(), base::make_error(net_errc::connection_lost, "the other end opened a new one"));
    old->forget(old->side_of(*this), "is replaced");
  }
  connecting_ = false;
  connection_ = std::move(c);
  if (upper() != nullptr) tell_connected();
}

void stream_end::lose(const two_way* c, const base::error& why) {
  if (is_dead() || connection_.get() != c) return;
  connection_.reset();
  connecting_ = false;
  // Who has not heard of it need not hear that it is lost, unless he has asked for it.
  if (!std::exchange(told_, false) && !connects()) return;
  later(at().time().now(),
        [why](carried& upper, base::instant now) { upper.disconnected(why, now); });
}

void stream_end::transmit(packet p) {
  if (!is_open()) return;
  const std::shared_ptr<two_way> c = connection_;
  c->send(c->side_of(*this), p.bytes());
  at().time().changed();
}

bool stream_end::writable() const {
  return is_open() && connection_->takes_more(connection_->side_of(*this));
}

void stream_end::close() {
  if (is_dead()) return;
  told_ = false;
  if (const auto c = std::exchange(connection_, nullptr)) c->finish(c->side_of(*this));
  bury();
}

void stream_end::died() {
  told_ = false;
  connection_.reset();
  end::died();
}

}  // namespace garrick::net::testkit::internal
