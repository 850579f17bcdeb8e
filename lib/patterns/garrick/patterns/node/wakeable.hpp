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

  /// Called when one of the node's channels has changed. If `by` is not null, the node may run at
  /// once, on that turn; `tuples` is the number of new tuples.
  virtual void wake(turn* by, std::size_t tuples) noexcept = 0;

 protected:
  wakeable() = default;
  ~wakeable() = default;
};

}  // namespace garrick::patterns::detail
