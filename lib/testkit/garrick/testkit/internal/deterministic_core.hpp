// The environment of a deterministic system: one list of those who can run, one random number that
// chooses among them, virtual time.
//
// Problem: what a concurrent program does depends on who runs when. Here that is decided in one
// place from a seed: whoever may run stands in `runnable_`; a turn takes one of them and lets it
// handle a few messages. Nothing depends on addresses, on real time or on the operating system's
// scheduler, so equal seeds give equal runs.
//
// Thread safety: the system's own thread and the threads of blocking actors, one at a time: whoever
// holds the baton (baton.hpp).
//
// Invariants: D1 an actor stands in `runnable_` exactly while its run right is held by nobody who runs; D2 `runnable_` changes by the baton holder's actions only;
// D3 every choice takes its number from `random_`, and nothing else does.
#pragma once

#include <garrick/base/time/virtual_clock.hpp>
#include <garrick/base/values/random.hpp>
#include <garrick/core/cell/drain_lot.hpp>
#include <garrick/core/cell/environment.hpp>
#include <garrick/core/cell/wait_graph.hpp>
#include <garrick/system/diagnosis/dead_letters.hpp>
#include <garrick/system/names/directory.hpp>
#include <garrick/testkit/detail/options.hpp>
#include <garrick/testkit/internal/baton.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace garrick::testkit::internal {

/// Someone who can run: an actor on the workers, or a thread with an actor of its own.
struct candidate {
  base::runnable* event_actor = nullptr;
  baton_thread* thread = nullptr;  ///< if there is no event-based actor
  /// Whose run right waits here; null: a thread that wakes for a time-out.
  [[nodiscard]] base::runnable* actor() const noexcept {
    return thread != nullptr ? thread->actor() : event_actor;
  }
};

/// One message handled, for the history in a failure's text.
struct turn_record {
  std::uint64_t actor;
  std::uint64_t sender;
  const base::message_type* type;
  bool response;
};

enum class drive_outcome : std::uint8_t { progress, time_over, stuck };

class deterministic_core final : public core::environment {
 public:
  explicit deterministic_core(const options& o);
  /// The end of the system itself; cells may still hold the environment.
  void stop() noexcept;

  // core::environment
  void dead_letter(const core::undelivered& what) noexcept override;
  bool joined(core::cell& who) noexcept override;
  void left(core::cell& who) noexcept override;
  void failed(const core::cell& who, const base::error& why) noexcept override;
  core::waiting_executor* detached_executor(bool blocking) noexcept override;
  core::waiting_executor* executor_of_scoped(core::cell& who) noexcept override;

  // who can run
  void add(candidate c) { runnable_.push_back(c); }
  [[nodiscard]] bool idle() const noexcept { return runnable_.empty(); }
  [[nodiscard]] const candidate* find(const core::cell& who) const noexcept;
  /// One turn of a randomly chosen candidate: up to `messages` messages. True if a message was
  /// handled. Requires somebody who can run.
  bool turn(std::uint32_t messages);
  bool turn() { return turn(random_quantum()); }
  /// One message of this actor, which can run. True if it was handled.
  bool turn_of(core::cell& who);
  /// The next message of `who`, if it can run and holds one.
  [[nodiscard]] core::envelope* next_of(const core::cell& who) const noexcept;

  /// All messages that wait for `who`, oldest first within each priority, urgent ones first.
  [[nodiscard]] std::vector<const core::envelope*> waiting_for(const core::cell& who) const;
  [[nodiscard]] bool signals_wait_for(core::cell& who) const noexcept;

  /// Lets others run, or time pass up to `deadline`.
  drive_outcome drive(base::instant deadline);
  [[nodiscard]] base::virtual_clock& time() noexcept { return *clock_; }
  [[nodiscard]] base::random_source& random() noexcept { return random_; }

  // what has happened
  [[nodiscard]] std::string name_of(std::uint64_t id) const;
  [[nodiscard]] std::string history() const;
  [[nodiscard]] std::vector<lost_message>& lost() noexcept { return lost_; }
  [[nodiscard]] const std::vector<std::string>& failures() const noexcept { return failures_; }
  [[nodiscard]] std::uint64_t messages_handled() const noexcept { return handled_; }
  [[nodiscard]] system::dead_letters& letters() noexcept { return letters_; }
  [[nodiscard]] system::directory& names() noexcept { return directory_; }

  // who lives
  [[nodiscard]] std::vector<core::cell*> living() const;
  void refuse_spawns() noexcept { closed_ = true; }
  [[nodiscard]] const options& settings_of() const noexcept { return options_; }

  std::uint64_t next_id = 1;  ///< the actors of every deterministic system are numbered from 1

 private:
  ~deterministic_core() = default;
  void destroy() noexcept override { delete this; }

  class worker final : public base::executor {
   public:
    explicit worker(deterministic_core& kit) noexcept : kit_(kit) {}
    void schedule(base::runnable& r) noexcept override { kit_.add({&r, nullptr}); }
    bool claim(base::runnable& r) noexcept override;
    void expose() noexcept override {}

   private:
    deterministic_core& kit_;
  };

  [[nodiscard]] std::uint32_t random_quantum() noexcept;
  bool run_only(const core::cell& who);
  bool run_candidate(candidate c, std::uint32_t messages);
  bool run_event_actor(core::cell& c, std::uint32_t messages);
  [[nodiscard]] std::optional<turn_record> record_of(core::cell& c) const;
  void remember(const turn_record& t);

  const options options_;
  base::random_source random_;
  std::unique_ptr<base::virtual_clock> clock_;
  core::drain_lot drain_lot_;
  core::wait_graph wait_graph_;
  worker worker_;
  system::dead_letters letters_;
  system::directory directory_{*this};

  std::vector<candidate> runnable_;
  std::vector<std::unique_ptr<baton_thread>> threads_;
  std::vector<std::unique_ptr<driving_wait>> waits_;
  core::cell* first_ = nullptr;
  bool closed_ = false;

  std::uint64_t handled_ = 0;
  std::deque<turn_record> turns_;
  std::vector<lost_message> lost_;
  std::vector<std::string> failures_;
  std::unordered_map<std::uint64_t, std::string> names_;
};

}  // namespace garrick::testkit::internal
