#include "garrick/base/probe.hpp"

#include <string>

#include "garrick/base/exit_reason.hpp"

#include <doctest/doctest.h>

using garrick::base::exit_reason;

namespace {

class counting final : public garrick::base::probe {
 public:
  void on_actor_ended(std::uint64_t actor, const exit_reason& reason) noexcept override { last = std::to_string(actor) + ": " + reason.to_string(); }
  std::string last;
};

}  // namespace

TEST_CASE("a listener overrides only what it wants") {
  counting mine;
  garrick::base::probe& probe = mine;
  probe.on_actor_spawned(7, "counter");
  probe.on_worker_parked(0);
  CHECK(mine.last.empty());
  probe.on_actor_ended(7, exit_reason());
  CHECK(mine.last == "7: normal");
}

TEST_CASE("every reason of a dead letter has its own text") {
  for (std::uint32_t a = 0; a < dead_letter_reason_count; ++a) {
    CHECK(to_string(static_cast<dead_letter_reason>(a)) != "unknown");
    for (std::uint32_t b = 0; b < a; ++b) CHECK(to_string(static_cast<dead_letter_reason>(a)) != to_string(static_cast<dead_letter_reason>(b)));
  }
  CHECK(to_string(static_cast<dead_letter_reason>(dead_letter_reason_count)) == "unknown");
}
