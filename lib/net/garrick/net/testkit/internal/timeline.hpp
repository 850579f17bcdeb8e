// A simulated network's time: a queue of events, and the seed and the history that all share.
//
// An event is a function and an instant; equal instants go by the order in which they were put in.
// Deadlines are not events: before each step the derived class is asked for its first deadline, so
// a changed deadline needs no cancellation. At a given instant events are handled before deadlines
// (N2).
//
// In a world one timer of the world's clock is armed, for the first event or deadline. All work of
// an instant is done when it fires.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/base/time/virtual_clock.hpp"
#include "garrick/net/testkit/history.hpp"
#include "garrick/net/testkit/settings.hpp"
#include "garrick/testkit/test_world.hpp"

namespace garrick::net::testkit::internal {

using bytes = std::vector<std::byte>;

class timeline {
 public:
  timeline(std::uint64_t seed, const network_settings& s,
           std::optional<garrick::testkit::test_world> world);
  timeline(const timeline&) = delete;
  timeline& operator=(const timeline&) = delete;

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] std::uint64_t seed_for(std::string_view name) const noexcept;
  [[nodiscard]] base::instant now() const noexcept { return world_ ? world_->time().now() : now_; }
  [[nodiscard]] base::instant start() const noexcept { return start_; }
  [[nodiscard]] const network_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] network_history& past() noexcept { return past_; }
  [[nodiscard]] bool has_world() const noexcept { return world_.has_value(); }

  /// Calls `what` at this instant, or now if that has passed, after all earlier events of the same
  /// instant.
  void at(base::instant when, std::function<void()> what);
  /// Notes that a deadline may be earlier than before.
  void changed();
  /// Returns the time of the next event or deadline.
  [[nodiscard]] base::instant next() const;
  /// Does one event or deadline that is due by `limit`, moving time to it. Returns false if there
  /// is none.
  bool step(base::instant limit);
  /// Moves the time to `to`, without an event. Requires a time of its own.
  void pass(base::instant to);

  /// Returns true within a call to a user's object.
  [[nodiscard]] bool is_calling() const noexcept { return calling_ != 0; }
  /// Runs `call` as a call to a user's object.
  template <class F>
  void calling(F call) {
    const calls guard(calling_);
    call();
  }
  /// Lends a copy of `b` to `call`, and spoils it afterwards, so that code that keeps the lent
  /// bytes reads spoilt bytes: the same in each run, and from memory that still exists.
  void lend(std::span<const std::byte> b,
            const std::function<void(std::span<const std::byte>)>& call);
  [[noreturn]] void fail(const std::string& text, const std::source_location& where);

  std::uint64_t sent = 0;       ///< the number of datagrams and segments so far, which numbers them
  std::uint64_t ends_made = 0;  ///< the number of ends so far

 protected:
  ~timeline() = default;
  /// Drops all events.
  void stop() noexcept;

 private:
  /// Returns the first deadline of all: not before now.
  [[nodiscard]] virtual base::instant first_due() const = 0;
  /// Calls one owner of the first deadline. Requires that the deadline has passed.
  virtual void call_due() = 0;

  struct calls {
    explicit calls(std::uint32_t& c) noexcept : count(c) { ++count; }
    ~calls() { --count; }
    calls(const calls&) = delete;
    calls& operator=(const calls&) = delete;
    std::uint32_t& count;
  };
  void step_begins(base::instant when);
  void arm();

  const std::uint64_t seed_;
  const network_settings settings_;
  std::optional<garrick::testkit::test_world> world_;
  base::instant now_ = base::instant::at(base::duration::seconds(1));
  base::instant start_;
  network_history past_;
  std::map<std::pair<base::instant, std::uint64_t>, std::function<void()>> events_;
  std::uint64_t last_event_ = 0;
  std::uint64_t steps_in_instant_ = 0;
  std::uint32_t calling_ = 0;
  bool running_ = false;
  base::timer_id armed_{};
  base::instant armed_for_ = base::instant::never();
  std::deque<bytes> lent_;
};

}  // namespace garrick::net::testkit::internal
