// The answer to a question for an actor of another node.
//
// Thread safety: one thread at a time.
#pragma once

#include <garrick/base/values/error.hpp>

namespace garrick::core {
class cell;
}

namespace garrick::net {

/// Receives the actor of `remote` or `spawn`, or the reason why there is none.
class name_answer {
 public:
  virtual ~name_answer() = default;
  name_answer(const name_answer&) = delete;
  name_answer& operator=(const name_answer&) = delete;
  /// Called when the actor was found: `who` is a strong reference, which the callee takes over. At
  /// most one of the two functions is called, once; the object is destroyed without a call if no
  /// answer can come any more.
  virtual void found(core::cell* who) = 0;
  /// Called when there is no actor, for this reason.
  virtual void failed(const base::error& why) = 0;

 protected:
  name_answer() = default;
};

}  // namespace garrick::net
