// Requests to actors elsewhere: the proxy that was asked wants to know if nobody waits any more.
//
// Problem: what asks costs memory in two processes until it is answered. So the requester's slot
// holds the proxy, and whoever decides the request tells it, unless it was the proxy's own answer.
//
// Thread safety: the requester's turn.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/response_table.hpp>

#include <cstdint>

namespace garrick::core::asked_proxy {

/// An actor elsewhere was asked, by way of `proxy`.
void note(response_table::slot& s, cell& proxy) noexcept;

/// What `decide` does if an actor elsewhere was asked.
void let_go(response_table::slot& s, const cell& self, std::uint64_t id, bool answered) noexcept;

/// The request is decided: by an answer, or because nobody waits for one any more, which the proxy
/// is told. `self` is the actor that asked.
inline void decide(response_table::slot& s, const cell& self, std::uint64_t id,
                   bool answered) noexcept {
  if (s.proxy != nullptr) [[unlikely]]
    let_go(s, self, id, answered);
}

/// Frees the request's slot, for which nobody waits any more; its continuation is the caller's.
inline void finish(response_table& pending, std::uint64_t id, const cell& self) noexcept {
  decide(pending.at(id), self, id, false);
  pending.finish(id, self.env());
}

}  // namespace garrick::core::asked_proxy
