// Envelopes in a row, linked through themselves.
//
// Private: installed with its room; only sources of core, system and the testkit include it.
//
// Thread safety: none; for the owner of the envelopes.
#pragma once

#include <garrick/core/mailbox/envelope.hpp>

namespace garrick::core {

/// A chain of envelopes, oldest first.
struct envelope_chain {
  envelope* front = nullptr;
  envelope* back = nullptr;
  void push_back(envelope* e) noexcept {
    e->next = nullptr;
    if (front == nullptr)
      front = e;
    else
      back->next = e;
    back = e;
  }
  void push_front(envelope* e) noexcept {
    if (front == nullptr) back = e;
    e->next = front;
    front = e;
  }
  /// Adds another chain at the end. Requires that `last->next` is null.
  void append(envelope* first, envelope* last) noexcept {
    (front == nullptr ? front : back->next) = first;
    back = last;
  }
  [[nodiscard]] envelope* pop_front() noexcept {
    envelope* const e = front;
    if (e != nullptr) front = e->next;
    return e;
  }
};

}  // namespace garrick::core
