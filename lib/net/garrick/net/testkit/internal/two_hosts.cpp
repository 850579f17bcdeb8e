#include "garrick/net/testkit/internal/two_hosts.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace garrick::net::testkit::internal {
namespace {

constexpr std::uint16_t port = 7;

/// The program of a host in one of its lives.
class side {
 public:
  side(two_host_program& all, simulated_host& h, bool streams)
      : all_(all), host_(h), connects_(h.name() == "a"), streams_(streams) {}
  void begin(const std::shared_ptr<side>& self) {
    self_ = self;
    if (connects_) {
      connect();
    } else {
      const auto taken = [this](std::unique_ptr<endpoint> e) {
        if (!is_late(*e)) add(std::move(e));
      };
      listener_ = streams_ ? host_.listen(port, taken) : host_.listen_datagrams(port, taken);
    }
    act_later();
  }

 private:
  void add(std::unique_ptr<endpoint> e) {
    sessions_.push_back(all_.make(host_, std::move(e), connects_));
    sessions_.back()->begin();
  }
  /// Returns true if a newcomer's datagram is late. By the rule of `accept_sessions`, a later
  /// session of that incarnation does not come from the address of an earlier one.
  [[nodiscard]] bool is_late(const endpoint& e) {
    if (!all_.has_one_life || streams_) return false;
    return !seen_.emplace(e.peer().host, e.peer().port).second;
  }
  void connect() {
    // As in a real process, late datagrams arrive at an address that is not used any more.
    const std::uint16_t from = all_.has_one_life ? 0 : 1;
    add(streams_ ? host_.connect({"b", port}) : host_.datagrams(from, {"b", port}));
  }
  void act_later() {
    host_.after(all_.pause(connects_), [self = self_] {
      const auto held = self.lock();
      if (!held) return;
      held->replace_those_that_are_down();
      held->act();
      held->act_later();
    });
  }
  void act() {
    for (const auto& one : sessions_) all_.act(*one, one == sessions_.back(), connects_);
  }
  void replace_those_that_are_down() {
    const auto gone = std::erase_if(sessions_, [](const auto& s) { return s->is_down(); });
    if (connects_ && gone != 0) connect();
  }

  two_host_program& all_;
  simulated_host& host_;
  const bool connects_;
  const bool streams_;
  std::weak_ptr<side> self_;
  std::unique_ptr<listener> listener_;
  std::vector<std::shared_ptr<program_session>> sessions_;
  std::set<std::pair<std::string, std::uint16_t>> seen_;  ///< the sources of datagrams
};

}  // namespace

void begin_on_two_hosts(simulated_network& net, const std::shared_ptr<two_host_program>& program,
                        bool streams, const path_settings& path, fault_plan faults) {
  net.both("a", "b", path);
  faults.hosts = {"a", "b"};
  plan_faults(net, faults);
  // The hosts' programs hold the program, and are destroyed with the network or, if a test throws,
  // by a crash.
  for (const char* name : {"b", "a"})
    net.host(name).runs([program, streams](simulated_host& h) {
      auto made = std::make_shared<side>(*program, h, streams);
      made->begin(made);
      return std::shared_ptr<void>(made, made.get());
    });
}

void end_on_two_hosts(simulated_network& net) {
  for (const char* name : {"a", "b"}) net.host(name).runs({});
}

}  // namespace garrick::net::testkit::internal
