// Work on a container that is cut into shares. Pieces are worked on in blocks, whose length follows
// from the time that the last block took. The rest of a piece that is not done at the end of a turn
// stays in the actor's queue (work_queue.hpp), and an empty message lets the actor go on.
//
// Private: installed because templates need it.
//
// Thread safety: as in shared_work.hpp.
//
// Invariants
// R1 No element is in two blocks, so `run` has its elements for itself.
// R2 A participant that comes late finds nothing left, and does not touch the container.
#pragma once

#include <garrick/patterns/team/shared_work.hpp>
#include <garrick/patterns/team/shares.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace garrick::patterns::detail {

/// Work on a container whose elements are cut into shares.
class range_work : public shared_work {
 public:
  [[nodiscard]] bool take_part(seat& at, actor_base& on) noexcept final;
  [[nodiscard]] std::size_t size() const noexcept final { return shares_.how().size; }
  [[nodiscard]] std::size_t most_hands() const noexcept final { return shares_.how().pieces; }

 protected:
  /// `whole_pieces`: a piece is never worked on in several blocks. `name` is for errors.
  range_work(const cut& c, bool whole_pieces, std::string name)
      : shared_work(std::move(name)), shares_(c), whole_pieces_(whole_pieces) {}

  /// Works on these elements. Exceptions of the user's function go to `failed_at`.
  virtual void run(const piece& part) noexcept = 0;
  /// Records that the exception being handled was thrown for that element.
  void failed_at(std::size_t element) noexcept { failed("element", element); }

 private:
  shares shares_;
  const bool whole_pieces_;
};

}  // namespace garrick::patterns::detail
