// A listener gets the events that it overrides and nothing else.
#include "garrick/base/concurrency/probe.hpp"

#include <string>

#include "garrick/base/values/exit_reason.hpp"

#include <doctest/doctest.h>

namespace probe_test {

using garrick::base::errc;
using garrick::base::exit_reason;

namespace {

class counting final : public garrick::base::probe {
 public:
  void on_actor_ended(std::uint64_t actor, const exit_reason& reason) noexcept override {
    last = std::to_string(actor) + ": " + reason.to_string();
  }
  void on_dead_letter(std::uint64_t receiver, std::uint64_t, const garrick::base::message_type*,
                      const garrick::base::error& reason) noexcept override {
    last = std::to_string(receiver) + ": " + reason.to_string();
  }
  std::string last;
};

}  // namespace

TEST_CASE("a listener overrides only the events that it wants") {
  counting mine;
  garrick::base::probe& probe = mine;
  probe.on_actor_spawned({.actor = 7, .name = "counter", .type = "counter"});
  probe.on_worker_parked(0);
  CHECK(mine.last.empty());
  probe.on_actor_ended(7, exit_reason());
  CHECK(mine.last == "7: normal");
  probe.on_dead_letter(8, 0, nullptr, errc::not_handled);
  CHECK(mine.last == "8: not handled: the receiver ended or was restarted");
}

}  // namespace probe_test
