// A whole system of actors on one thread, in an order that a seed decides, in virtual time.
//
//   testkit::test_system kit(17);
//   auto acc = kit.spawn<account_actor>();
//   send(acc, deposit{500});
//   kit.run();                                       // until nobody has anything to do
//   kit.run_for(1min);                               // the same, and virtual time goes on for a minute
//   CHECK(kit.request(acc, balance{}).get() == 500);
//
// It spawns and asks as an actor system does, and drives unchanged actors: event-based, detached,
// blocking and scoped ones. Equal seeds give equal runs: the order of turns, how many messages each
// has, time, the actors' ids and their text. What cannot be repeated is what the actors take from
// elsewhere: real time, addresses, their own threads. A blocking actor's turn lasts from one wait
// to the next; all others are interleaved message by message.
//
// Step by step: `expect<deposit>().to(acc).from(bob)` asserts what the next message is, and
// delivers exactly it (expectation.hpp). All failures are exceptions of type `testkit::failure`
// whose text names the seed.
//
// Leaks: at the end, actors that only each other's handles keep alive are reported by name
// (finish()).
//
// Thread safety: the thread that made it.
#pragma once

#include <garrick/core/detail/actor_cell.hpp>
#include <garrick/system/composition.hpp>
#include <garrick/system/diagnosis/dead_letters.hpp>
#include <garrick/system/names/directory.hpp>
#include <garrick/system/spawner.hpp>
#include <garrick/testkit/detail/options.hpp>
#include <garrick/testkit/expectation.hpp>
#include <garrick/testkit/failure.hpp>

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace garrick::testkit {

namespace internal {
class deterministic_environment;
}

/// Who was kept alive by nothing but other actors.
struct leak_report {
  /// One text a cycle: "account#1, bank#2".
  std::vector<std::string> cycles;
};

class test_system : public system::spawner<test_system> {
 public:
  /// The seed of GARRICK_SEED, or 1.
  test_system() : test_system(seed_from_environment(1)) {}
  explicit test_system(std::uint64_t seed);
  explicit test_system(const options& o);
  /// Ends every actor; a leak that finish() has not reported is written to the standard error
  /// stream.
  ~test_system();
  test_system(const test_system&) = delete;
  test_system& operator=(const test_system&) = delete;

  [[nodiscard]] std::uint64_t seed() const noexcept;

  // ---- letting actors run -----------------------------------------------------------------------

  /// One message of one actor, both chosen by the seed. False: nobody can run.
  bool step();
  /// Turns until nobody can run; time stands still. Returns the number of messages handled. Fails
  /// at the turn limit: a livelock.
  std::uint64_t run();
  /// Runs, and moves time through all that is due in the next `d`.
  std::uint64_t run_for(base::duration d);
  /// Moves time by `d`: what is due is put into mailboxes, but nobody runs. Returns the number of
  /// timers that fired.
  std::size_t advance(base::duration d);
  /// Single steps until `done()` holds, moving time where nobody can run, by at most `limit`.
  /// False: it does not hold.
  bool run_until(const std::function<bool()>& done,
                 base::duration limit = base::duration::seconds(3600));

  [[nodiscard]] base::instant now() const;
  [[nodiscard]] bool idle() const;
  [[nodiscard]] std::size_t timers_pending() const;

  // ---- expectations: the next message -----------------------------------------------------------

  /// The next message of an actor is a Ts...: delivers it. `expect<deposit>().to(acc)`; see
  /// expectation.hpp for more.
  template <class... Ts>
  [[nodiscard]] expectation<Ts...> expect(
      std::source_location where = std::source_location::current()) {
    return {*system_, detail::expecting::must, where};
  }
  /// As expect, but does nothing if the next message is another one. Converts to bool: was it
  /// delivered?
  template <class... Ts>
  [[nodiscard]] expectation<Ts...> allow(
      std::source_location where = std::source_location::current()) {
    return {*system_, detail::expecting::may, where};
  }
  /// No message waits; with types: no message of that type waits.
  [[nodiscard]] absence expect_none(std::source_location where = std::source_location::current()) {
    return {*system_, nullptr, where};
  }
  template <class... Ts>
    requires(sizeof...(Ts) > 0)
  [[nodiscard]] absence expect_none(std::source_location where = std::source_location::current()) {
    return {*system_, &base::message_type_of<core::content_of<Ts...>>, where};
  }
  /// Sends a message and delivers it at once: `inject(deposit{5}).to(acc)`. Requires an empty
  /// mailbox.
  template <class... Args>
  [[nodiscard]] injection<core::content_of<std::decay_t<Args>...>> inject(Args&&... args) {
    return injection<core::content_of<std::decay_t<Args>...>>(
        *system_, core::detail::make_message_envelope<core::content_of<std::decay_t<Args>...>>(
                      std::forward<Args>(args)...));
  }

  // ---- expectations: state ----------------------------------------------------------------------

  /// Fails with `text` unless `holds`.
  void require(bool holds, const std::string& text,
               std::source_location where = std::source_location::current());
  /// The actor has ended. Signals that wait for it are handled first, messages are not.
  void expect_down(const core::handle& who,
                   std::source_location where = std::source_location::current());
  void expect_down(const core::handle& who, base::exit_code reason,
                   std::source_location where = std::source_location::current());
  void expect_alive(const core::handle& who,
                    std::source_location where = std::source_location::current());

  /// A message was lost for that reason; each dead letter answers one expectation.
  lost_message expect_dead_letter(base::errc reason,
                                  std::source_location where = std::source_location::current());
  /// The same for a message of type Ts...
  template <class... Ts>
    requires(sizeof...(Ts) > 0)
  lost_message expect_dead_letter(base::errc reason,
                                  std::source_location where = std::source_location::current()) {
    return take_dead_letter(base::message_type_of<core::content_of<Ts...>>.name, reason, where);
  }
  /// No dead letter is left that no expectation took.
  void expect_no_dead_letters(std::source_location where = std::source_location::current());
  [[nodiscard]] const std::vector<lost_message>& dead_letters() const;

  /// The user's object of a class-based actor that lives.
  template <class A>
  [[nodiscard]] A& inspect(const core::handle& who,
                           std::source_location where = std::source_location::current()) {
    return static_cast<core::actor_cell<A>&>(checked_cell(who, base::shown_name<A>, where))
        .object();
  }
  /// The messages that wait for an actor, oldest first, printed field by field.
  [[nodiscard]] std::vector<std::string> mailbox(const core::handle& who) const;

  /// Actors that live now, without hidden ones, in the order in which they were spawned:
  /// "account#1".
  [[nodiscard]] std::vector<std::string> living() const;
  [[nodiscard]] std::size_t actor_count() const { return living().size(); }
  /// Failures of handlers so far, as texts.
  [[nodiscard]] const std::vector<std::string>& failures() const;

  /// As an actor system's.
  [[nodiscard]] system::registry& registry() noexcept;
  [[nodiscard]] system::groups& groups() noexcept;

  // ---- the end ----------------------------------------------------------------------------------

  /// Runs what can run, then ends every actor. Reports those that nothing but each other's handles
  /// kept alive: actors that the test can still reach, that a timer can wake or that wait for an
  /// answer are not among them. Later spawns fail.
  leak_report finish();
  /// finish(), and a failure if there was a leak.
  void expect_no_leaks(std::source_location where = std::source_location::current());

  [[nodiscard]] core::environment& env() noexcept;

 private:
  lost_message take_dead_letter(std::string_view type, base::errc reason,
                                const std::source_location& where);
  core::cell& checked_cell(const core::handle& who, std::string_view type,
                           const std::source_location& where) const;

  internal::deterministic_environment* system_;
  std::uint64_t saved_next_id_;
  std::uint64_t saved_last_id_;
  bool finished_ = false;
};

}  // namespace garrick::testkit
