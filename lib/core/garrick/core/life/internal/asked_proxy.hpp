// Requests to actors elsewhere: the asked proxy is told if no actor waits for the answer any more.
//
// Problem: a request costs memory in two processes until it is answered. So the requester's slot
// holds the proxy, and the code that decides the request tells the proxy, unless the answer came
// from the proxy.
//
// Thread safety: the requester's turn.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/response_table.hpp>

#include <cstdint>

namespace garrick::core::asked_proxy {

/// Notes that an actor elsewhere was asked, by way of `proxy`.
void note(response_table::slot& s, cell& proxy) noexcept;

/// Does the work of `decide` for a request to an actor elsewhere.
void let_go(response_table::slot& s, const cell& self, std::uint64_t id, bool answered) noexcept;

/// Gives up the handle to the proxy that was asked, if any, since the request is decided. If it was
/// not answered, tells the proxy that the requester, `self`, no longer waits for the answer.
inline void decide(response_table::slot& s, const cell& self, std::uint64_t id,
                   bool answered) noexcept {
  if (s.proxy != nullptr) [[unlikely]]
    let_go(s, self, id, answered);
}

/// Frees the request's slot, since no actor waits for the answer any more; its continuation is the
/// caller's.
inline void finish(response_table& pending, std::uint64_t id, const cell& self) noexcept {
  decide(pending.at(id), self, id, false);
  pending.finish(id, self.env());
}

}  // namespace garrick::core::asked_proxy
