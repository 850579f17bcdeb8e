// Work stealing that knows the machine (paper 002 of docs/papers.md): thieves ask their neighbours
// first, and an actor goes back to the worker where it first ran, since its memory is there.
//
// It is work_stealing with a guide: queues, parking and their proofs are the same. The guide
// chooses the worker for a runnable (home_rule.hpp), its home, and the order in which a thief asks
// (worker_places.hpp). Soft pinning: any worker may steal anything, but a stolen runnable goes home
// the next time.
//
// Thread safety: see policy.hpp.
//
// Invariants
// G1 A guide only names workers: every runnable is in exactly one queue or with one worker,
//    whatever its home.
// G2 A home is the index of a worker of this pool. A hint with another index, such as one from a
//    larger pool, counts as no hint.
// G3 A thief that found nothing on its walk visits all others once before it parks, so that homes
//    strand nothing (W1 of work_stealing.hpp, S6 of sleepers.hpp).
#pragma once

#include <garrick/sched/places/worker_places.hpp>
#include <garrick/sched/policies/work_stealing.hpp>

#include <vector>

namespace garrick::sched {

/// The guide that knows places. Any worker may call any function; a thread that is not a worker may
/// call only `target`.
template <class Atomics = base::real_atomics>
class locality_guide {
 public:
  static constexpr bool active = true;                         ///< work_stealing asks it
  static constexpr std::string_view name = "locality_guided";  ///< of the policy with this guide

  /// Requires `options.places`, and that they outlive the guide.
  explicit locality_guide(const policy_options& options)
      : places_(*options.places), next_of_node_(options.places->machine().node_count()) {}

  /// Returns the victims of `thief`, one after the other.
  [[nodiscard]] victim_walk walk(worker_index thief) const noexcept { return {places_, thief}; }

  /// Returns true if `thief` may take many runnables at once from `victim`; false if their homes
  /// are far from the thief.
  [[nodiscard]] bool are_neighbours(worker_index thief, worker_index victim) const noexcept {
    return places_.are_neighbours(thief, victim);
  }

  /// Returns the worker for `r`, which has become runnable through the worker `sender` or through a
  /// thread that is not a worker (`no_worker`). A new `r` gets its place.
  [[nodiscard]] worker_index target(base::runnable& r, worker_index sender) noexcept {
    const hint wish = r.place.get();
    if ((wish.what() == kind::settled || wish.what() == kind::placed) &&
        wish.value() < places_.size()) [[likely]]
      return worker_for(wish.value(), sender, neighbours());
    return place(r, wish, sender);
  }

  /// Called before `r` runs at `executing`. Before the first run, that worker or the place of `r`
  /// becomes its home.
  void before_run(base::runnable& r, worker_index executing) noexcept {
    const hint h = r.place.get();
    if (h.what() != kind::placed) [[likely]]
      return;
    r.place.set(hint(kind::settled, home_at_first_run(h.value(), executing, neighbours())));
  }

  /// Returns true if a sender at `worker` may run `r` in place; false if the home of `r` is far
  /// from there.
  [[nodiscard]] bool may_run_at(const base::runnable& r, worker_index worker) const noexcept {
    const hint h = r.place.get();
    return (h.what() != kind::settled && h.what() != kind::placed) || h.value() >= places_.size() ||
           places_.are_neighbours(h.value(), worker);
  }

 private:
  using hint = base::locality_hint;
  using kind = hint::kind;
  using counter = typename Atomics::template atomic<std::uint32_t>;

  [[nodiscard]] auto neighbours() const noexcept {
    return [this](worker_index a, worker_index b) { return places_.are_neighbours(a, b); };
  }

  worker_index place(base::runnable& r, hint h, worker_index sender) noexcept {
    worker_index at = sender;
    kind now = kind::placed;
    switch (h.what()) {
      case kind::spread: at = in_turn(next_spread_); break;
      case kind::hub:
        at = in_turn(next_spread_);
        now = kind::settled;
        break;
      case kind::node:
        if (places_.of_node(h.value()).empty()) break;  // G2: as if `r` had no wish
        at = next_of_node(h.value());
        now = kind::settled;
        break;
      default: break;
    }
    if (at == no_worker) at = in_turn(next_);
    r.place.set(hint(now, at));
    return at;
  }

  /// Returns the next worker in turn. Workers are numbered across the nodes, so two consecutive
  /// workers are on different nodes, and a node gets as many actors as it has workers.
  worker_index in_turn(counter& of) noexcept {
    return static_cast<worker_index>(turn(of) % places_.size());
  }
  worker_index next_of_node(std::uint32_t node) noexcept {
    const auto workers = places_.of_node(node);
    return workers[turn(next_of_node_[node]) % workers.size()];
  }
  static std::uint32_t turn(counter& of) noexcept {
    return of.fetch_add(1, std::memory_order_relaxed);  // order: relaxed; any distribution will do
  }

  const worker_places& places_;
  // `spread` and `hub` share a counter; other wishes, and each node, have their own. Kinds of
  // wishes that come in step would leave out workers if they shared one.
  counter next_{0};
  counter next_spread_{0};
  std::vector<counter> next_of_node_;
};

/// The policy for machines with several memory nodes.
template <class Traits = real_traits>
using locality_guided = work_stealing<Traits, locality_guide<typename Traits::atomics>>;

}  // namespace garrick::sched
