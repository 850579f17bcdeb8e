// The actors that work on a container together: the actor that was asked, which is the master, and
// its helpers. The master starts the helpers once and tells them of each request; a late helper
// finds that nothing is left.
//
// Private: installed because templates need it.
//
// Thread safety: a team belongs to the turns of its master.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/team/shared_work.hpp>
#include <garrick/patterns/team/turn_length.hpp>
#include <garrick/patterns/team/work_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// The quantum of a master. Its messages are turns of a millisecond, or requests, which the master
/// begins faster if it does not leave its worker after each.
inline constexpr std::uint32_t asked_quantum = 8;

/// The options of a team.
struct team_options {
  std::size_t replicas = 0;  ///< helpers that work at once; 0: as many as there are workers
  bool own_threads = false;  ///< each helper has a thread of its own
  bool hidden = false;       ///< like their master; see spawn_options::hidden
  std::string affinity{};    ///< where these threads run; see spawn_options::affinity
};

/// The helpers of an actor.
class team {
 public:
  /// Starts the helpers. Throws std::runtime_error with the reason if one is refused.
  void assemble(actor_base& master, const team_options& o, const std::string& name);

  /// Lets the team do `work`. Returns when the master has taken part for a while, or at once if the
  /// master takes no part or works for another request. The work may end later.
  void begin(shared_work& work, actor_base& master, const hand& to_master);
  /// Lets the master go on with its work.
  void go_on(work_on t, actor_base& master, const hand& to_master) {
    queue_.go_on(std::move(t), master, to_master);
  }

 private:
  /// Returns the pace of such work: how long its elements have taken. Each function has its own
  /// pace: an accelerator runs several, and a cheap function says nothing about the others.
  [[nodiscard]] std::shared_ptr<pace> pace_of(const shared_work& work);
  /// Returns how many actors should do `work`, the master included if it takes part.
  [[nodiscard]] std::size_t hands_for(const shared_work& work, const pace& expected) const noexcept;

  std::vector<hand> helpers_;
  work_queue queue_;  ///< the master's
  std::vector<std::pair<const std::type_info*, std::shared_ptr<pace>>> paces_;
  bool on_own_threads_ = false;
};

}  // namespace garrick::patterns::detail
