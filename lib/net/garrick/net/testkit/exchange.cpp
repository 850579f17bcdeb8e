#include "garrick/net/testkit/exchange.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "garrick/base/values/random.hpp"

namespace garrick::net::testkit {
namespace {

using base::duration;

constexpr std::uint16_t port = 7;
constexpr duration soon = duration::milliseconds(5);

/// What outlives crashes.
struct whole {
  whole(simulated_network& n, const stack_kind& k, const exchange_settings& given)
      : net(n), kind(k), s(given), checker(k.promises), random(n.seed_for("exchange")) {}
  [[nodiscard]] duration up_to(duration most) {
    return duration::nanoseconds(
        1 + static_cast<std::int64_t>(random.unit() * static_cast<double>(most.count())));
  }
  simulated_network& net;
  const stack_kind& kind;
  const exchange_settings& s;
  guarantee_checker checker;
  base::random_source random;
  std::uint32_t ends = 0;
  std::uint32_t left[2] = {s.messages, s.messages};  ///< to be sent by "a" and "b"
  std::size_t downs = 0;
  std::string why;  ///< the last of them went down
};

/// A link with its endpoint. Whoever calls later holds it weakly.
class session : public std::enable_shared_from_this<session> {
 public:
  session(whole& all, simulated_host& h, std::unique_ptr<endpoint> e, bool connects)
      : all_(all),
        host_(h),
        endpoint_(std::move(e)),
        end_(all.checker,
             h.name() + "." + std::to_string(h.lives() + 1) + "." + std::to_string(++all.ends)) {
    end_.hold(all.kind.make(end_, *endpoint_, {h.name(), h.lives() + 1, connects, all.random()}));
  }
  void begin() {
    end_.set_listener([this](const link_event& e) { hear(e); });
    if (all_.kind.promises.to_mailbox)
      end_.set_mailbox([this](lane_number lane) { return decide(lane); });
    endpoint_->drive(end_.below());
  }
  [[nodiscard]] bool is_down() const { return end_.is_down(); }
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
    later(all_.up_to(soon), [lane](session& s) {
      --s.late_[lane];
      s.end_.into_mailbox(lane, s.host_.now());
    });
  }

  whole& all_;
  simulated_host& host_;
  std::unique_ptr<endpoint> endpoint_;
  checked_end end_;  ///< holds the link, so it goes before the endpoint
  std::map<lane_number, int> late_;
  bool opened_ = false;
};

/// What a host runs.
class side {
 public:
  side(whole& all, simulated_host& h) : all_(all), host_(h), connects_(h.name() == "a") {}
  void begin(const std::shared_ptr<side>& self) {
    self_ = self;
    if (connects_) {
      connect();
    } else {
      const auto taken = [this](std::unique_ptr<endpoint> e) { add(std::move(e)); };
      listener_ =
          all_.kind.streams ? host_.listen(port, taken) : host_.listen_datagrams(port, taken);
    }
    send_later();
  }

 private:
  template <class F>
  void later(duration d, F what) {
    host_.after(d, [self = self_, what] {
      if (const auto held = self.lock()) what(*held);
    });
  }
  void add(std::unique_ptr<endpoint> e) {
    sessions_.push_back(std::make_shared<session>(all_, host_, std::move(e), connects_));
    sessions_.back()->begin();
  }
  void connect() {
    add(all_.kind.streams ? host_.connect({"b", port}) : host_.datagrams(1, {"b", port}));
  }
  void send_later() {
    // Who has nothing to send still looks after his links.
    const bool idle = all_.left[connects_ ? 0 : 1] == 0;
    later(idle ? soon * 40 : all_.up_to(all_.s.between * 2), [](side& s) {
      s.replace_those_that_are_down();
      s.send();
      s.send_later();
    });
  }
  void replace_those_that_are_down() {
    const auto gone = std::erase_if(sessions_, [](const auto& s) { return s->is_down(); });
    if (connects_ && gone != 0) connect();
  }
  void send() {
    std::uint32_t& left = all_.left[connects_ ? 0 : 1];
    if (left == 0 || sessions_.empty() || !sessions_.back()->can_send()) return;
    const auto& lanes = all_.s.lanes;
    const lane_number lane = lanes[all_.random.below(static_cast<std::uint32_t>(lanes.size()))];
    // Small ones mostly, some as large as may be.
    const auto largest = static_cast<std::uint32_t>(all_.kind.largest);
    const std::uint32_t size =
        all_.random.below(all_.random.below(4) == 0 ? largest + 1 : std::min(largest + 1, 64u));
    if (sessions_.back()->send(lane, size)) --left;
  }

  whole& all_;
  simulated_host& host_;
  const bool connects_;
  std::weak_ptr<side> self_;
  std::unique_ptr<listener> listener_;
  std::vector<std::shared_ptr<session>> sessions_;
};

}  // namespace

exchange_result exchange(simulated_network& net, const stack_kind& kind,
                         const exchange_settings& s) {
  // The hosts' programs know it, and go with the network or, if this throws, by a crash.
  const auto all = std::make_shared<whole>(net, kind, s);
  net.both("a", "b", s.path);
  fault_plan faults = s.faults;
  faults.hosts = {"a", "b"};
  plan_faults(net, faults);
  for (const char* name : {"b", "a"})
    net.host(name).runs([all](simulated_host& h) {
      auto made = std::make_shared<side>(*all, h);
      made->begin(made);
      return std::shared_ptr<void>(made, made.get());
    });
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
  for (const char* name : {"a", "b"}) net.host(name).runs({});
  return result;
}

}  // namespace garrick::net::testkit
