#include "garrick/net/testkit/internal/stream_end.hpp"

#include <utility>

#include "garrick/net/error.hpp"

namespace garrick::net::testkit::internal {
namespace {

/// The time that a connection beside another one waits for an answer.
constexpr base::duration answer_limit = base::duration::seconds(3);

}  // namespace

void stream_end::started() {
  if (connects())
    reopen();
  else if (connection_)
    tell_connected();
}

void stream_end::reopen() {
  if (is_dead() || !connects() || connecting_ || connection_ || upper() == nullptr) return;
  drop_beside();
  connecting_ = true;
  knock(attempt_ = ++attempts_);
}

void stream_end::knock(std::uint64_t attempt) {
  auto self = std::static_pointer_cast<stream_end>(shared_from_this());
  timeline& net = at().time();
  net.at(net.now(), [self = std::move(self), attempt] { self->knock_(self, attempt); });
}

void stream_end::refused(std::uint64_t attempt, const base::error& why) {
  if (!wants(attempt)) return;
  if (attempt == beside_attempt_) return drop_beside();
  connecting_ = false;
  tell_loss_later(why);
}

void stream_end::tell_loss_later(const base::error& why) {
  untold_ = why;
  later(at().time().now(), [this](carried&, base::instant) { tell_loss(); });
}

void stream_end::tell_loss() {
  const base::error why = std::exchange(untold_, {});
  if (why) call([&](carried& upper, base::instant now) { upper.disconnected(why, now); });
}

void stream_end::tell_connected() {
  later(at().time().now(), [this, c = connection_](carried&, base::instant) {
    // A process that is resumed at this instant may not have been told of a loss while it was
    // stopped.
    if (connection_ == c) tell_loss();
    if (connection_ != c) return;
    told_ = true;
    call([](carried& upper, base::instant now) { upper.connected(now); });
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
  if (is_dead()) return;
  if (beside_ && beside_.get() == c) {
    beside_.reset();
    return drop_beside();
  }
  if (connection_.get() != c) return;
  connection_.reset();
  connecting_ = false;
  // A stack that does not know of the connection need not be told of its loss, unless it has asked
  // for a connection.
  if (std::exchange(told_, false) || connects()) tell_loss_later(why);
}

void stream_end::received(const two_way* c, std::span<const std::byte> b) {
  if (connection_.get() == c)
    return call([b](carried& upper, base::instant now) { upper.receive(b, now); });
  beside_bytes_.insert(beside_bytes_.end(), b.begin(), b.end());
  beside what = beside::drops;
  call([&](carried& upper, base::instant now) { what = upper.answered(beside_bytes_, now); });
  if (what == beside::takes) take_beside();
  if (what == beside::drops) drop_beside();
}

// ---- a second connection beside the present one -----------------------------------------------

void stream_end::reopen_beside() {
  if (is_dead() || !connects() || !connection_ || beside_ || beside_attempt_ != 0) return;
  knock(beside_attempt_ = ++attempts_);
}

void stream_end::join(std::shared_ptr<two_way> c, std::uint64_t attempt) {
  if (attempt != beside_attempt_) return join(std::move(c));
  beside_attempt_ = 0;
  beside_ = std::move(c);
  later(at().time().now(), [this, mine = beside_](carried&, base::instant) {
    if (beside_ == mine) greet_beside();
  });
}

void stream_end::greet_beside() {
  packet first;
  call([&](carried& upper, base::instant now) { first = upper.greeting(now); });
  if (first.empty() || !beside_) return drop_beside();
  const std::shared_ptr<two_way> c = beside_;
  c->send(c->side_of(*this), first.bytes());
  c->receive_soon(c->side_of(*this));
  at().time().at(at().time().now() + answer_limit,
                 [self = std::static_pointer_cast<stream_end>(shared_from_this()), c] {
                   if (self->beside_ == c) self->drop_beside();
                 });
}

void stream_end::drop_beside() {
  beside_attempt_ = 0;
  beside_bytes_.clear();
  if (const auto c = std::exchange(beside_, nullptr)) c->finish(c->side_of(*this));
}

void stream_end::take_beside() {
  const auto self = shared_from_this();  // the stack may end it
  const std::shared_ptr<two_way> c = std::exchange(beside_, nullptr);
  const bytes come = std::exchange(beside_bytes_, {});
  const std::shared_ptr<two_way> old = std::exchange(connection_, c);
  connecting_ = false;
  if (old) old->forget(old->side_of(*this), "is replaced");
  if (std::exchange(told_, false))
    untold_ = base::make_error(net_errc::connection_lost, "another connection took its place");
  tell_loss();
  if (connection_ != c) return;
  told_ = true;
  call([](carried& upper, base::instant now) { upper.connected(now); });
  if (connection_ != c) return;
  call([&](carried& upper, base::instant now) { upper.receive(come, now); });
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
  drop_beside();
  if (const auto c = std::exchange(connection_, nullptr)) c->finish(c->side_of(*this));
  bury();
}

void stream_end::died() {
  told_ = false;
  connection_.reset();
  beside_.reset();
  beside_attempt_ = 0;
  end::died();
}

}  // namespace garrick::net::testkit::internal
