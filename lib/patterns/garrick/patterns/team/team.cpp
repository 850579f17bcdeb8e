#include "garrick/patterns/team/team.hpp"

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

/// A helper of a team, which works on the requests that it is told of.
class helper final : public actor<protocol<void(work_on)>> {
 public:
  void on(work_on t) { queue_.go_on(std::move(t), *this, this->self()); }

 private:
  work_queue queue_;
};

void team::assemble(actor_base& master, const team_options& o, const std::string& name) {
  on_own_threads_ = o.own_threads;
  const std::size_t all = o.replicas != 0 ? o.replicas : master.workers();
  spawn_options s;
  s.name = name + " helper";
  s.quantum = 1;  // each of its messages is for a millisecond's work: then others have their turn
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

void team::begin(shared_work& work, actor_base& master, const hand& to_master) {
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

std::shared_ptr<pace> team::pace_of(const shared_work& work) {
  const std::type_info* const kind = &typeid(work);
  for (const auto& [of, known] : paces_)
    if (of == kind) return known;
  return paces_.emplace_back(kind, std::make_shared<pace>(0)).second;
}

std::size_t team::hands_for(const shared_work& work, const pace& expected) const noexcept {
  const std::size_t all = helpers_.size() + (on_own_threads_ ? 0 : 1);
  const std::size_t most = std::min(all, work.most_hands());
  if (on_own_threads_) return most;
  // order: relaxed: a hint
  const std::uint64_t ps = expected.load(std::memory_order_relaxed);
  if (ps == 0) return most;
  return hands_worth(static_cast<double>(work.size()) * static_cast<double>(ps) / 1000, most);
}

}  // namespace garrick::patterns::detail
