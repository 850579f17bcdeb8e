#include "garrick/net/testkit/exchange.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "garrick/net/testkit/internal/checked_program.hpp"

namespace garrick::net::testkit {
namespace {

using base::duration;
using internal::soon;

/// Both hosts send each other numbered messages.
struct numbers final : internal::checked_program<guarantee_checker, exchange_settings> {
  numbers(simulated_network& n, const stack_kind& k, const exchange_settings& given)
      : checked_program(n, "exchange", k, given, given.messages, given.same_life), net(n) {}
  std::shared_ptr<internal::program_session> make(simulated_host& h, std::unique_ptr<endpoint> e,
                                                  bool connects) override;
  duration pause(bool connects) override {
    // A host without messages left still looks after its links.
    return left[connects ? 0 : 1] == 0 ? soon * 40 : up_to(s.between * 2);
  }
  void act(internal::program_session& by, bool newest, bool connects) override;

  simulated_network& net;
};

/// A link by which both ends send. Delayed calls hold it weakly.
class sending_session final : public std::enable_shared_from_this<sending_session>,
                              public internal::checked_session<numbers, checked_end> {
 public:
  sending_session(numbers& all, simulated_host& h, std::unique_ptr<endpoint> e, bool connects)
      : checked_session(all, std::move(e), all.next_name(h)), host_(h) {
    const std::uint64_t seed = all.random();
    const std::uint64_t life =
        all.s.same_life ? all.net.seed_for(h.name() + std::to_string(h.lives())) : seed;
    hold(h, connects, seed, life);
  }
  void begin() override {
    end_.set_listener([this](const link_event& e) { hear_all(e); });
    if (all_.kind.promises.to_mailbox)
      end_.set_mailbox([this](lane_number lane) { return decide(lane); });
    drive();
  }
  /// Returns true if a message may be sent: with sessions, only while one is open, as messages from
  /// before are lost with a session that never opens.
  [[nodiscard]] bool can_send() const {
    return end_.can_send() && (is_opened() || !all_.kind.promises.sessions);
  }
  bool send(lane_number lane, std::size_t size) { return end_.send(lane, size, host_.now()); }

 private:
  template <class F>
  void later(duration d, F what) {
    host_.after(d, [self = weak_from_this(), what] {
      if (const auto held = self.lock()) what(*held);
    });
  }
  void hear_all(const link_event& e) {
    // With sessions, a stream that is lost before the handshake ends its link, which does not
    // count.
    hear(e, !all_.kind.promises.sessions);
    if (e.what == link_event::kind::disconnected && !all_.kind.reopens)
      later(soon, [](sending_session& s) { s.endpoint_->reopen(); });
  }
  bool decide(lane_number lane) {
    if (all_.random.unit() >= all_.s.late_mailbox && late_[lane] == 0) return true;
    put_later(lane);
    return false;
  }
  /// Puts a message into its mailbox late, behind the late messages of its lane before it.
  void put_later(lane_number lane) {
    ++late_[lane];
    // Some messages are so late that a stream is lost and comes back meanwhile.
    const duration most = all_.random.below(16) == 0 ? soon * 40 : soon;
    later(all_.up_to(most), [lane](sending_session& s) {
      --s.late_[lane];
      s.end_.into_mailbox(lane, s.host_.now());
    });
  }

  simulated_host& host_;
  std::map<lane_number, int> late_;
};

std::shared_ptr<internal::program_session> numbers::make(simulated_host& h,
                                                         std::unique_ptr<endpoint> e,
                                                         bool connects) {
  return std::make_shared<sending_session>(*this, h, std::move(e), connects);
}

void numbers::act(internal::program_session& by, bool newest, bool connects) {
  sending_session& one = static_cast<sending_session&>(by);
  std::uint32_t& to_send = left[connects ? 0 : 1];
  if (!newest || to_send == 0 || !one.can_send()) return;
  const lane_number lane = s.lanes[random.below(static_cast<std::uint32_t>(s.lanes.size()))];
  // Most messages are small, and some have any size that the stack takes.
  const auto largest = static_cast<std::uint32_t>(kind.largest);
  const std::uint32_t size =
      random.below(random.below(4) == 0 ? largest + 1 : std::min(largest + 1, 64u));
  if (one.send(lane, size)) --to_send;
}

}  // namespace

exchange_result exchange(simulated_network& net, const stack_kind& kind,
                         const exchange_settings& s) {
  const auto all = std::make_shared<numbers>(net, kind, s);
  internal::run_checked(net, all);
  const exchange_result result{all->checker.sent(), all->checker.received(), all->checker.unknown(),
                               all->downs};
  internal::end_on_two_hosts(net);
  return result;
}

}  // namespace garrick::net::testkit
