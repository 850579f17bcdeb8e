// The common part of `exchange` and `dialogue`: a program over two simulated hosts, and a checker
// that watches it.
//
// Thread safety: its network's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/testkit/endpoint.hpp"
#include "garrick/net/testkit/internal/two_hosts.hpp"
#include "garrick/net/testkit/simulated_host.hpp"
#include "garrick/net/testkit/simulated_network.hpp"
#include "garrick/net/testkit/stack_kind.hpp"

namespace garrick::net::testkit::internal {

/// A time about as long as a way takes.
inline constexpr base::duration soon = base::duration::milliseconds(5);

/// The program: each host acts a given number of times, over links of one kind.
template <class Checker, class Settings>
struct checked_program : two_host_program {
  checked_program(simulated_network& n, std::string_view name, const stack_kind& k,
                  const Settings& given, std::uint32_t acts, bool same_life = false)
      : two_host_program(n, name, same_life),
        kind(k),
        s(given),
        checker(k.promises),
        each(acts),
        left{acts, acts} {}

  /// Returns a name for a new end of a link, by its host and life.
  [[nodiscard]] std::string next_name(const simulated_host& h) {
    return h.name() + "." + std::to_string(h.lives() + 1) + "." + std::to_string(++ends);
  }
  /// Notes that a link went down.
  void note_down(const link_event& e) {
    ++downs;
    why = e.why.to_string();
  }

  const stack_kind& kind;
  const Settings& s;
  Checker checker;
  const std::uint32_t each;  ///< the number of actions of each host
  std::uint32_t left[2];     ///< the actions left for "a" and "b"
  std::uint32_t ends = 0;
  std::size_t downs = 0;
  std::string why;  ///< the reason of the last link that went down
};

/// A link of such a program, with its endpoint.
template <class Program, class End>
class checked_session : public program_session {
 public:
  template <class... Args>
  checked_session(Program& all, std::unique_ptr<endpoint> e, Args&&... of_end)
      : all_(all), endpoint_(std::move(e)), end_(all.checker, std::forward<Args>(of_end)...) {}

  [[nodiscard]] bool is_down() const override { return end_.is_down(); }
  [[nodiscard]] bool is_opened() const noexcept { return opened_; }

 protected:
  /// Gives the end a stack of the program's kind, with a seed for its random choices and its life.
  void hold(const simulated_host& h, bool connects, std::uint64_t seed, std::uint64_t life) {
    end_.hold(all_.kind.make(end_, *endpoint_, {h.name(), h.lives() + 1, connects, seed, life}));
  }
  void drive() { endpoint_->drive(end_.below()); }
  /// Handles an event. `counts`: a link that goes down counts even if it was never open.
  void hear(const link_event& e, bool counts) {
    if (e.what == link_event::kind::opened) opened_ = true;
    if (e.what == link_event::kind::down && (opened_ || counts)) all_.note_down(e);
  }

  Program& all_;
  std::unique_ptr<endpoint> endpoint_;
  End end_;  ///< holds the link, so it is destroyed before the endpoint

 private:
  bool opened_ = false;
};

/// Runs the program until its time is over and everything was whole for a while, or until a promise
/// is broken. Throws a `network_failure` then.
template <class Program>
void run_checked(simulated_network& net, const std::shared_ptr<Program>& all) {
  const auto& s = all->s;
  begin_on_two_hosts(net, all, all->kind.streams, s.path, s.faults);
  const auto check = [&] {
    net.require(all->checker.violation().empty(), all->kind.name + ": " + all->checker.violation());
    net.require(s.may_go_down || all->downs == 0,
                all->kind.name + ": a link went down: " + all->why);
  };
  const auto is_broken = [&] {
    return !all->checker.violation().empty() || (all->downs != 0 && !s.may_go_down);
  };
  const base::duration needed = s.between * (4 * static_cast<std::int64_t>(all->each));
  net.run_until(is_broken, std::max(needed, s.faults.until - net.elapsed()) + s.settles);
  check();
  all->checker.finish();
  check();
}

}  // namespace garrick::net::testkit::internal
