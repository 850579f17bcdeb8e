// What only some actors need, in one block made on demand: requests in flight, skipped mail,
// watchers, supervision, timers, coroutines, behaviors to return to.
//
// Thread safety: everything belongs to the runner, except `executor`, `name`, `hard_limit` and
// `quantum`, which are constant after spawn.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/keyed_list.hpp>
#include <garrick/core/cell/signals.hpp>
#include <garrick/core/ref.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace garrick::core {

/// What is to be done with a response. Lives on the heap (then / await) or in a coroutine's frame
/// (co_await).
class continuation {
 public:
  /// Takes a response's content: a value or, if `e->is(failure)`, an error. May throw what the
  /// user's code throws.
  virtual void on_response(cell& self, envelope* e) = 0;
  /// No response will come: the actor ends or the request was withdrawn. Frees itself if it lives
  /// on the heap.
  virtual void abandon() noexcept = 0;

 protected:
  ~continuation() = default;
};

class timer_record;

/// Requests of one actor that wait for their response. An id names a slot and its generation, so a
/// late response finds nothing.
class response_table {
 public:
  /// A new id (never 0), or 0 if `limit` requests are out.
  [[nodiscard]] std::uint64_t reserve(std::uint32_t limit, std::uint64_t target);
  void attach(std::uint64_t id, continuation* k) noexcept { at(id).k = k; }
  void set_timer(std::uint64_t id, timer_record* t) noexcept { at(id).timer = t; }
  [[nodiscard]] bool alive(std::uint64_t id) const noexcept;

  struct slot {
    continuation* k = nullptr;
    envelope* early = nullptr;  ///< the response came before somebody waited for it
    timer_record* timer = nullptr;
    std::uint64_t target = 0;  ///< id of the actor asked, for diagnosis
    std::uint32_t generation = 1;
    std::uint32_t next_free = none;
    bool used = false;
    bool exclusive = false;  ///< awaited
    /// a part of a larger request (fan_out, first_of): its response is handled whatever the actor
    /// awaits
    bool inner = false;
  };
  [[nodiscard]] slot& at(std::uint64_t id) noexcept { return slots_[id & index_mask]; }
  /// Frees the slot; its continuation is the caller's.
  void finish(std::uint64_t id) noexcept;
  [[nodiscard]] std::uint32_t active() const noexcept { return active_; }
  template <class F>
  void for_each(F f) {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].used) f((std::uint64_t{slots_[i].generation} << index_bits) | i, slots_[i]);
  }

  static constexpr unsigned index_bits = 20;
  static constexpr std::uint64_t index_mask = (1u << index_bits) - 1;
  static constexpr std::uint32_t none = 0xffffffff;

 private:
  std::vector<slot> slots_;
  std::uint32_t free_ = none;
  std::uint32_t active_ = 0;
};

/// A chain of envelopes, oldest first.
struct envelope_chain {
  envelope* front = nullptr;
  envelope* back = nullptr;
  void push_back(envelope* e) noexcept {
    e->next = nullptr;
    if (front == nullptr)
      front = e;
    else
      back->next = e;
    back = e;
  }
  void push_front(envelope* e) noexcept {
    if (front == nullptr) back = e;
    e->next = front;
    front = e;
  }
  /// Another chain, whose last `next` is null.
  void append(envelope* first, envelope* last) noexcept {
    (front == nullptr ? front : back->next) = first;
    back = last;
  }
  [[nodiscard]] envelope* pop_front() noexcept {
    envelope* const e = front;
    if (e != nullptr) front = e->next;
    return e;
  }
};

/// A top-level coroutine of a handler that has not finished.
class suspended_frame {
 public:
  virtual void destroy_frame() noexcept = 0;
  suspended_frame* next_frame = nullptr;
  suspended_frame** slot_of_me = nullptr;

 protected:
  ~suspended_frame() = default;
};

class behavior;
class object_factory;
class nursery;

struct watcher {
  address who;
  std::uint64_t monitor;  ///< 0: a link
  [[nodiscard]] keyed_list_key key() const noexcept { return {who.id(), monitor}; }
};

/// A monitor that this actor set, with what to do when it fires.
struct own_monitor {
  std::uint64_t id;
  address target;
  continuation* callback;  ///< null: a `down` message
  [[nodiscard]] keyed_list_key key() const noexcept { return {0, id}; }
};

/// Who watches an actor, and whom it watches.
struct watch_lists {
  keyed_list<watcher> watchers;
  keyed_list<own_monitor> monitors;
  std::uint64_t next_monitor = 1;
};

/// When a supervisor restarts a child.
enum class restart_policy : std::uint8_t {
  permanent,  ///< whenever it ends
  transient,  ///< when it fails or is killed, not when it quits or is asked to end
  temporary,  ///< never
};

/// What a supervised child knows of its supervisor. `supervisor` and `factory` are constant after
/// spawn.
struct supervised {
  enum class order : std::uint8_t { none, suspend, restart };

  address supervisor;
  std::shared_ptr<object_factory> factory;
  restart_policy policy = restart_policy::permanent;
  bool restartable = true;      ///< false: the supervisor has let go; the next end is final
  bool keep_mail = true;        ///< of the restart that was ordered
  order ordered = order::none;  ///< by the supervisor, to be carried out at the next end of a turn
  std::uint32_t restarts = 0;
};

/// A message whose sender waits for room.
struct parked_message {
  envelope* message;
  cell* sender;  ///< a strong reference
  std::uint64_t id;
};

struct cell_extension {
  cell_extension();
  ~cell_extension();
  // constant after spawn
  base::executor* executor = nullptr;
  std::string name;
  bool hidden = false;
  std::uint32_t hard_limit = 0;  ///< messages; 0: the system's
  std::uint32_t quantum = 0;     ///< messages of one run; 0: as many as the runner allows

  // the runner's
  response_table pending;
  /// the newest must be answered before anything else goes on
  std::vector<std::uint64_t> awaiting;
  /// while the mailbox is held: what passes the await, in its order
  envelope_chain answers;
  envelope_chain skipped;
  std::uint32_t skipped_count = 0;
  /// a response is among the skipped: they are tried again when nothing is awaited
  bool answer_skipped = false;
  std::unique_ptr<watch_lists> watching;  ///< made by `watch`
  [[nodiscard]] watch_lists& watch() {
    if (watching == nullptr) watching = std::make_unique<watch_lists>();
    return *watching;
  }
  std::unique_ptr<supervised> parent;      ///< set before anybody knows the cell, and stays
  std::unique_ptr<core::nursery> nursery;  ///< its own children
  std::vector<parked_message> parked;      ///< from `first_parked` on: senders that wait for room
  std::size_t first_parked = 0;
  std::uint32_t timer_count = 0;  ///< records in `timers`
  /// when so many are listed, those that are over are forgotten
  std::uint32_t timer_sweep_at = 16;
  bool trap_exit = false;
  bool interleave = false;                ///< other messages go on while a coroutine handler waits
  std::vector<behavior> behaviors_below;  ///< the present one, oldest first
  suspended_frame* frames = nullptr;
  timer_record* timers = nullptr;
  timer_record* idle_timer = nullptr;
  base::instant last_activity;  ///< while the behavior has a receive time-out
  base::exit_reason reason;
};

}  // namespace garrick::core
