// The model of a program: actors that take simulated time for each message, have a state that lives
// somewhere, and send messages.
//
//   struct worker final : model_actor {
//     void on(turn& t, const message& m) override {
//       t.work(500);                     // nanoseconds, wherever it runs
//       t.touch(1000);                   // 1000 lines of its state: dearer, the farther it runs from where it ran first
//       t.send(*m.from, m.value + 1);
//     }
//   };
//
// An actor's mailbox costs what the real one's does: a locked operation on its line for a push and
// one for the end of a batch, a transfer for each message from another processor and for the
// actor's own lines when it has moved. A sender whose receiver is over its limit runs it in place
// or waits for it, as core's does (docs/internals/overload.md).
//
// Thread safety: of the engine that runs.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/values/random.hpp>
#include <garrick/machine/traits.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace garrick::machine {

class model_actor;
class simulation;

struct message {
  std::uint64_t value = 0;
  model_actor* from = nullptr;  ///< null: an outside thread sent it
  std::uint8_t sender_thread = no_thread;
};

/// What an actor can do while it handles a message.
class turn {
 public:
  turn(simulation& of, model_actor& self) noexcept : of_(of), self_(self) {}

  [[nodiscard]] double now_ns() const noexcept;
  void work(double ns) noexcept;
  /// So many lines of 64 bytes of the actor's own state, too many for a cache: from the memory of
  /// the node of its first run.
  void touch(double lines) noexcept;
  void send(model_actor& to, std::uint64_t value) noexcept;
  /// A new actor, which lives as long as the simulation.
  template <class A, class... Args>
  A& spawn(Args&&... args);
  [[nodiscard]] base::random_source& random() noexcept;

 private:
  simulation& of_;
  model_actor& self_;
};

class model_actor : public base::runnable {
 public:
  virtual ~model_actor() = default;
  /// On a stack of 128 KiB. An exception ends the process.
  virtual void on(turn& t, const message& m) = 0;

  base::run_outcome run(std::uint32_t& budget) noexcept final;

 private:
  friend class turn;
  friend class simulation;

  /// What has arrived and was not handled.
  [[nodiscard]] std::size_t length() const noexcept { return mail_.size() - handled_; }
  void handle(engine& e, const message& m) noexcept;
  template <class Here>
  [[nodiscard]] bool end_batch(engine& e, Here& h) noexcept;
  bool wake_senders(engine& e) noexcept;

  simulation* of_ = nullptr;
  line line_;                  ///< what senders touch
  std::vector<message> mail_;  ///< the first `handled_` are done
  std::size_t handled_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t last_run_ = 0;  ///< its worker's count of runs then
  bool idle_ = true;
  bool awaited_ = false;  ///< a sender sleeps until the mail is done
  /// where it ran last or, before that, was made by an actor
  std::uint8_t last_thread_ = no_thread;
  std::uint8_t first_thread_ = no_thread;  ///< its memory is there
};

}  // namespace garrick::machine
