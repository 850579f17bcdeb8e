// A whole system of actors on one thread, in an order determined by a seed, in virtual time.
//
//   testkit::test_system kit(17);
//   auto acc = kit.spawn<account_actor>();
//   send(acc, deposit{500});
//   kit.run();             // until no actor has anything to do
//   kit.run_for(1min);     // the same, and a minute of virtual time passes
//   CHECK(kit.request(acc, balance{}).get().value() == 500);
//
// It spawns actors and sends requests as an actor system does, and runs unchanged actors:
// event-based, detached, blocking and scoped ones. Equal seeds give equal runs: the same order of
// turns, the same number of messages in each, the same time, ids and texts. Other input of actors
// cannot be repeated: real time, addresses, threads of their own. A blocking actor's turn lasts
// from one wait to the next; all other actors are interleaved message by message.
//
// Step by step: `expect<deposit>().to(acc).from(bob)` checks the next message, and delivers exactly
// that one (expectation.hpp). All failures are exceptions of type `testkit::failure`, with a text
// that names the seed.
//
// Leaks: `finish` reports the names of actors that only each other's handles keep alive.
//
// Thread safety: only the thread that made the system.
#pragma once

#include <garrick/core/detail/actor_cell.hpp>
#include <garrick/system/composition.hpp>
#include <garrick/system/diagnosis/dead_letters.hpp>
#include <garrick/system/names/directory.hpp>
#include <garrick/system/spawner.hpp>
#include <garrick/testkit/detail/settings.hpp>
#include <garrick/testkit/expectation.hpp>
#include <garrick/testkit/failure.hpp>
#include <garrick/testkit/test_world.hpp>

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace garrick::testkit {

namespace internal {
class deterministic_environment;
}

/// The actors that only each other's handles kept alive.
struct leak_report {
  /// A text for each cycle: "account#1, bank#2".
  std::vector<std::string> cycles;
};

/// A system of actors for a test: a seed decides the order of turns, and time is virtual.
///
///     test_system kit(17);
///     auto acc = kit.spawn<account_actor>();
///     kit.expect<deposit>().to(acc);       // or kit.run()
///
/// Functions that check a condition throw a `failure` if it does not hold. No function blocks: a
/// wait in the test (`get()`, a scoped actor's receive) runs the other actors. If no actor can ever
/// end the wait, `get()` returns the error `would_block`, and `receive` throws
/// `blocking_actor_ends` with that error in its text. Thread safety: only the thread that made the
/// system.
class test_system : public system::spawner<test_system> {
 public:
  /// Makes a system with the seed in GARRICK_SEED, or 1. Throws std::invalid_argument if
  /// GARRICK_SEED holds no number.
  test_system() : test_system(seed_from_environment(1)) {}
  /// Makes a system with this seed.
  explicit test_system(std::uint64_t seed);
  /// Makes a system with these settings. Throws std::invalid_argument that names a wrong one.
  explicit test_system(const settings& values);
  /// Makes another system of this world. The world's seed decides its order; the seed in the
  /// settings is ignored. Throws std::invalid_argument that names a wrong setting.
  ///
  ///     explore(200, [](test_system& kit) { test_system other(kit.world()); … });
  explicit test_system(const test_world& world, const settings& values = {});
  /// Ends every actor. If `finish` has not been called, a leak is written to the standard error
  /// stream.
  ~test_system();
  test_system(const test_system&) = delete;
  test_system& operator=(const test_system&) = delete;

  /// Returns the seed that decides this system's order.
  [[nodiscard]] std::uint64_t seed() const noexcept;
  /// Returns the world of this system, in which a test can make further systems.
  [[nodiscard]] const test_world& world() const noexcept { return world_; }

  // ---- running the actors of all systems of its world ------------------------------------------

  /// Lets one actor, which the seed chooses, handle one message. Returns false if no actor can run.
  bool step();
  /// Lets actors run until none can; time does not advance. Returns the number of messages handled.
  /// At the turn limit, throws a `failure` that reports a livelock.
  std::uint64_t run();
  /// Runs like `run`, and moves time by `d`: step by step to each timer that is due within `d`, and
  /// runs all actors after each step. For zero or less, time does not advance. Returns the number
  /// of messages handled.
  std::uint64_t run_for(base::duration d);
  /// Moves time by `d`, or not at all for zero or less. Messages of due timers are put into
  /// mailboxes, but no actor runs. Returns the number of timers that fired.
  std::size_t advance(base::duration d);
  /// Makes single steps until `done()` returns true. When no actor can run, moves time to the next
  /// timer, by at most `limit` in all; for zero or less, time does not advance. Returns true if
  /// `done()` holds; false if no actor can run within `limit`, or at the turn limit.
  bool run_until(const std::function<bool()>& done,
                 base::duration limit = base::duration::seconds(3600));

  /// Returns the virtual time of its world.
  [[nodiscard]] base::instant now() const;
  /// Returns true if no actor can run; timers may be armed.
  [[nodiscard]] bool idle() const;
  /// Returns the number of armed timers.
  [[nodiscard]] std::size_t timers_pending() const;

  // ---- expectations: the next message -----------------------------------------------------------

  /// Returns a sentence that checks whether the next message of an actor is a Ts..., and delivers
  /// it: `expect<deposit>().to(acc)`. `from` and `with` may follow (expectation.hpp). At its end,
  /// the sentence throws a `failure` if the next message is another one or the actor does not
  /// handle it.
  template <class... Ts>
  [[nodiscard]] expectation<Ts...> expect(
      std::source_location where = std::source_location::current()) {
    return {*system_, detail::expecting::must, where};
  }
  /// Like `expect`, but the sentence does nothing if the next message is another one. Returns a
  /// sentence that converts to bool: true if the message was delivered.
  template <class... Ts>
  [[nodiscard]] expectation<Ts...> allow(
      std::source_location where = std::source_location::current()) {
    return {*system_, detail::expecting::may, where};
  }
  /// Returns a check that no message waits for an actor: `expect_none().to(acc)`.
  [[nodiscard]] absence expect_none(std::source_location where = std::source_location::current()) {
    return {*system_, nullptr, where};
  }
  /// Returns a check that no message of type Ts... waits for an actor.
  template <class... Ts>
    requires(sizeof...(Ts) > 0)
  [[nodiscard]] absence expect_none(std::source_location where = std::source_location::current()) {
    return {*system_, &base::message_type_of<core::content_of<Ts...>>, where};
  }
  /// Returns an injection, whose `to` sends the message and lets the receiver handle it at once:
  /// `inject(deposit{5}).to(acc)`. Requires that no other message waits there.
  template <class... Args>
  [[nodiscard]] injection<core::content_of<std::decay_t<Args>...>> inject(Args&&... args) {
    return injection<core::content_of<std::decay_t<Args>...>>(
        *system_, core::detail::make_message_envelope<core::content_of<std::decay_t<Args>...>>(
                      std::forward<Args>(args)...));
  }

  // ---- expectations: state ----------------------------------------------------------------------

  /// Throws a `failure` with `text` unless `holds`. Unlike the check of a test framework, the
  /// failure names the seed and the last messages.
  void require(bool holds, const std::string& text,
               std::source_location where = std::source_location::current());
  /// Checks that the actor has ended. Lets it handle waiting signals first, but no messages.
  void expect_down(const core::handle& who,
                   std::source_location where = std::source_location::current());
  /// Also checks the reason of the end.
  void expect_down(const core::handle& who, base::exit_code reason,
                   std::source_location where = std::source_location::current());
  /// Checks that the actor has not ended.
  void expect_alive(const core::handle& who,
                    std::source_location where = std::source_location::current());

  /// Checks that a message was lost for this reason, and returns it. Each dead letter meets one
  /// expectation; the oldest is taken first.
  lost_message expect_dead_letter(base::errc reason,
                                  std::source_location where = std::source_location::current());
  /// Does the same for a message of type Ts...
  template <class... Ts>
    requires(sizeof...(Ts) > 0)
  lost_message expect_dead_letter(base::errc reason,
                                  std::source_location where = std::source_location::current()) {
    return take_dead_letter(base::message_type_of<core::content_of<Ts...>>.name, reason, where);
  }
  /// Checks that every dead letter so far was expected.
  void expect_no_dead_letters(std::source_location where = std::source_location::current());
  /// Returns all dead letters so far, oldest first. The reference is valid while the system lives;
  /// the list grows as the system runs.
  [[nodiscard]] const std::vector<lost_message>& dead_letters() const;

  /// Returns the object of a living class-based actor. Throws a `failure` if the actor has ended,
  /// or is not an A. Do not touch the object of a detached or blocking actor while that actor runs.
  template <class A>
  [[nodiscard]] A& inspect(const core::handle& who,
                           std::source_location where = std::source_location::current()) {
    return static_cast<core::actor_cell<A>&>(checked_cell(who, base::shown_name<A>, where))
        .object();
  }
  /// Returns the messages that wait for an actor, oldest first, printed field by field.
  [[nodiscard]] std::vector<std::string> mailbox(const core::handle& who) const;

  /// Returns the living actors, in the order in which they were spawned, such as "account#1".
  /// Hidden actors are left out.
  [[nodiscard]] std::vector<std::string> living() const;
  /// Returns the number of living actors, without hidden ones.
  [[nodiscard]] std::size_t actor_count() const { return living().size(); }
  /// Returns the failures of handlers so far, each as "account#1: " and the error.
  [[nodiscard]] const std::vector<std::string>& failures() const;

  /// Returns the registry of this system, as in an actor system.
  [[nodiscard]] system::registry& registry() noexcept;
  /// Returns the groups of this system, as in an actor system.
  [[nodiscard]] system::groups& groups() noexcept;

  // ---- the end ----------------------------------------------------------------------------------

  /// Runs all actors that can run, then ends every actor. Returns a report of the actors that only
  /// each other's handles kept alive. The report leaves out actors that the test can still reach,
  /// that a timer can wake, that wait for an answer, or that another system of its world holds.
  /// Later spawns fail with `errc::shutting_down`.
  leak_report finish();
  /// Like `finish`, and throws a `failure` if there was a leak.
  void expect_no_leaks(std::source_location where = std::source_location::current());

  /// Returns the environment of the system's actors, for scoped actors and for the framework.
  [[nodiscard]] core::environment& env() noexcept;

 private:
  lost_message take_dead_letter(std::string_view type, base::errc reason,
                                const std::source_location& where);
  core::cell& checked_cell(const core::handle& who, std::string_view type,
                           const std::source_location& where) const;

  test_world world_;
  internal::deterministic_environment* system_;
  bool finished_ = false;
};

}  // namespace garrick::testkit
