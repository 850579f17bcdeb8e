// The interface of a sleeper that is woken when something has changed for it.
//
// Private: installed because templates need it.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>

namespace garrick::patterns::detail {

struct turn;

/// A node, as its neighbours see it.
class wakeable {
 public:
  wakeable(const wakeable&) = delete;
  wakeable& operator=(const wakeable&) = delete;

  /// Something has changed at one of its channels. With `by`, a node that has its turn, it may run
  /// here and now; `tuples` is how many have come.
  virtual void wake(turn* by, std::size_t tuples) noexcept = 0;

 protected:
  wakeable() = default;
  ~wakeable() = default;
};

}  // namespace garrick::patterns::detail
