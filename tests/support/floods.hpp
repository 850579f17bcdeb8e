// Actors that flood others, and counts of the waits that this causes.
#pragma once

#include <garrick/base/concurrency/probe.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/garrick.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "support/quiet.hpp"

namespace garrick::tests::floods {

struct item {
  std::uint32_t n;
};
struct go {};
struct count {};
struct peak {};

using sink_protocol = protocol<void(item), std::uint32_t(count), std::uint32_t(peak)>;
using source_protocol = protocol<void(go)>;

class sink : public actor<sink_protocol> {
  std::uint32_t seen_ = 0;
  std::uint32_t peak_ = 0;

 public:
  void on(item) {
    ++seen_;
    peak_ = std::max(peak_, mailbox_length());
  }
  std::uint32_t on(count) const { return seen_; }
  std::uint32_t on(peak) const { return peak_; }
};

/// Sends this number of items in one handler.
class source : public actor<source_protocol> {
  ref<protocol<void(item)>> to_;
  std::uint32_t n_;

 public:
  source(ref<protocol<void(item)>> to, std::uint32_t n) : to_(std::move(to)), n_(n) {}
  void on(go) {
    for (std::uint32_t i = 0; i < n_; ++i) send(to_, item{i});
  }
};

inline settings limited(std::uint32_t workers, std::uint32_t soft) {
  settings o = quiet(workers);
  o.mailbox.soft_limit = soft;
  return o;
}

/// Counts the waits for room, and those of them that have lasted as long as `mailbox.full_wait`:
/// nothing but the clock may have ended them.
struct waits : base::probe {
  std::uint64_t patience_ns = 0;  ///< written before the system begins
  std::atomic<std::uint32_t> begun{0};
  std::atomic<std::uint32_t> by_actors{0};  ///< the others are of threads outside
  std::atomic<std::uint32_t> long_ones{0};
  void on_sender_waits(std::uint64_t, std::uint64_t sender) noexcept override {
    ++begun;
    if (sender != 0) ++by_actors;
    since() = base::platform::monotonic_ns();
  }
  void on_sender_goes_on(std::uint64_t, std::uint64_t) noexcept override {
    if (base::platform::monotonic_ns() - since() >= patience_ns) ++long_ones;
  }
  /// Messages that this may have let into mailboxes that were full: each such wait makes room for
  /// 64 sends. On a busy machine a receiver may have had no processor for that long.
  [[nodiscard]] std::uint32_t let_in() const { return 64 * long_ones; }

 private:
  static std::uint64_t& since() noexcept {
    thread_local std::uint64_t begin = 0;
    return begin;
  }
};

/// A system with waits that `w` counts.
inline settings counted(std::uint32_t workers, std::uint32_t soft, waits& w, duration full_wait) {
  settings o = limited(workers, soft);
  o.mailbox.full_wait = full_wait;
  o.probe = &w;
  w.patience_ns = static_cast<std::uint64_t>(full_wait.count());
  return o;
}

/// A limit that a wait reaches only if nothing but the clock ends it, however busy the machine is.
inline constexpr duration too_long = core::longest_full_wait;

}  // namespace garrick::tests::floods
