// A cell that takes turns: how the runner picks messages, handles them and stops.
//
// Every cell is one of these, except a proxy, which takes no turns (seam/proxy_cell.hpp). They
// are two classes so that a handle need only know the first.
//
// Private: installed because templates need it.
//
// Thread safety: `admit` and what it calls is for any thread that holds a handle; everything else
// is for the holder of the run right.
#pragma once

#include <garrick/base/platform/diagnostics.hpp>
#include <garrick/core/cell/cell.hpp>

#include <cstdint>
#include <vector>

namespace garrick::core {

GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN

/// One message that waits in a mailbox.
struct waiting_message {
  const base::message_type* type;
  std::uint64_t sender;  ///< id of the actor that sent it, or that asks; 0: a thread or unknown
  bool urgent;
  bool request;
  bool response;
  const envelope* content;  ///< valid until the actor goes on
};

/// A cell with its run loop.
class running_cell : public cell {
 public:
  /// Requires that it is no proxy.
  [[nodiscard]] static running_cell& of(cell& c) noexcept { return static_cast<running_cell&>(c); }

  [[gnu::hot]] base::run_outcome run(std::uint32_t& budget) noexcept final;

  // ---- for those with a run loop of their own: blocking actors and the testkit ------------------

  /// Has a signal or an urgent message come since `attend`? A hint; `attend` acquires.
  [[nodiscard]] bool wants_attention() const noexcept { return cell_steps::wants_attention(*this); }
  /// Handles the system lane and takes what has arrived.
  void attend() noexcept;
  /// The next message, or null; the caller handles it, or puts it back.
  [[nodiscard]] envelope* take_next() noexcept;
  void put_back(envelope* e) noexcept;
  /// What `take_next` will return, left where it is.
  [[nodiscard]] const envelope* peek_next() noexcept;
  /// Keeps a message that no case takes until the behavior changes.
  void skip(envelope* e) noexcept;
  /// The first `most` messages that wait for it, in the order in which it takes them: what was
  /// skipped, answers that are let through, urgent ones, then the others. Costs a look at each, and
  /// at what has arrived since the actor's last message. Throws std::bad_alloc.
  [[nodiscard]] std::vector<waiting_message> waiting(std::size_t most);
  /// Handles a message as the run loop does, and finishes it.
  void handle(envelope* e) noexcept;
  /// The message that user code handles now, or null.
  void set_current(envelope* e) noexcept {
    current_.store(e, std::memory_order_relaxed);  // order: others only ask whether there is one
  }
  /// Wakes senders that wait, and attends, when a batch ended because something came.
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
