// The end of a stream: an orderly end after the last node has ended, or a failure or a
// cancellation, of which every node is told.
//
// Private: installed because templates need it.
//
// Thread safety: any thread; `begin` comes before all else.
//
// Invariants
// G1 The owner is told of the end once, after the last node's last step.
// G2 The first failure counts. After it no node makes another step; each node closes its outputs
//    and ends.
#pragma once

#include <garrick/garrick.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace garrick::patterns::detail {

/// To the actor behind a stream's handle: the last node has ended.
struct all_ended {
  using garrick_unreported = void;
  std::uint64_t stream;  ///< its number: a restarted actor may be told of its former stream's end
};

/// The end of one stream.
class ending {
 public:
  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;

  /// Returns the stream's number, which is unique in the process.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Begins a stream of `nodes` nodes, before the first of them runs. `told` is the actor that is
  /// told when all nodes have ended.
  void begin(std::size_t nodes, weak_ref<protocol<void(all_ended)>> told) noexcept {
    told_ = std::move(told);
    live_.store(nodes, std::memory_order_relaxed);  // order: relaxed; the nodes' first `go` follows
  }
  /// Ends the stream early. The first `why` counts.
  void cancel(error why) noexcept;
  /// Returns true if the stream has been told to end early.
  [[nodiscard]] bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed);  // order: relaxed; a node looks at each step
  }
  /// Returns the reason why the stream ended early; no error if it did not.
  [[nodiscard]] error failure() const;
  /// Called when a node has made its last step.
  void node_ended() noexcept;

 protected:
  ending() noexcept;
  ~ending() = default;
  /// Wakes every node, so that it looks at `is_cancelled`.
  virtual void wake_all() noexcept = 0;

 private:
  const std::uint64_t number_;
  std::atomic<std::size_t> live_{0};
  std::atomic<bool> claimed_{false};  ///< a thread writes why_
  std::atomic<bool> cancelled_{false};
  error why_;  ///< written once, before cancelled_
  weak_ref<protocol<void(all_ended)>> told_;
};

}  // namespace garrick::patterns::detail
