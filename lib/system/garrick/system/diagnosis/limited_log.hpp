// The log of one system, kept small: a million failing actors must not write a million lines.
//
// The same event from the same place is written at most ten times in a second. Further events are
// counted, and one line at the end of that second states their number. Events are the same if they
// have the same kind ("failed"), the same place (an actor's type, a message's type) and the same
// category and code of the reason; the free text does not count. Statistics and probes do not go
// through this class: they see every event.
//
// Memory is bounded: each event has a slot, and when all slots are in use, further events share one
// slot and are reported together.
//
// The line with the number is written even if no further event occurs: a timer of the system's
// clock writes it, and is armed only while lines are held back. `close` writes the numbers that the
// timer has not written.
//
// Thread safety: every function may be called from any thread. A call for an event that the level
// excludes takes no lock.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/system/settings/settings.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace garrick::system {

/// An event of the log. Two events are the same if their kind, place and reason are equal.
struct log_event {
  log_level level = log_level::warning;  ///< its severity
  std::string_view kind;                 ///< the event, in a word or two: "failed"
  std::string_view place;                ///< its place: an actor's or a message's type
  base::error reason{};  ///< compared by category and code, not by text; may be empty
};

/// The destination of lines. Called on any thread, by several threads at once. `id` is 0 if the
/// line is about no single actor.
struct log_sink {
  /// Writes one line; must not throw, and must not call the log that calls it.
  void (*write)(void* context, log_level level, std::string_view who, std::uint64_t id,
                std::string_view text) noexcept;
  void* context = nullptr;  ///< handed to `write`
};

/// Writes lines to a sink, few of them in a storm. Any thread.
///
///     log.write({log_level::error, "failed", "worker", why}, "worker 3", id,
///               [&] { return why.to_string(); });
class limited_log {
 public:
  static constexpr std::uint32_t lines_a_second = 10;  ///< of one event from one place
  static constexpr std::size_t places = 32;            ///< the most events limited separately

  /// Writes events of `least` and above to `sink`. `clock` gives the time and the timer for the
  /// numbers of lines held back; it must live until `close`.
  limited_log(base::clock_service& clock, log_level least, log_sink sink) noexcept;
  /// Calls `close`.
  ~limited_log();
  limited_log(const limited_log&) = delete;
  limited_log& operator=(const limited_log&) = delete;

  /// Returns true if events of this level are written at all.
  [[nodiscard]] bool wants(log_level level) const noexcept { return level >= least(); }
  /// Sets the level: events of `least` and above are written. Other threads may apply it a little
  /// later.
  void set_least(log_level least) noexcept {
    least_.store(least, std::memory_order_relaxed);  // order: nothing goes with it
  }
  /// Returns the lowest level that is written.
  [[nodiscard]] log_level least() const noexcept {
    return least_.load(std::memory_order_relaxed);  // order: nothing goes with it
  }

  /// Writes one line, or holds it back. Calls `text()` only if the line is written; if memory for
  /// the text is short, the line says so. Blocks as long as the sink does.
  template <class MakeText>
  void write(const log_event& event, std::string_view who, std::uint64_t id,
             MakeText text) noexcept {
    if (!wants(event.level) || !admit(event)) return;
    try {
      sink_.write(sink_.context, event.level, who, id, text());
    } catch (...) { sink_.write(sink_.context, event.level, who, id, "no memory for the text"); }
  }

  /// Writes the numbers of lines held back so far, and no longer uses the clock's timers. Later
  /// events are limited as before; the number of lines held back is then written at the next equal
  /// event after the second, or by the destructor. A timer that fires during the call may still run
  /// after its return: destroy the clock before this object.
  void close() noexcept;

 private:
  static constexpr std::size_t longest_text = 200;

  struct slot {
    std::uint64_t key = 0;  ///< 0: free
    base::instant since{};  ///< the beginning of its second
    std::uint32_t written = 0;
    std::uint64_t held_back = 0;
    log_level level = log_level::debug;
    std::uint16_t place_length = 0;
    std::uint16_t text_length = 0;
    /// the place, then the event; an array, since the line is written even if memory is short
    std::array<char, longest_text> text{};
  };

  [[nodiscard]] bool admit(const log_event& event) noexcept;
  [[nodiscard]] slot& slot_of(const log_event& event, base::instant now) noexcept;
  static void describe(slot& s, const log_event& event) noexcept;
  /// Under `mutex_`: begins a new second. Returns a copy of the slot as it was.
  [[nodiscard]] static slot turn_over(slot& s, base::instant now) noexcept;
  /// Under `mutex_`: arms the timer for `when`, unless it is armed for an earlier time.
  void arm(base::instant when) noexcept;
  /// Writes the number of each slot with a second that is over, or of all slots.
  void tell_held_back(bool all) noexcept;
  void tell(const slot& s) noexcept;

  std::atomic<log_level> least_;
  const log_sink sink_;

  std::mutex mutex_;
  // under `mutex_`
  const base::clock* time_;
  base::clock_service* timers_;  ///< null: closed
  base::timer_id timer_{};
  bool armed_ = false;
  base::instant armed_for_{};             ///< if `armed_`
  std::array<slot, places + 1> slots_{};  ///< the last one is for all events that find no other
};

}  // namespace garrick::system
