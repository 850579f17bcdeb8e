// The registry and the groups of one system, and the functions by which an actor reaches them.
//
//   garrick::registry_of(*this).get<query>("prices")     in an actor
//   garrick::groups_of(*this).get<news>("news")
//
// Both the actor system and the testkit's deterministic system have a directory. An actor finds the
// directory of its own system.
//
// Thread safety: the directory: any thread; `registry_of` and `groups_of`: the actor's turn. The
// directory lives as long as the system's environment.
#pragma once

#include <garrick/core/actor.hpp>
#include <garrick/core/seam/environment.hpp>
#include <garrick/system/names/groups.hpp>
#include <garrick/system/names/registry.hpp>

namespace garrick::system {

/// The registry and the groups in an actor's environment. Any thread.
class directory final : public core::facilities {
 public:
  /// Offers itself to the actors of `env`, which outlives it.
  explicit directory(core::environment& env) noexcept : names(env), topics(env) {
    env.offered = this;
  }

  /// Refuses later names and memberships; see `registry::seal` and `groups::seal`.
  void seal() noexcept {
    names.seal();
    topics.seal();
  }
  /// Forgets all actors: no handle may outlive the system's threads.
  void close() noexcept {
    names.close();
    topics.close();
  }

  registry names;  ///< actors by name
  groups topics;   ///< actors by the topics that they have joined
};

namespace detail {
[[nodiscard]] directory& directory_of(const core::actor_base& self) noexcept;
}

/// Returns the registry of the system that this actor lives in. Call it on the actor's turn; the
/// reference is valid as long as the actor lives. Aborts in an environment without a directory.
[[nodiscard]] inline registry& registry_of(const core::actor_base& self) noexcept {
  return detail::directory_of(self).names;
}
/// Returns the groups of the system that this actor lives in, under the rules of `registry_of`.
[[nodiscard]] inline groups& groups_of(const core::actor_base& self) noexcept {
  return detail::directory_of(self).topics;
}

}  // namespace garrick::system
