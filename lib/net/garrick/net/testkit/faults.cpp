#include "garrick/net/testkit/faults.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "garrick/base/values/random.hpp"

namespace garrick::net::testkit {

using base::duration;
using net_t = simulated_network;

fault cut(std::string a, std::string b) {
  return {"cut " + a + " and " + b, [a, b](net_t& net) {
            net.cut(a, b);
            net.cut(b, a);
          }};
}
fault cut_one_way(std::string from, std::string to) {
  return {"cut the way from " + from + " to " + to, [from, to](net_t& net) { net.cut(from, to); }};
}
fault heal(std::string a, std::string b) {
  return {"heal " + a + " and " + b, [a, b](net_t& net) {
            net.heal(a, b);
            net.heal(b, a);
          }};
}
fault partition(std::vector<std::string> side, std::vector<std::string> other) {
  return {"partition", [side = std::move(side), other = std::move(other)](net_t& net) {
            for (const std::string& a : side)
              for (const std::string& b : other) {
                net.cut(a, b);
                net.cut(b, a);
              }
          }};
}
fault heal_all() {
  return {"heal all", [](net_t& net) { net.heal_all(); }};
}
fault reset_streams(std::string a, std::string b) {
  return {"reset the streams between " + a + " and " + b,
          [a, b](net_t& net) { net.reset_streams(a, b); }};
}
fault half_open(std::string at, std::string other) {
  return {at + " alone loses its streams to " + other,
          [at, other](net_t& net) { net.half_open(at, other); }};
}
fault stall_streams(std::string a, std::string b) {
  return {"stall the streams between " + a + " and " + b,
          [a, b](net_t& net) { net.stall_streams(a, b); }};
}
fault pause(std::string host) {
  return {"pause " + host, [host](net_t& net) { net.host(host).pause(); }};
}
fault resume(std::string host) {
  return {"resume " + host, [host](net_t& net) { net.host(host).resume(); }};
}
fault crash(std::string host, crash_kind what) {
  return {(what == crash_kind::process ? "crash " : "switch off ") + host,
          [host, what](net_t& net) { net.host(host).crash(what); }};
}
fault restart(std::string host) {
  return {"restart " + host, [host](net_t& net) { net.host(host).restart(); }};
}
fault jump(std::string host, duration by) {
  return {"the clock of " + host + " jumps by " + by.to_string(),
          [host, by](net_t& net) { net.host(host).jump(by); }};
}
fault clock_rate(std::string host, std::int64_t ppm) {
  return {"the clock of " + host + " runs at " + std::to_string(ppm) + " ppm",
          [host, ppm](net_t& net) { net.host(host).set_rate(ppm); }};
}
fault change(std::string a, std::string b, path_settings to) {
  return {"the way between " + a + " and " + b + " changes",
          [a, b, to](net_t& net) { net.both(a, b, to); }};
}

namespace {

/// A plan while it is drawn.
class drawing {
 public:
  drawing(net_t& net, const fault_plan& plan)
      : net_(net), plan_(plan), random_(net.seed_for("faults")) {}

  std::size_t draw_all() {
    std::size_t count = 0;
    duration when = plan_.from + gap();
    for (; when < plan_.until; when = when + gap(), ++count) draw(when);
    net_.at(plan_.until, heal_all());
    return count;
  }

 private:
  [[nodiscard]] duration up_to(duration most) {
    return duration::nanoseconds(
        1 + static_cast<std::int64_t>(random_.unit() * static_cast<double>(most.count())));
  }
  [[nodiscard]] duration gap() { return up_to(plan_.between * 2); }
  [[nodiscard]] std::string a_host() {
    return plan_.hosts[random_.below(static_cast<std::uint32_t>(plan_.hosts.size()))];
  }
  [[nodiscard]] std::string another(const std::string& than) {
    std::string other = a_host();
    while (other == than) other = a_host();
    return other;
  }
  /// Adds a fault for a while.
  void between(duration when, fault begin, fault end) {
    net_.at(when, std::move(begin));
    net_.at(std::min(when + up_to(plan_.longest), plan_.until), std::move(end));
  }
  void storm(duration when, const std::string& a, const std::string& b) {
    const path_settings usual = net_.path(a, b);
    path_settings rough = usual;
    rough.loss = rough.reordering = rough.duplication = 1.0 / 3;
    const auto set = [a, b](const char* what, const path_settings& s) {
      return fault{what + (" from " + a + " to " + b), [a, b, s](net_t& n) { n.path(a, b) = s; }};
    };
    between(when, set("a storm begins", rough), set("a storm ends", usual));
  }
  /// Lowers the limit of a way for good. Datagrams that are on their way still arrive.
  void narrow(duration when, const std::string& a, const std::string& b) {
    const std::size_t most = 1200 + random_.below(8000);
    net_.at(when, {"the way from " + a + " to " + b + " takes " + std::to_string(most) + " bytes",
                   [a, b, most](net_t& n) {
                     path_settings& s = n.path(a, b);
                     s.largest = std::min(s.largest, most);
                   }});
  }
  [[nodiscard]] std::size_t kind() {
    const std::array weights{plan_.cuts,   plan_.one_way_cuts, plan_.resets, plan_.half_opens,
                             plan_.pauses, plan_.crashes,      plan_.jumps,  plan_.rates,
                             plan_.storms, plan_.narrowings,   plan_.stalls};
    std::uint32_t sum = 0;
    for (const std::uint32_t w : weights) sum += w;
    std::uint32_t chosen = random_.below(sum);
    std::size_t at = 0;
    while (sum != 0 && chosen >= weights[at]) chosen -= weights[at++];
    return sum == 0 ? weights.size() : at;
  }
  void draw(duration when) {
    const std::string a = a_host();
    const std::string b = another(a);
    switch (kind()) {
      case 0: return between(when, cut(a, b), heal(a, b));
      case 1: return between(when, cut_one_way(a, b), heal(a, b));
      case 2: return net_.at(when, reset_streams(a, b));
      case 3: return net_.at(when, half_open(a, b));
      case 4: return between(when, pause(a), resume(a));
      case 5: {
        const bool machine = random_.below(2) == 0;
        return between(when, crash(a, machine ? crash_kind::machine : crash_kind::process),
                       restart(a));
      }
      case 6: return net_.at(when, jump(a, up_to(plan_.longest_jump)));
      case 7:
        return net_.at(when, clock_rate(a, static_cast<std::int64_t>(random_.below(401)) - 200));
      case 8: return storm(when, a, b);
      case 9: return narrow(when, a, b);
      case 10: return net_.at(when, stall_streams(a, b));
      default: return;
    }
  }

  net_t& net_;
  const fault_plan& plan_;
  base::random_source random_;
};

}  // namespace

std::size_t plan_faults(simulated_network& net, const fault_plan& plan) {
  std::vector<std::string> different = plan.hosts;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (different.size() < 2) throw std::invalid_argument("a plan of faults names two hosts or more");
  if (plan.between <= duration())
    throw std::invalid_argument("the time between two faults has some length");
  return drawing(net, plan).draw_all();
}

}  // namespace garrick::net::testkit
