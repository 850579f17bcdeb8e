// The answer to the question who has a name in another node.
//
// Thread safety: one thread at a time.
#pragma once

#include <garrick/base/values/error.hpp>

namespace garrick::core {
class cell;
}

namespace garrick::net {

/// Who has a name, or why that is not known: what `remote` comes down to.
class name_answer {
 public:
  virtual ~name_answer() = default;
  name_answer(const name_answer&) = delete;
  name_answer& operator=(const name_answer&) = delete;
  /// A strong reference, which is the callee's. Called once at most; destroyed without a call if
  /// nobody can answer any more.
  virtual void found(core::cell* who) = 0;
  /// There is none.
  virtual void failed(const base::error& why) = 0;

 protected:
  name_answer() = default;
};

}  // namespace garrick::net
