// The guarantee programs for two processes, and how several run side by side.
//
// Thread safety: plain functions.
#pragma once

#include <garrick/net/testkit/explore_network.hpp>
#include <garrick/testkit/seeds.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/guarantees/two_processes.hpp"

namespace garrick::tests {

/// Returns an address of the loopback network that is this process's own, so that no port is taken.
inline std::string own_address(const char* scheme, int port) {
  const auto pid = static_cast<unsigned>(::getpid());
  return std::string(scheme) + "://127." + std::to_string(1 + (pid >> 16) % 250) + '.' +
         std::to_string(pid >> 8 & 0xff) + '.' + std::to_string(pid & 0xff) + ':' +
         std::to_string(port);
}

/// A program: it lets two processes suffer, and states its requirements.
using guarantee_program = std::function<void(two_processes&)>;

/// Runs the program with each of the settings at once. Returns the first failure, or nothing.
inline std::string run_side_by_side(const std::vector<pair_settings>& all,
                                    const guarantee_program& program) {
  std::vector<std::string> failures(all.size());
  std::vector<std::thread> runs;
  for (std::size_t i = 0; i != all.size(); ++i)
    runs.emplace_back([&, i] {
      two_processes both(all[i]);
      if (both.ok()) program(both);
      failures[i] = both.end();
    });
  for (std::thread& t : runs) t.join();
  const auto bad =
      std::find_if(failures.begin(), failures.end(), [](const auto& f) { return !f.empty(); });
  return bad == failures.end() ? std::string() : *bad;
}

/// The same for several seeds: one for each 200 that GARRICK_SEEDS asks for, since processes are
/// slow, or the one that GARRICK_SEED names. A seed decides sizes, lanes and late messages; the
/// rest is the system's.
inline std::string explore_processes(
    const std::function<std::vector<pair_settings>(std::uint64_t seed)>& make,
    const guarantee_program& program) {
  const std::uint64_t seeds = std::max<std::uint64_t>(1, net::testkit::seeds() / 200);
  const auto found = garrick::testkit::find_failing_seed(
      seeds, [&](std::uint64_t seed) { return run_side_by_side(make(seed), program); });
  return found ? found->text : std::string();
}

/// The number of messages that show that a link works.
inline constexpr std::size_t some = 20;

/// Waits until both roles have received this many more.
inline bool both_receive(two_processes& p, std::size_t more = some) {
  const std::size_t a = p.seen().of(0).received + more, b = p.seen().of(1).received + more;
  return p.until([&] { return p.seen().of(0).received >= a && p.seen().of(1).received >= b; },
                 "both received some more messages");
}
/// Waits until there is one link, after any earlier ones, and it carries messages both ways.
inline bool all_is_well(two_processes& p) {
  return p.until(
      [&p] {
        return p.seen().open_links() == 2 && p.seen().of(0).since_opened >= some &&
               p.seen().of(1).since_opened >= some;
      },
      "one link was left, and had carried some messages");
}
/// Ends the sending, and checks that all promises were kept.
inline void settle(two_processes& p) {
  p.settle();
  const witness& w = p.seen();
  p.require(w.of(0).right_answers != 0 && w.of(1).right_answers != 0, "an end got no right answer");
}
/// Like `settle`; also checks that no link has gone down.
inline void settle_without_loss(two_processes& p) {
  settle(p);
  const witness& w = p.seen();
  p.require(w.of(0).downs + w.of(1).downs == 0, "a link went down");
  if (!w.promised().to_mailbox) return;
  p.require(w.received() == w.sent(), "of " + std::to_string(w.sent()) + " messages " +
                                          std::to_string(w.received()) + " are in mailboxes");
}

/// Breaks the stream again and again; the session outlives it.
inline void lost_and_resumed(two_processes& p, int times) {
  for (int i = 0; i != times && both_receive(p); ++i) {
    const std::size_t a = p.seen().of(0).resumed, b = p.seen().of(1).resumed;
    p.lose_streams(i % 2 == 0 ? listener_role : connector_role);
    p.until([&] { return p.seen().of(0).resumed > a && p.seen().of(1).resumed > b; },
            "the session was resumed at both ends");
  }
}

/// Kills one process after the other in mid-stream; each lives again at the same address.
inline void killed_and_started_again(two_processes& p) {
  const bool keeps = p.seen().promised().to_mailbox;
  for (const std::uint32_t victim : {listener_role, connector_role}) {
    const std::uint32_t other = 1 - victim;
    if (!both_receive(p)) return;
    const witness::figures before = p.seen().of(other);
    // One process has no time to confirm messages under way, so that some are in doubt.
    if (victim == connector_role) {
      p.stop(victim);
      p.until([&] { return p.seen().of(other).sent >= before.sent + 5; },
              "some messages were sent to a stopped process");
    }
    p.kill(victim);
    if (keeps && p.is_unix_stream())
      p.until([&] { return p.seen().of(other).held >= before.held + 5; },
              "some messages were sent after the stream was lost");
    p.start_again(victim);
    p.until([&] { return p.seen().of(other).downs > before.downs; }, "the link was down");
    if (!all_is_well(p)) return;
  }
  settle(p);
  const witness& w = p.seen();
  if (!keeps) return;
  p.require(w.of(0).perhaps != 0, "no message was reported as perhaps delivered");
  if (p.is_unix_stream())
    p.require(w.of(0).never_sent != 0 && w.of(1).never_sent != 0,
              "no message was reported as never sent");
}

}  // namespace garrick::tests
