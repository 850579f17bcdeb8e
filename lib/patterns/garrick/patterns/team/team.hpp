// The actors that work on a container together: the one that was asked, and its helpers. It starts
// the helpers once and tells them of each request; whoever is late finds that nothing is left.
//
// Private: installed because templates need it.
//
// Thread safety: a team belongs to the turns of the actor that was asked.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/team/shared_work.hpp>
#include <garrick/patterns/team/turn_length.hpp>
#include <garrick/patterns/team/work_queue.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// Works when it is told to.
class helper final : public actor<protocol<void(work_on)>> {
 public:
  void on(work_on t) { queue_.go_on(std::move(t), *this, this->self()); }

 private:
  work_queue queue_;
};

/// Messages of one run of the actor that is asked: turns of a millisecond, or requests, which it
/// begins faster if it does not leave its worker after each.
inline constexpr std::uint32_t asked_quantum = 8;

/// How a team is made up.
struct team_options {
  std::size_t replicas = 0;  ///< so many work at once; 0: as many as there are workers
  bool own_threads = false;  ///< each helper has a thread of its own
  bool hidden = false;       ///< as their master; see spawn_options::hidden
  std::string affinity{};    ///< where these threads run; see spawn_options::affinity
};

/// The helpers of an actor.
class team {
 public:
  /// Starts them. Throws std::runtime_error with the reason if one is refused.
  void assemble(actor_base& master, const team_options& o, const std::string& name) {
    on_own_threads_ = o.own_threads;
    const std::size_t all = o.replicas != 0 ? o.replicas : master.workers();
    spawn_options s;
    s.name = name + " helper";
    s.quantum = 1;  // each of its messages is for a millisecond's work: then it is others' turn
    s.linked = true;
    s.hidden = o.hidden;
    s.detached = o.own_threads;
    s.affinity = o.affinity;
    const std::size_t n = o.own_threads ? all : all - 1;
    for (std::size_t i = 0; i < n; ++i) {
      auto made = master.try_spawn<helper>(s);
      if (!made) throw std::runtime_error(made.error().to_string());
      helpers_.push_back(*std::move(made));
    }
  }

  /// Lets the team work, the master on its own turns. Returns when the master has taken part for a
  /// while, or at once if it works for another request: then, or later, the work ends.
  void begin(shared_work& work, actor_base& master, const hand& to_master) {
    if (work.size() == 0) return work.end_at_once();
    const std::shared_ptr<pace> expected = pace_of(work);
    work.notes_pace_in(expected);
    std::vector<hand> hands;
    if (!on_own_threads_) hands.push_back(to_master);
    hands.insert(hands.end(), helpers_.begin(), helpers_.end());
    const std::shared_ptr<shared_work> kept = work.shared_from_this();
    const std::size_t n = hands_for(work, *expected);
    const std::vector<hand> first(hands.begin(), hands.begin() + static_cast<std::ptrdiff_t>(n));
    work.belongs_to(std::move(hands), n, to_master, !on_own_threads_);
    for (std::size_t i = on_own_threads_ ? 0 : 1; i < n; ++i)
      send(first[i], work_on{kept, kept->seat_of(i)});
    if (!on_own_threads_) go_on({kept, kept->seat_of(0)}, master, to_master);
  }
  /// The master goes on.
  void go_on(work_on t, actor_base& master, const hand& to_master) {
    queue_.go_on(std::move(t), master, to_master);
  }

 private:
  /// How long the elements of such work have taken. Each function has its own: an accelerator is
  /// asked for several, and a cheap one says nothing of the others.
  [[nodiscard]] std::shared_ptr<pace> pace_of(const shared_work& work) {
    const std::type_info* const kind = &typeid(work);
    for (const auto& [of, known] : paces_)
      if (of == kind) return known;
    return paces_.emplace_back(kind, std::make_shared<pace>(0)).second;
  }
  /// How many should work on it, the master included if it takes part.
  [[nodiscard]] std::size_t hands_for(const shared_work& work,
                                      const pace& expected) const noexcept {
    const std::size_t all = helpers_.size() + (on_own_threads_ ? 0 : 1);
    const std::size_t most = std::min(all, work.most_hands());
    if (on_own_threads_) return most;
    // order: relaxed: a hint
    const std::uint64_t ps = expected.load(std::memory_order_relaxed);
    if (ps == 0) return most;
    return hands_worth(static_cast<double>(work.size()) * static_cast<double>(ps) / 1000, most);
  }

  std::vector<hand> helpers_;
  work_queue queue_;  ///< the master's
  std::vector<std::pair<const std::type_info*, std::shared_ptr<pace>>> paces_;
  bool on_own_threads_ = false;
};

}  // namespace garrick::patterns::detail
