// A test's claim that a program finds a planted bug.
//
// Thread safety: plain functions.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "garrick/net/testkit/explore_network.hpp"

namespace garrick::net::testkit::internal {

/// Checks that the program fails with this text within 200 seeds, and that the failure replays.
/// Failures with other texts do not count: a bug may show in several ways.
inline void finds_bug(const std::string& name, const network_program& program,
                      const std::string& text) {
  CAPTURE(name);
  CAPTURE(text);
  REQUIRE(!text.empty());
  std::string other;
  const auto found = find_network_failure(200, [&](simulated_network& net) {
    try {
      program(net);
    } catch (const network_failure& x) {
      const std::string said = x.what();
      if (said.find(text) != std::string::npos) throw;
      other = said.substr(0, said.find('\n'));
    }
  });
  CHECK_MESSAGE(found.has_value(), name << " was not found by '" << text << "', but: " << other);
  if (!found) return;
  CHECK(found->replays);
  CHECK(found->text.find("the last events of the network") != std::string::npos);
}

}  // namespace garrick::net::testkit::internal
