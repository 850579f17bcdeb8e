// The registry and the groups of one system, and the way from an actor to them.
//
//   garrick::registry_of(*this).get<query>("prices")     in an actor
//   garrick::groups_of(*this).get<news>("news")
//
// Both the actor system and the testkit's deterministic system have a directory, so an actor finds
// the one that it lives in.
//
// Thread safety: any thread; the two functions: the actor's turn. Lifetime: as the system's
// environment.
#pragma once

#include <garrick/core/actor.hpp>
#include <garrick/core/cell/environment.hpp>
#include <garrick/system/names/groups.hpp>
#include <garrick/system/names/registry.hpp>

namespace garrick::system {

class directory final : public core::facilities {
 public:
  explicit directory(core::environment& env) noexcept : names(env), topics(env) {
    env.offered = this;
  }

  void seal() noexcept {
    names.seal();
    topics.seal();
  }
  void close() noexcept {
    names.close();
    topics.close();
  }

  registry names;
  groups topics;
};

namespace detail {
[[nodiscard]] directory& directory_of(const core::actor_base& self) noexcept;
}

/// The registry of the system that this actor lives in.
[[nodiscard]] inline registry& registry_of(const core::actor_base& self) noexcept {
  return detail::directory_of(self).names;
}
/// The groups of the system that this actor lives in.
[[nodiscard]] inline groups& groups_of(const core::actor_base& self) noexcept {
  return detail::directory_of(self).topics;
}

}  // namespace garrick::system
