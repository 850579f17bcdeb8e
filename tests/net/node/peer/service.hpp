// The conversation of the actors of two processes in processes_of_nodes.test.cpp.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace garrick::tests {

/// The n-th number of a sender.
struct numbered {
  std::uint64_t sender = 0;
  std::uint64_t n = 0;
};
struct question {
  std::uint64_t n = 0;
};
/// Asks how many numbers of this sender have come.
struct how_many {
  std::uint64_t sender = 0;
};
using witness_type = protocol<void(numbered), void(question)>;
/// Names an actor that is told of each number and each handled question from now on.
struct tell {
  ref<witness_type> whom;
};
struct look {};
/// The resources of a process.
struct usage {
  std::uint64_t descriptors = 0;
  std::uint64_t resident = 0;  ///< bytes
};
struct make_echoes {
  std::uint32_t count = 0;
};
using echo_type = protocol<std::uint64_t(question)>;
/// Asks for the answer of this actor.
struct ask_there {
  ref<echo_type> whom;
  std::uint64_t n = 0;
};
using service_type =
    protocol<std::vector<ref<echo_type>>(make_echoes), void(numbered), std::uint64_t(question),
             std::int64_t(how_many), void(tell), usage(look), std::uint64_t(ask_there)>;
inline constexpr const char* service_name = "service";

inline usage usage_of_this_process() {
  usage u;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++u.descriptors;
  unsigned long long size = 0;
  unsigned long long resident = 0;
  if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%llu %llu", &size, &resident) == 2) u.resident = resident * 4096;
    std::fclose(f);
  }
  return u;
}

class echo : public actor<echo_type> {
 public:
  std::uint64_t on(question q) { return q.n + 1; }
};

class service : public actor<service_type> {
 public:
  void on(numbered x) {
    std::int64_t& next = next_[x.sender];
    if (next >= 0) next = next == static_cast<std::int64_t>(x.n) ? next + 1 : -1;
    if (witness_) send(witness_, x);
  }
  std::vector<ref<echo_type>> on(make_echoes m) {
    std::vector<ref<echo_type>> all;
    for (std::uint32_t i = 0; i < m.count; ++i) all.push_back(spawn<echo>());
    return all;
  }
  std::uint64_t on(question q) {
    if (witness_) send(witness_, q);
    return q.n + 1;
  }
  /// Returns the count, or -1 if a number was missing, came twice or out of order.
  std::int64_t on(how_many h) {
    const auto at = next_.find(h.sender);
    if (at == next_.end()) return 0;
    const std::int64_t seen = at->second;
    next_.erase(at);
    return seen;
  }
  void on(const tell& t) { witness_ = t.whom; }
  usage on(look) { return usage_of_this_process(); }
  task<std::uint64_t> on(ask_there a) { co_return co_await request(a.whom, question{a.n}); }

 private:
  std::map<std::uint64_t, std::int64_t> next_;  ///< by sender
  ref<witness_type> witness_;
};

/// A node that gives a silent peer up after `down_after_ms`.
inline net::node_settings node_with(int down_after_ms) {
  net::node_settings s;
  s.link.session.interval = duration::milliseconds(down_after_ms < 2000 ? 50 : 500);
  s.link.session.down_after = duration::milliseconds(down_after_ms);
  s.link.session.resume_window = duration::milliseconds(down_after_ms / 2);
  return s;
}

/// Finds the service of a node, sends it numbers, and asks whether each came once and in order:
/// "ok", or the error.
inline std::string visit(actor_system& system, net::node& node, const std::string& at,
                         std::uint64_t sender, std::uint64_t numbers) {
  const auto found = node.remote<service_type>(at, service_name, duration::seconds(30));
  if (!found) return found.error().to_string();
  for (std::uint64_t n = 0; n < numbers; ++n) send(*found, numbered{sender, n});
  const auto seen = system.request(*found, how_many{sender}).get();
  if (!seen) return seen.error().to_string();
  if (*seen != static_cast<std::int64_t>(numbers))
    return "the service has " + std::to_string(*seen) + " of " + std::to_string(numbers);
  return "ok";
}

}  // namespace garrick::tests
