// The model of a program: actors that take simulated time for each message, have state in some
// node's memory, and send messages.
//
//   struct worker final : model_actor {
//     void on(turn& t, const message& m) override {
//       t.work(500);       // nanoseconds, wherever it runs
//       t.touch(1000);     // lines of its state; they cost more far from where it ran first
//       t.send(*m.from, m.value + 1);
//     }
//   };
//
// An actor's mailbox has the costs of the real one: a locked operation on its line for each push
// and each end of a batch, a transfer for each message from another processor, and transfers of the
// actor's own lines when it has moved. A sender runs a receiver with a full mailbox in place or
// waits for it, as in core (docs/internals/overload.md).
//
// Thread safety: like the engine's: everything belongs to one real thread.
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

/// A message of a model: a number, and its sender.
struct message {
  std::uint64_t value = 0;                ///< its meaning is the model's
  model_actor* from = nullptr;            ///< the sender; null: a thread outside
  std::uint8_t sender_cache = no_thread;  ///< of the thread that has sent it (`engine::here`)
};

/// The actions of an actor while it handles a message. Valid during the call of `model_actor::on`.
class turn {
 public:
  /// For the simulation.
  turn(simulation& of, model_actor& self) noexcept : of_(of), self_(self) {}

  /// Returns the simulated nanoseconds since the beginning.
  [[nodiscard]] double now_ns() const noexcept;
  /// Uses `ns` nanoseconds of processor time.
  void work(double ns) noexcept;
  /// Reads `lines` lines of 64 bytes of the actor's own state. The state is too large for a cache
  /// and is in the memory of the node where the actor ran first.
  void touch(double lines) noexcept;
  /// Sends a message. If the receiver's mailbox is full, runs the receiver or waits for it.
  void send(model_actor& to, std::uint64_t value) noexcept;
  /// Makes an actor, which lives as long as the simulation.
  template <class A, class... Args>
  A& spawn(Args&&... args);
  /// Returns random numbers that the simulation's seed determines.
  [[nodiscard]] base::random_source& random() noexcept;

 private:
  simulation& of_;
  model_actor& self_;
};

/// An actor of a model; derive from it.
class model_actor : public base::runnable {
 public:
  virtual ~model_actor() = default;
  /// Handles one message. Runs on a stack of 128 KiB; an exception ends the process.
  virtual void on(turn& t, const message& m) = 0;
  /// The most messages of one run. The policy's quantum applies if this is 0 or larger.
  std::uint32_t quantum = 0;

  /// For the policy: handles up to `budget` messages.
  base::run_outcome run(std::uint32_t& budget) noexcept final;

 private:
  friend class turn;
  friend class simulation;

  /// Returns the number of messages that have arrived and are not handled.
  [[nodiscard]] std::size_t length() const noexcept { return mail_.size() - handled_; }
  void handle(engine& e, const message& m) noexcept;
  template <class Here>
  [[nodiscard]] bool end_batch(engine& e, Here& h) noexcept;
  bool wake_senders(engine& e) noexcept;

  simulation* of_ = nullptr;
  line line_;                  ///< the line that senders touch
  std::vector<message> mail_;  ///< the first `handled_` messages have been handled
  std::size_t handled_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t last_run_ = 0;  ///< its thread's count of runs at its last run
  bool idle_ = true;
  bool awaited_ = false;  ///< a sender sleeps until the mail has been handled
  /// The cache where it ran last or, before its first run, where an actor made it.
  std::uint8_t last_cache_ = no_thread;
  std::uint8_t first_cache_ = no_thread;  ///< where it ran first: its memory is there
};

}  // namespace garrick::machine
