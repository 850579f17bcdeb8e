// The awaits between actors. The graph finds circles: A awaits B, and B awaits A, directly or
// through others, so that no answer will ever come.
//
// Problem: such a circle stalls a program without any error. So while requests.detect_cycles is on
// (in builds without NDEBUG, and in the testkit), every request that is out is an edge from its
// requester to its receiver. The edge counts once the requester awaits the answer. An await that
// would close a circle is answered with `request_cycle`.
//
// An edge ends when the response is *sent*, not when it is handled. A receiver that has answered
// may ask back although the answer still lies in the requester's mailbox. If a receiver gives the
// promise to another actor, the edge still ends at the receiver: only a delegation moves it.
//
// Private: installed because system_core.hpp needs it.
//
// Thread safety: every function may be called from any thread. One mutex is held for the length of
// the walk. Only requests pay for the graph, and only while cycles are looked for. A copy in a
// forked child does nothing.
//
// Invariants
// W1 An edge exists from before its request can be received until its response is sent, or the
//    request is withdrawn.
// W2 The awaited edges form no circle. An actor that would add the last edge of one gets an error
//    instead, and the edge is not added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace garrick::core {

/// The pending requests, as edges between actors. Any thread.
class wait_graph {
 public:
  wait_graph();
  ~wait_graph();
  wait_graph(const wait_graph&) = delete;
  wait_graph& operator=(const wait_graph&) = delete;

  /// Adds request `id`, which `requester` is about to send to `receiver`.
  void asked(std::uint64_t requester, std::uint64_t id, std::uint64_t receiver) noexcept;
  /// Notes that `requester` handles no other mail until that request is answered. Returns true if
  /// it would wait for ever.
  [[nodiscard]] bool awaits(std::uint64_t requester, std::uint64_t id) noexcept;
  /// Makes `receiver` the actor that will answer that request.
  void handed_over(std::uint64_t requester, std::uint64_t id, std::uint64_t receiver) noexcept;
  /// Removes a request that was answered or withdrawn. Ignores an unknown request.
  void answered(std::uint64_t requester, std::uint64_t id) noexcept;

  /// A pending request.
  struct edge {
    std::uint64_t requester;
    std::uint64_t id;
    std::uint64_t receiver;  ///< the actor that will answer
    bool awaited;            ///< the requester handles no other mail
  };
  /// Returns up to `most` requests that are out, in any order. Throws std::bad_alloc.
  [[nodiscard]] std::vector<edge> list(std::size_t most) const;
  /// Returns the number of requests that are out.
  [[nodiscard]] std::size_t edges() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace garrick::core
