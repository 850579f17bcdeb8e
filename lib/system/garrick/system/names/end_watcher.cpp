// The hidden actor: it monitors the given actors, and calls back.
#include <garrick/core/spawn.hpp>
#include <garrick/system/names/end_watcher.hpp>

namespace garrick::system {

namespace {

struct watch_for_end {
  core::address who;
};

class watching_actor final : public core::actor<core::protocol<void(watch_for_end)>> {
 public:
  watching_actor(end_watcher::callback ended, void* context) noexcept
      : ended_(ended), context_(context) {}
  void on(const watch_for_end& w) {
    monitor(w.who, [this](const core::down& d) { ended_(context_, d.who); });
  }

 private:
  const end_watcher::callback ended_;
  void* const context_;
};

}  // namespace

bool end_watcher::watch(const core::handle& who) {
  core::any_ref to;
  {
    const std::lock_guard guard(mutex_);
    if (closed_) return false;
    if (!actor_) {
      const core::spawn_options o{.name = name_, .hidden = true};
      actor_ = core::any_ref(
          core::detail::spawn_class<watching_actor>(env_, nullptr, &o, ended_, context_));
    }
    to = actor_;
  }
  if (!to || core::handle_access::get(to)->has_ended()) return false;
  // outside the lock: the send may run the watcher in place
  core::send(to, watch_for_end{who.address()});
  return true;
}

void end_watcher::close() noexcept {
  core::any_ref dropped;
  const std::lock_guard guard(mutex_);
  closed_ = true;
  dropped = std::move(actor_);
}

}  // namespace garrick::system
