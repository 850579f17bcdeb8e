// The log of one system under a storm: a million failing actors must not write a million lines.
//
// The same event from the same place is written at most ten times in a second. Further ones are
// counted, and one line at the end of that second tells their number. "The same" means the same
// kind ("failed"), the same place (an actor's type, a message's type) and the same reason's
// category and code; the free text does not count. Statistics and probes do not go through this
// class: they see every event.
//
// Memory is bounded: as many places are told apart at a time as there are slots. Storms in still
// more places share one slot and are reported as one.
//
// The line with the number comes even if the storm has ended: a timer of the system's clock writes
// it, armed only while something is held back. `close` writes the numbers that the timer has not
// written.
//
// Thread safety: every function may be called from any thread. A line that the level excludes takes
// no lock.
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

/// The properties that make two events the same.
struct log_event {
  log_level level = log_level::warning;  ///< its severity
  std::string_view kind;                 ///< the event, in a word or two: "failed"
  std::string_view place;                ///< its place: an actor's or a message's type
  base::error reason{};  ///< its category and code count, not its text; may be empty
};

/// The destination of lines. `id` 0: the line is about no single actor. Called on any thread,
/// several at once.
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
  static constexpr std::size_t places = 32;            ///< the most that are told apart at a time

  /// Writes events of `least` and above to `sink`. `clock` tells the time, and its timer writes the
  /// numbers of lines held back; it must live until `close`.
  limited_log(base::clock_service& clock, log_level least, log_sink sink) noexcept;
  /// Like `close`.
  ~limited_log();
  limited_log(const limited_log&) = delete;
  limited_log& operator=(const limited_log&) = delete;

  /// Returns true if events of this level are written at all.
  [[nodiscard]] bool wants(log_level level) const noexcept { return level >= least(); }
  /// Sets the level: events of `least` and above are written, by other threads a little later.
  void set_least(log_level least) noexcept {
    least_.store(least, std::memory_order_relaxed);  // order: nothing goes with it
  }
  /// Returns the level from which on events are written.
  [[nodiscard]] log_level least() const noexcept {
    return least_.load(std::memory_order_relaxed);  // order: nothing goes with it
  }

  /// Writes one line, or holds it back. `text()` makes the line, only if it is written; a line
  /// without memory for its text says so. Blocks as long as the sink does.
  template <class MakeText>
  void write(const log_event& event, std::string_view who, std::uint64_t id,
             MakeText text) noexcept {
    if (!wants(event.level) || !admit(event)) return;
    try {
      sink_.write(sink_.context, event.level, who, id, text());
    } catch (...) { sink_.write(sink_.context, event.level, who, id, "no memory for the text"); }
  }

  /// Writes the numbers of lines held back so far, and uses the clock no more. Later events are
  /// limited as before; lines held back then are told by the next event of the same kind that comes
  /// a second later, or by the destructor. A timer that fires meanwhile may still run after this
  /// has returned: destroy the clock before this object.
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
    /// the place, then the event: fixed, since a line must come without memory, too
    std::array<char, longest_text> text{};
  };

  [[nodiscard]] bool admit(const log_event& event) noexcept;
  [[nodiscard]] slot& slot_of(const log_event& event, base::instant now) noexcept;
  static void describe(slot& s, const log_event& event) noexcept;
  /// Under `mutex_`: begins a new second. Returns a copy of the slot as it was.
  [[nodiscard]] static slot turn_over(slot& s, base::instant now) noexcept;
  /// Under `mutex_`: has the timer fire at `when`, unless it does so earlier.
  void arm(base::instant when) noexcept;
  /// Writes the number for each place with a second that is over, or for all.
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
  std::array<slot, places + 1> slots_{};  ///< the last is for all places that find none
};

}  // namespace garrick::system
