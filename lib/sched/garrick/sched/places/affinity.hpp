// The processors of threads, as a text: groups in angle brackets that threads take in turn (paper
// 003 §6.2.1).
//
//   "<0> <2-4> <1,5>"   the first thread on processor 0, the second on 2, 3 or 4,
//                       the third on 1 or 5, the fourth on 0 again, …
//
// Grammar: a text is groups, one after the other. A group is ranges, separated by commas. A range
// is one number, or two with a dash, the lower one first. Blanks are allowed anywhere between two
// symbols. An empty text leaves every thread where the system puts it.
//
// Thread safety: `bind_this_thread` from any thread; the rest is constant once it is parsed.
#pragma once

#include <garrick/base/values/result.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace garrick::sched {

/// Groups of processors. Each thread is bound to one group.
class affinity {
 public:
  using processors = std::vector<std::int32_t>;  ///< the system's numbers, ascending

  /// Makes an affinity without groups, which leaves threads where they are.
  affinity() = default;
  affinity(affinity&& other) noexcept : groups_(std::move(other.groups_)) {}
  affinity& operator=(affinity&& other) noexcept {
    groups_ = std::move(other.groups_);
    return *this;
  }

  /// Reads a text of the form above. `usable` are the processors that may be named; if it is empty
  /// they are unknown, and only `bind_this_thread` finds a wrong one.
  ///
  /// Returns the error `invalid_setting` if the text has another form, names a processor that is
  /// not among `usable`, or has more than 1024 groups. The error names the position of the fault,
  /// in characters counted from 1, and shows the text with a mark below it.
  [[nodiscard]] static base::result<affinity> parse(std::string_view text,
                                                    std::span<const std::int32_t> usable);

  /// Returns the processors of a text that is one group, for one thread; none for an empty text.
  ///
  /// Returns the error `invalid_setting` if `parse` would, or if the text has several groups.
  [[nodiscard]] static base::result<processors> parse_group(std::string_view text,
                                                            std::span<const std::int32_t> usable);

  /// Returns true if there are no groups.
  [[nodiscard]] bool empty() const noexcept { return groups_.empty(); }
  /// Returns the number of groups.
  [[nodiscard]] std::size_t size() const noexcept { return groups_.size(); }
  /// Returns the group of thread number `thread`, counted from 0. Requires at least one group.
  [[nodiscard]] const processors& of(std::size_t thread) const noexcept {
    return groups_[thread % groups_.size()];
  }

  /// Binds the calling thread to the next group, in turn; does nothing without groups. Any thread.
  ///
  /// Returns the error `invalid_setting` if the system refuses.
  [[nodiscard]] base::error bind_this_thread();

 private:
  std::vector<processors> groups_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace garrick::sched
