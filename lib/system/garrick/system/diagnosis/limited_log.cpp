// Counts the lines that are not written: a table of places under one lock, and one timer for all of
// them.
#include <garrick/system/diagnosis/limited_log.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <utility>

namespace garrick::system {

namespace {

constexpr base::duration one_second = base::duration::seconds(1);

/// Returns the event's key, which is never 0: that marks a free slot.
std::uint64_t key_of(const log_event& e) noexcept {
  std::uint64_t key = std::hash<std::string_view>()(e.kind);
  const auto mix = [&key](std::uint64_t part) {
    key = (key ^ part) * 0x9e3779b97f4a7c15ull;
    key ^= key >> 29;
  };
  mix(std::hash<std::string_view>()(e.place));
  mix(reinterpret_cast<std::uintptr_t>(e.reason.category()));
  mix(e.reason.code());
  mix(static_cast<std::uint64_t>(e.level));
  return key | 1;
}

bool is_over(base::instant since, base::instant now) noexcept { return now - since >= one_second; }

}  // namespace

limited_log::limited_log(base::clock_service& clock, log_level least, log_sink sink) noexcept
    : least_(least), sink_(sink), time_(&clock), timers_(&clock) {}

limited_log::~limited_log() { close(); }

void limited_log::close() noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (timers_ != nullptr) static_cast<void>(timers_->cancel(timer_));
    time_ = &base::real_clock();
    timers_ = nullptr;
  }
  tell_held_back(true);
}

bool limited_log::admit(const log_event& event) noexcept {
  slot before;
  bool admitted = false;
  {
    const std::lock_guard guard(mutex_);
    const base::instant now = time_->now();
    slot& mine = slot_of(event, now);
    if (is_over(mine.since, now)) before = turn_over(mine, now);
    mine.level = std::max(mine.level, event.level);
    admitted = mine.written < lines_a_second;
    if (admitted) {
      ++mine.written;
    } else {
      ++mine.held_back;
      arm(mine.since + one_second);
    }
  }
  if (before.held_back != 0) tell(before);
  return admitted;
}

limited_log::slot& limited_log::slot_of(const log_event& event, base::instant now) noexcept {
  const std::uint64_t key = key_of(event);
  slot* unused = nullptr;
  for (std::size_t i = 0; i < places; ++i) {
    slot& candidate = slots_[i];
    if (candidate.key == key) return candidate;
    if (unused == nullptr &&
        (candidate.key == 0 || (candidate.held_back == 0 && is_over(candidate.since, now))))
      unused = &candidate;
  }
  slot& chosen = unused != nullptr ? *unused : slots_[places];
  if (unused != nullptr || chosen.key == 0) {
    chosen = slot();
    chosen.key = key;
    chosen.since = now;
    describe(chosen, unused != nullptr
                         ? event
                         : log_event{event.level, "of further kinds", "several places"});
  }
  return chosen;
}

void limited_log::describe(slot& described, const log_event& event) noexcept {
  const auto put = [&described](std::string_view part) {
    const std::size_t length = std::min(part.size(), longest_text - described.text_length);
    std::copy_n(part.data(), length, described.text.data() + described.text_length);
    described.text_length = static_cast<std::uint16_t>(described.text_length + length);
  };
  put(event.place.substr(0, longest_text / 2));
  described.place_length = described.text_length;
  put(event.kind);
  if (!event.reason) return;
  try {
    const std::string why = event.reason.message();
    put(": ");
    put(why);
  } catch (const std::exception&) {  // no memory: the line names the kind alone
  }
}

limited_log::slot limited_log::turn_over(slot& turned, base::instant now) noexcept {
  slot before = turned;
  turned.since = now;
  turned.written = 0;
  turned.held_back = 0;
  turned.level = log_level::debug;
  return before;
}

void limited_log::arm(base::instant when) noexcept {
  if (timers_ == nullptr) return;
  if (armed_) {
    // The seconds of two slots may end in another order than the order in which their first lines
    // are held back. A timer that is already firing arms the next one itself.
    if (when >= armed_for_ || !timers_->cancel(timer_)) return;
    armed_ = false;
  }
  try {
    timer_ = timers_->arm(when, {[](void* self, std::uint64_t) {
                                   static_cast<limited_log*>(self)->tell_held_back(false);
                                 },
                                 this});
    armed_ = true;
    armed_for_ = when;
  } catch (const std::exception&) {  // no thread or no memory: the next event tries again
  }
}

void limited_log::tell_held_back(bool all) noexcept {
  std::array<slot, places + 1> due;
  std::size_t count = 0;
  {
    const std::lock_guard guard(mutex_);
    const base::instant now = time_->now();
    base::instant next = base::instant::never();
    if (!all) armed_ = false;
    for (slot& each : slots_) {
      if (each.held_back == 0) continue;
      if (all || is_over(each.since, now))
        due[count++] = turn_over(each, now);
      else
        next = std::min(next, each.since + one_second);
    }
    if (!next.is_never()) arm(next);
  }
  std::for_each_n(due.begin(), count, [this](const slot& each) { tell(each); });
}

void limited_log::tell(const slot& told) noexcept {
  const std::string_view text(told.text.data(), told.text_length);
  std::array<char, longest_text + 40> line;
  const int length = std::snprintf(line.data(), line.size(), "%llu more within a second: %.*s",
                                   static_cast<unsigned long long>(told.held_back),
                                   static_cast<int>(told.text_length - told.place_length),
                                   text.substr(told.place_length).data());
  sink_.write(sink_.context, told.level, text.substr(0, told.place_length), 0,
              {line.data(), static_cast<std::size_t>(length)});
}

}  // namespace garrick::system
