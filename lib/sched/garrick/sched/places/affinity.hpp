// Which processors threads may run on, as a text: groups in angle brackets that threads take in
// turn (paper 003 §6.2.1).
//
//   "<0> <2-4> <1,5>"   the first thread on processor 0, the second on 2, 3 or 4, the third on 1 or 5, the fourth on 0 again, …
//
// Grammar: groups, one after the other; a group is ranges separated by commas; a range is one
// number or two with a dash, the lower one first. Blanks may stand anywhere between two symbols. An
// empty text leaves every thread where the system puts it.
#pragma once

#include <garrick/base/values/result.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace garrick::sched {

class affinity {
 public:
  using processors = std::vector<std::int32_t>;

  /// Leaves threads where they are.
  affinity() = default;
  affinity(affinity&& other) noexcept : groups_(std::move(other.groups_)) {}
  affinity& operator=(affinity&& other) noexcept {
    groups_ = std::move(other.groups_);
    return *this;
  }

  /// Error `config_invalid`: what is wrong, at which character (counted from 1), with the text and
  /// a mark below it. Also if a group names a processor that is not among `usable`, or if the text
  /// has more than 1024 groups. `usable` empty: nobody knows, and binding will tell.
  [[nodiscard]] static base::result<affinity> parse(std::string_view text,
                                                    std::span<const std::int32_t> usable);

  [[nodiscard]] bool empty() const noexcept { return groups_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return groups_.size(); }
  /// The group of thread number `thread`, counted from 0. Requires that there is one.
  [[nodiscard]] const processors& of(std::size_t thread) const noexcept {
    return groups_[thread % groups_.size()];
  }

  /// Puts the calling thread into the next group. Error `config_invalid`: the system refuses.
  /// Thread safety: any thread.
  [[nodiscard]] base::error bind_this_thread();

 private:
  std::vector<processors> groups_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace garrick::sched
