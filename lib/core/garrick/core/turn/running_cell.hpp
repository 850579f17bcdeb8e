// A cell that takes turns: the runner picks messages, handles them and stops.
//
// Every cell is a `running_cell`, except a proxy, which takes no turns (seam/proxy_cell.hpp). The
// base class `cell` is apart, so that a handle needs nothing else.
//
// Private: installed because templates need it.
//
// Thread safety: `admit` is for any thread that holds a handle, and so are `refuse` and
// `answer_late_signals`; all other functions of this class are for the holder of the run right.
#pragma once

#include <garrick/base/platform/diagnostics.hpp>
#include <garrick/core/cell/cell.hpp>

#include <cstdint>
#include <vector>

namespace garrick::core {

GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN

/// A message that waits in a mailbox.
struct waiting_message {
  const base::message_type* type;
  std::uint64_t sender;  ///< id of the sending or asking actor; 0: a thread or unknown
  bool urgent;
  bool request;
  bool response;
  const envelope* content;  ///< valid until the actor continues
};

/// A cell with its run loop.
class running_cell : public cell {
 public:
  /// Returns the cell with its run loop. Requires that it is not a proxy.
  [[nodiscard]] static running_cell& of(cell& c) noexcept { return static_cast<running_cell&>(c); }

  [[gnu::hot]] base::run_outcome run(std::uint32_t& budget) noexcept final;

  // ---- for code with a run loop of its own: blocking actors and the testkit ---------------------

  /// Returns true if a signal or an urgent message has come since `attend`. A hint: only `attend`
  /// acquires the push.
  [[nodiscard]] bool wants_attention() const noexcept { return cell_steps::wants_attention(*this); }
  /// Handles the system lane and takes new arrivals.
  void attend() noexcept;
  /// Returns the next message, or null; the caller handles it, or puts it back.
  [[nodiscard]] envelope* take_next() noexcept;
  void put_back(envelope* e) noexcept;
  /// Returns the next result of `take_next`, and leaves it in the mailbox.
  [[nodiscard]] const envelope* peek_next() noexcept;
  /// Keeps a message, which no case takes, until the behavior changes.
  void skip(envelope* e) noexcept;
  /// Returns the first `most` waiting messages, in the order in which the actor takes them: skipped
  /// ones, answers that pass an await, urgent ones, then the others. Costs a look at each, and at
  /// the arrivals since the actor's last message. Throws std::bad_alloc.
  [[nodiscard]] std::vector<waiting_message> waiting(std::size_t most);
  /// Handles a message as the run loop does, and finishes it.
  void handle(envelope* e) noexcept;
  /// Sets the message that user code handles now, or null.
  void set_current(envelope* e) noexcept {
    current_.store(e, std::memory_order_relaxed);  // order: other threads only look for null
  }
  /// Wakes waiting senders and handles signals, after a batch that ended because of an arrival.
  void after_batch() noexcept;

 protected:
  using cell::cell;
  ~running_cell() = default;

 private:
  friend struct cell_steps;

  bool admit(envelope* e, std::uint64_t head) noexcept final;
  void refuse(envelope* e) noexcept final;
  void answer_late_signals() noexcept final;

  base::run_outcome run_nested(std::uint32_t& budget) noexcept;
  [[gnu::hot]] base::run_outcome run_loop(std::uint32_t& budget) noexcept;
  [[gnu::hot]] release_outcome end_batch() noexcept;
  envelope* pick() noexcept;
  envelope* pick_apart() noexcept;
  envelope* pick_by_priority() noexcept;
  [[nodiscard]] bool has_nothing_to_handle() const noexcept;
  [[nodiscard]] std::uint32_t own_quantum(std::uint32_t budget) const noexcept;
  [[gnu::hot]] void process(envelope* e) noexcept;
  dispatch_outcome route(envelope* e);
  void settle(envelope* e, dispatch_outcome outcome) noexcept;
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_END

}  // namespace garrick::core
