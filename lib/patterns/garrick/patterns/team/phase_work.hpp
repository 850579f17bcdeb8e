// Work on a container that is done in phases: each phase works on every element, and begins when
// the phase before is done.
//
// Control flow: each participant claims pieces, and goes away when there are none. The participant
// that finishes a phase's last piece begins the next phase, calls back as many participants as that
// phase is worth, and goes on. So the work goes on even if no other participant comes.
//
// Private: installed because templates need it.
//
// Thread safety: as in shared_work.hpp.
//
// Invariants
// H1 While `run` is called with a phase, no element of another phase is worked on.
// H2 After a failure no further phase begins: the end of the present one ends the work.
// H3 A participant that comes late, or is away at the end, finds nothing, and does not touch the
//    container.
#pragma once

#include <garrick/patterns/team/phases.hpp>
#include <garrick/patterns/team/shared_work.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// Work in phases on a container whose elements are cut into shares.
class phase_work : public shared_work {
 public:
  [[nodiscard]] bool take_part(seat& at, actor_base& on) noexcept final;
  [[nodiscard]] std::size_t size() const noexcept final {
    return count_ == 0 ? 0 : phases_.how().size;
  }
  [[nodiscard]] std::uint64_t steps() const noexcept final { return size() * count_; }
  [[nodiscard]] std::size_t most_hands() const noexcept final { return phases_.how().pieces; }
  void belongs_to(std::vector<hand> all, std::size_t begin, hand asked, bool takes_part) final;

 protected:
  /// Work in `count` phases. `name` is for errors.
  phase_work(const cut& c, std::uint64_t count, std::string name)
      : shared_work(std::move(name)), phases_(c), count_(count) {}

  /// Works on these elements in that phase. Exceptions of the user's function go to `failed`.
  virtual void run(const piece& part, std::uint64_t phase) noexcept = 0;

 private:
  /// Calls back as many participants as a phase is worth. Each begins with a block of that length.
  void call_back(std::size_t block) noexcept;
  /// If pieces are left, calls back all participants that are away: the phase takes longer than
  /// expected.
  void call_all(std::size_t block) noexcept;
  void call(std::size_t who, std::size_t block) noexcept;

  phases phases_;
  const std::uint64_t count_;
  std::vector<hand> hands_;  ///< does not change
};

}  // namespace garrick::patterns::detail
