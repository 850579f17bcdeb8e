#include "garrick/net/testkit/exchange.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "garrick/net/testkit/internal/two_hosts.hpp"

namespace garrick::net::testkit {
namespace {

using base::duration;

constexpr duration soon = duration::milliseconds(5);

/// Both hosts send each other numbered messages.
struct numbers final : internal::two_host_program {
  numbers(simulated_network& n, const stack_kind& k, const exchange_settings& given)
      : two_host_program(n, "exchange", given.same_life),
        net(n),
        kind(k),
        s(given),
        checker(k.promises) {}
  std::shared_ptr<internal::program_session> make(simulated_host& h, std::unique_ptr<endpoint> e,
                                                  bool connects) override;
  duration pause(bool connects) override {
    // Who has nothing to send still looks after his links.
    return left[connects ? 0 : 1] == 0 ? soon * 40 : up_to(s.between * 2);
  }
  void act(internal::program_session& by, bool newest, bool connects) override;

  simulated_network& net;
  const stack_kind& kind;
  const exchange_settings& s;
  guarantee_checker checker;
  std::uint32_t ends = 0;
  std::uint32_t left[2] = {s.messages, s.messages};  ///< to be sent by "a" and "b"
  std::size_t downs = 0;
  std::string why;  ///< the last of them went down
};

/// A link with its endpoint. Whoever calls later holds it weakly.
class session final : public internal::program_session,
                      public std::enable_shared_from_this<session> {
 public:
  session(numbers& all, simulated_host& h, std::unique_ptr<endpoint> e, bool connects)
      : all_(all),
        host_(h),
        endpoint_(std::move(e)),
        end_(all.checker,
             h.name() + "." + std::to_string(h.lives() + 1) + "." + std::to_string(++all.ends)) {
    const std::uint64_t seed = all.random();
    const std::uint64_t life =
        all.s.same_life ? all.net.seed_for(h.name() + std::to_string(h.lives())) : seed;
    end_.hold(all.kind.make(end_, *endpoint_, {h.name(), h.lives() + 1, connects, seed, life}));
  }
  void begin() override {
    end_.set_listener([this](const link_event& e) { hear(e); });
    if (all_.kind.promises.to_mailbox)
      end_.set_mailbox([this](lane_number lane) { return decide(lane); });
    endpoint_->drive(end_.below());
  }
  [[nodiscard]] bool is_down() const override { return end_.is_down(); }
  /// What is sent before a session opens goes down with it if it never does.
  [[nodiscard]] bool can_send() const {
    return end_.can_send() && (opened_ || !all_.kind.promises.sessions);
  }
  bool send(lane_number lane, std::size_t size) { return end_.send(lane, size, host_.now()); }

 private:
  template <class F>
  void later(duration d, F what) {
    host_.after(d, [self = weak_from_this(), what] {
      if (const auto held = self.lock()) what(*held);
    });
  }
  void hear(const link_event& e) {
    if (e.what == link_event::kind::opened) opened_ = true;
    // An end whose stream is lost before the handshake has nothing to go on with.
    if (e.what == link_event::kind::down && (opened_ || !all_.kind.promises.sessions)) {
      ++all_.downs;
      all_.why = e.why.to_string();
    }
    if (e.what == link_event::kind::disconnected && !all_.kind.reopens)
      later(soon, [](session& s) { s.endpoint_->reopen(); });
  }
  bool decide(lane_number lane) {
    if (all_.random.unit() >= all_.s.late_mailbox && late_[lane] == 0) return true;
    put_later(lane);
    return false;
  }
  /// Whoever waits for his mailbox waits behind those before him.
  void put_later(lane_number lane) {
    ++late_[lane];
    // Some are so late that a stream is lost and comes back meanwhile.
    const duration most = all_.random.below(16) == 0 ? soon * 40 : soon;
    later(all_.up_to(most), [lane](session& s) {
      --s.late_[lane];
      s.end_.into_mailbox(lane, s.host_.now());
    });
  }

  numbers& all_;
  simulated_host& host_;
  std::unique_ptr<endpoint> endpoint_;
  checked_end end_;  ///< holds the link, so it goes before the endpoint
  std::map<lane_number, int> late_;
  bool opened_ = false;
};

std::shared_ptr<internal::program_session> numbers::make(simulated_host& h,
                                                         std::unique_ptr<endpoint> e,
                                                         bool connects) {
  return std::make_shared<session>(*this, h, std::move(e), connects);
}

void numbers::act(internal::program_session& by, bool newest, bool connects) {
  session& one = static_cast<session&>(by);
  std::uint32_t& to_send = left[connects ? 0 : 1];
  if (!newest || to_send == 0 || !one.can_send()) return;
  const lane_number lane = s.lanes[random.below(static_cast<std::uint32_t>(s.lanes.size()))];
  // Small ones mostly, some as large as may be.
  const auto largest = static_cast<std::uint32_t>(kind.largest);
  const std::uint32_t size =
      random.below(random.below(4) == 0 ? largest + 1 : std::min(largest + 1, 64u));
  if (one.send(lane, size)) --to_send;
}

}  // namespace

exchange_result exchange(simulated_network& net, const stack_kind& kind,
                         const exchange_settings& s) {
  const auto all = std::make_shared<numbers>(net, kind, s);
  internal::begin_on_two_hosts(net, all, kind.streams, s.path, s.faults);
  const auto check = [&] {
    net.require(all->checker.violation().empty(), kind.name + ": " + all->checker.violation());
    net.require(s.may_go_down || all->downs == 0, kind.name + ": a link went down: " + all->why);
  };
  const auto is_broken = [&] {
    return !all->checker.violation().empty() || (all->downs != 0 && !s.may_go_down);
  };
  const duration needed = s.between * (4 * static_cast<std::int64_t>(s.messages));
  net.run_until(is_broken, std::max(needed, s.faults.until - net.elapsed()) + s.settles);
  check();
  all->checker.finish();
  check();
  const exchange_result result{all->checker.sent(), all->checker.received(), all->checker.unknown(),
                               all->downs};
  internal::end_on_two_hosts(net);
  return result;
}

}  // namespace garrick::net::testkit
