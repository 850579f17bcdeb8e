// Who awaits whom: finds the circles in which A waits on B waits on A, all of them in `await`, so
// that nobody will ever answer.
//
// Problem: such a circle shows as a program that stands still, without an error anywhere. So while
// `settings.detect_request_cycles` is on (builds without NDEBUG, and the testkit), every request
// that is out is an edge from its requester to its receiver; the edge counts from the moment the
// requester awaits it. An await that would close a circle is answered with `request_cycle`.
//
// An edge ends when the response is *sent*, not when it is handled: a receiver that has answered
// may ask back although the answer still lies in the requester's mailbox. A receiver that gave the
// promise to somebody else still counts as the one who is waited for: only a delegation moves the
// edge.
//
// Private: installed because templates need it.
//
// Thread safety: every function may be called from any thread; one mutex, held for the length of
// the walk. Only requests pay for it, and only while it is on.
//
// Invariants: W1 an edge exists from before its request can be received until its response is sent,
// or the request is withdrawn; W2 the awaited edges form no circle: whoever would add the last edge
// of one is told so and does not add it.
#pragma once

#include <cstdint>
#include <memory>

namespace garrick::core {

class wait_graph {
 public:
  wait_graph();
  ~wait_graph();
  wait_graph(const wait_graph&) = delete;
  wait_graph& operator=(const wait_graph&) = delete;

  /// `requester` is about to send request `id` to `receiver`.
  void asked(std::uint64_t requester, std::uint64_t id, std::uint64_t receiver) noexcept;
  /// It does nothing else until that request is answered. True: it would wait for ever.
  [[nodiscard]] bool awaits(std::uint64_t requester, std::uint64_t id) noexcept;
  /// Somebody else will answer.
  void handed_over(std::uint64_t requester, std::uint64_t id, std::uint64_t receiver) noexcept;
  /// Answered or withdrawn; harmless if it is unknown.
  void answered(std::uint64_t requester, std::uint64_t id) noexcept;

  /// Requests that are out.
  [[nodiscard]] std::size_t edges() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace garrick::core
