// The handling of the response to one of an actor's requests.
//
// Private: installed because templates need it.
//
// Thread safety: the actor's turn.
#pragma once

namespace garrick::core {

class cell;
struct envelope;

/// The handling of a response. Lives on the heap (then / await) or in a coroutine's frame
/// (co_await).
class continuation {
 public:
  /// Takes a response's content: a value or, if `e->is(failure)`, an error. Passes exceptions of
  /// the user's code on.
  virtual void on_response(cell& self, envelope* e) = 0;
  /// Called if no response will come, because the actor ends or the request was withdrawn. Frees
  /// the continuation if it is on the heap.
  virtual void abandon() noexcept = 0;

 protected:
  ~continuation() = default;
};

}  // namespace garrick::core
