#include <garrick/net/node/link/internal/outbox.hpp>

#include <garrick/net/error.hpp>

namespace garrick::net::internal {

namespace {

/// The approximate memory that a waiting frame takes besides its bytes.
constexpr std::size_t frame_weight = 128;

outbox::frame_class class_of(const outgoing& m) noexcept {
  using enum outbox::frame_class;
  switch (kind_of(m.bytes.bytes())) {
    case frame_kind::response: return answers;
    case frame_kind::error:
    case frame_kind::resolved:
    case frame_kind::decode_error: return refusals;
    case frame_kind::down:
    case frame_kind::exit: return ends;
    case frame_kind::release:
    case frame_kind::credit: return grants;
    default: return mail;
  }
}

}  // namespace

void outbox::count(const outgoing& m, std::int64_t more) noexcept {
  const frame_class of = class_of(m);
  const bool in_bytes = of == frame_class::refusals;
  const auto n = in_bytes ? static_cast<std::int64_t>(m.bytes.size() + frame_weight) : 1;
  waiting_[static_cast<std::size_t>(of)] += more * n;
}

void outbox::wait(outgoing m) {
  slot_.wait_in_front(ready_bytes_ += m.bytes.size());
  count(m, 1);
  ready_.push_back(std::move(m));
}

outgoing outbox::take_ready() {
  outgoing m = std::move(ready_.front());
  ready_.pop_front();
  slot_.wait_in_front(ready_bytes_ -= m.bytes.size());
  count(m, -1);
  return m;
}

bool outbox::flush(base::instant at) {
  while (!ready_.empty() && stack_.writable()) {
    outgoing m = take_ready();
    if (may_be_stale_ && !owner_.may_leave(m)) continue;
    if (const base::error no = stack_.send(std::move(m), at)) owner_.give_up(m, no);
  }
  if (!ready_.empty()) return false;
  may_be_stale_ = false;
  return true;
}

/// The stack ends the session if more than some thousand signals are not confirmed. So a signal
/// beyond the limit waits here, as when an actor watches thousands of others at once.
void outbox::post_signal(outgoing m, base::instant at) {
  const bool may_go = signals_.empty() && signals_under_way_ != most_.signals;
  if (may_go && send_signal(m, at)) return;
  count(m, 1);
  signals_.push_back(std::move(m));
}

bool outbox::send_signal(outgoing& m, base::instant at) {
  m.report = signal_report;
  ++signals_under_way_;
  const base::error no = stack_.send(std::move(m), at);
  if (no) --signals_under_way_;
  // Any other error means that the link ends, and links and monitors with it.
  return no != net_errc::overload;
}

void outbox::send_signals(base::instant at) {
  while (!signals_.empty() && signals_under_way_ != most_.signals && !is_closed_) {
    outgoing next = std::move(signals_.front());
    signals_.pop_front();
    count(next, -1);
    if (!send_signal(next, at)) {
      count(next, 1);
      return signals_.push_front(std::move(next));
    }
  }
}

std::deque<outgoing> outbox::close() noexcept {
  is_closed_ = true;
  signals_.clear();
  waiting_ = {};
  slot_.wait_in_front(ready_bytes_ = 0);
  return std::exchange(ready_, {});
}

}  // namespace garrick::net::internal
