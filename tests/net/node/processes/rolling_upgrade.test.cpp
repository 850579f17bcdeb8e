// Nodes of two builds with different minor schemas talk, and processes are replaced by those of the
// newer build one after the other. The other processes are builds of shop_peer.cpp, and each of
// them tells in text how it has read a message: this program knows none of their types.
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>

#include "net/node/other_process.hpp"
#include "support/places.hpp"

namespace rolling_upgrade {

using garrick::tests::other_process;

const char* const older = garrick::tests::places::node_peer_older;
const char* const newer = garrick::tests::places::node_peer_newer;
const char* const changed = garrick::tests::places::node_peer_changed;

constexpr const char* anywhere = "tcp://127.0.0.1:0";
constexpr int unused = 0;  // these programs have a limit of their own

struct build {
  other_process process;
  explicit build(const char* program, const std::string& where = anywhere)
      : process(where, unused, program) {}

  std::string answer(const std::string& order, const build& of) {
    process.order(order + ' ' + of.process.at);
    return process.answer();
  }
  /// Returns the order as the other build has read it, and its answers as read here.
  std::string ask(const build& other) { return answer("ask", other); }
  /// Returns the answer to whether it understands all that a desk of this build does.
  std::string ask_for_all(const build& other) { return answer("whole", other); }
};

const std::string older_to_older =
    "order 5 to Long Lane by way of Short Cut by way of High Street"
    "; it has noticed: thank you; heard: it is done";
/// Each field that the older build does not send has its default, also in nested values.
const std::string older_to_newer =
    "order 5 to Long Lane (at home) by way of Short Cut (at home) by way of High Street (at home) "
    "bill nobody wishes none from nobody"
    "; it has noticed: thank you urgency 3; heard: it is done";
/// Each field that the older build does not know is skipped, also in nested values and in answers.
const std::string newer_to_older =
    "order 5 to Long Lane by way of Short Cut by way of High Street cents 7"
    "; it has noticed: thank you; heard: it is done urgency 3";
const std::string newer_to_newer =
    "order 5 to Long Lane (abroad) by way of Short Cut (abroad) by way of High Street (abroad) "
    "bill Bank (abroad) wishes soon from somebody cents 99"
    "; it has noticed: thank you urgency 9; heard: it is done urgency 9";

TEST_CASE("rolling upgrade: fields and signatures that one build has more, in both directions") {
  build a(older), b(newer);
  CHECK(a.ask(b) == older_to_newer);
  CHECK(b.ask(a) == newer_to_older);
  CHECK(a.ask_for_all(b) == "all of it");
  // The signature that is missing there is named.
  const std::string refused = b.ask_for_all(a);
  CHECK_MESSAGE(refused.find("not compatible") != std::string::npos, refused);
  CHECK_MESSAGE(refused.find("shop::withdraw is not offered") != std::string::npos, refused);
  // Both go on talking.
  CHECK(a.ask(b) == older_to_newer);
  CHECK(b.ask(a) == newer_to_older);
}

TEST_CASE("rolling upgrade: one process after the other is replaced, and they go on talking") {
  std::optional<build> a(older), b(older);
  CHECK(a->ask(*b) == older_to_older);
  CHECK(b->ask(*a) == older_to_older);
  const auto replace = [](std::optional<build>& one) {
    const std::string where = one->process.at;
    one->process.kill();
    one.emplace(newer, where);
    CHECK(one->process.at == where);
  };
  replace(b);
  CHECK(a->ask(*b) == older_to_newer);
  CHECK(b->ask(*a) == newer_to_older);
  replace(a);
  CHECK(a->ask(*b) == newer_to_newer);
  CHECK(b->ask(*a) == newer_to_newer);
  CHECK(a->ask_for_all(*b) == "all of it");
  CHECK(b->ask_for_all(*a) == "all of it");
}

TEST_CASE("rolling upgrade: a field of another type is refused, and the signature is named") {
  for (const char* program : {older, newer}) {
    CAPTURE(program);
    build a(program), b(changed);
    const std::array<std::string, 3> all{a.ask(b), b.ask(a), b.ask_for_all(a)};
    for (const std::string& refused : all) {
      CHECK_MESSAGE(refused.find("not compatible") != std::string::npos, refused);
      CHECK_MESSAGE(refused.find("shop::order") != std::string::npos, refused);
    }
    // Two processes of the changed build talk.
    build c(changed);
    CHECK(b.ask(c) ==
          "order 5 to 9 by way of 9 by way of 11; it has noticed: thank you; heard: it is done");
  }
}

}  // namespace rolling_upgrade
