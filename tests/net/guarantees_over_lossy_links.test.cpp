// The guarantee programs between two processes that have networks of their own, and between these
// a cable that loses, delays, doubles and reorders (tools/net/lossy_link.cpp). It needs namespaces
// and /dev/net/tun: CTest shows this test as skipped where they are not permitted.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include <support/in_child.hpp>

#include "net/guarantees/programs.hpp"
#include "support/places.hpp"

namespace guarantees_over_lossy_links_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

/// Returns the reason why there are no such links here, or an empty text.
std::string why_not() {
  if (IS_EMULATED) return "an emulated program has no networks of its own";
  const char* const cable = places::lossy_link;
  const auto [text, status] =
      in_child([cable] { ::execl(cable, cable, "--", "true", ":::", "true", nullptr); });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return text.empty() ? std::string("lossy_link does not start") : text;
}

/// Returns true if the test cannot run, and prints the reason for CTest.
bool skips() {
  static const std::string why = why_not();
  if (!why.empty()) std::printf("skipped: %s\n", why.c_str());
  return !why.empty();
}

std::vector<pair_settings> all_pairs(std::uint64_t seed) {
  std::vector<pair_settings> all;
  const auto add = [&](const char* stack, const char* where) {
    all.push_back({stack,
                   where,
                   seed,
                   4000,
                   2000,
                   {},
                   {places::lossy_link, "--loss", "5", "--duplicate", "3", "--reorder", "10",
                    "--delay", "4ms", "--jitter", "2ms", "--seed", std::to_string(seed)}});
  };
  add("stream", "tcp://10.77.0.1:7000");
  add("plain_stream", "tcp://10.77.0.1:7000");
  add("datagrams", "udp://10.77.0.1:7000");
  add("ordered_datagrams", "udp://10.77.0.1:7000");
  add("plain_datagrams", "udp://10.77.0.1:7000");
  return all;
}

}  // namespace

TEST_CASE("over lossy links: the guarantees hold while streams break and processes stop and die") {
  if (skips()) return;
  const std::string failure = explore_processes(all_pairs, [](two_processes& p) {
    // Without order, losses of the link are visible.
    if (p.is_bare())
      p.until([&] { return p.seen().of(0).gaps > 2 && p.seen().of(0).late > 2; },
              "messages were lost and came late");
    if (!both_receive(p)) return;
    p.stop(connector_role);
    p.until([&] { return p.seen().suspects(listener_role); }, "a stopped process was suspected");
    p.go_on(connector_role);
    for (const std::uint32_t role : {listener_role, connector_role})
      if (both_receive(p)) p.lose_streams(role);
    if (both_receive(p)) killed_and_started_again(p);
  });
  CHECK_MESSAGE(failure.empty(), failure);
}

}  // namespace guarantees_over_lossy_links_test
