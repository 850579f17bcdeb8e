#include <garrick/net/node/link/internal/watches.hpp>

namespace garrick::net::internal {

actor_id watches::watch(std::uint64_t number, const core::address& watcher, std::uint64_t own,
                        const core::address& target, const actor_id& target_id) {
  const actor_id id = names_.name(watcher);
  watching_.emplace(number, monitor{watcher, target, own, id, target_id});
  numbers_.emplace(watch_key{{}, watcher.id(), own}, number);
  return id;
}

std::optional<watches::told> watches::unwatch(const core::address& watcher, std::uint64_t own) {
  const auto known = numbers_.find({{}, watcher.id(), own});
  if (known == numbers_.end()) return {};
  const auto at = watching_.find(known->second);
  const told t{at->first, at->second.watcher_id};
  numbers_.erase(known);
  watching_.erase(at);
  names_.forget(t.id);
  return t;
}

bool watches::link_again(const actor_id& there, const core::address& here) {
  const auto at = linked_.find({there, here.id(), 0});
  if (at == linked_.end()) return false;
  at->second.set_here = true;
  return true;
}

actor_id watches::link(const core::address& here, const core::address& there,
                       const actor_id& there_id) {
  const actor_id id = names_.name(here);
  linked_.emplace(watch_key{there_id, here.id(), 0}, pair{here, there, id, true});
  return id;
}

std::optional<actor_id> watches::target_ended(const actor_id& watcher, std::uint64_t number,
                                              const core::address& dead) {
  const auto at = watched_.find({watcher, 0, number});
  if (at == watched_.end() || at->second.target != dead) return {};
  const actor_id id = at->second.target_id;
  watched_.erase(at);
  names_.forget(id);
  return id;
}

bool watches::watched_by(const monitor& m) {
  if (!watched_.try_emplace({m.watcher_id, 0, m.number}, m).second) return false;
  static_cast<void>(names_.name(m.target));
  return true;
}

std::pair<watches::pair, bool> watches::linked_by(const actor_id& there, const pair& p) {
  const auto [at, is_new] = linked_.try_emplace({there, p.here.id(), 0}, p);
  if (is_new) static_cast<void>(names_.name(p.here));
  return {at->second, is_new};
}

std::optional<watches::monitor> watches::unwatched_by(const actor_id& watcher, std::uint64_t number,
                                                      const actor_id& target) {
  const auto at = watched_.find({watcher, 0, number});
  if (at == watched_.end() || at->second.target_id != target) return {};
  const monitor m = at->second;
  watched_.erase(at);
  names_.forget(m.target_id);
  return m;
}

std::optional<watches::monitor> watches::answered(std::uint64_t number, const actor_id& watcher) {
  const auto at = watching_.find(number);
  if (at == watching_.end() || at->second.watcher_id != watcher) return {};
  const monitor m = at->second;
  watching_.erase(at);
  numbers_.erase({{}, m.watcher.id(), m.number});
  names_.forget(m.watcher_id);
  return m;
}

std::optional<watches::pair> watches::unlink(const actor_id& there, const core::address& here) {
  const auto at = linked_.find({there, here.id(), 0});
  if (at == linked_.end()) return {};
  const pair p = at->second;
  linked_.erase(at);
  names_.forget(p.here_id);
  return p;
}

}  // namespace garrick::net::internal
