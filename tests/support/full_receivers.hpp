// For tests of senders to a full receiver: short limits, and an actor that answers late.
#pragma once

#include <garrick/base/concurrency/probe.hpp>
#include <garrick/garrick.hpp>

#include <cstdint>
#include <thread>

#include "support/floods.hpp"

namespace garrick::tests::floods {

inline constexpr std::uint32_t soft = 10, hard = 40;

/// One worker, the limits `soft` and `hard`, and a probe that is told of each wait.
inline settings with_limits(base::probe& p, duration full_wait = too_long) {
  settings o = limited(1, soft);
  o.mailbox.hard_limit = hard;
  o.mailbox.full_wait = full_wait;
  o.probe = &p;
  return o;
}

/// Answers `go` when an item comes.
class answering : public actor<protocol<result<int>(go), void(item)>> {
 public:
  result<int> on(go) {
    promise_ = make_promise<int>();
    return promise_;
  }
  void on(item) { promise_.deliver(1); }

 private:
  response_promise<int> promise_;
};

/// Returns when no thread runs the actor.
template <class P>
void wait_until_idle(const ref<P>& who) {
  const core::cell& c = *core::handle_access::get(who);
  while ((c.gate().peek() & core::mailbox_word::idle) == 0) std::this_thread::yield();
}

}  // namespace garrick::tests::floods
