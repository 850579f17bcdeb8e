// The threads themselves: each waits for a cell, runs it until it ends, and waits for the next.
#include <garrick/base/concurrency/forked.hpp>
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/system/threads/detached_pool.hpp>
#include <garrick/system/threads/internal/thread_slot.hpp>

#include <array>
#include <cstdio>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace garrick::system {

namespace {

/// Returns the error; without memory for the text, its code alone.
base::error no_thread(std::string_view why) noexcept {
  return base::make_error(base::errc::spawn_failed, "no thread for a detached actor", why);
}

base::error at_bound(std::uint32_t bound) noexcept {
  if (bound == 0) return no_thread("detached.threads is 0");
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(),
                "detached.threads is %u, and so many serve an actor already", bound);
  return no_thread(text.data());
}

base::error refused_by_system(const std::system_error& e) noexcept {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "the operating system refuses one (%s)", e.what());
  return no_thread(text.data());
}

}  // namespace

class detached_thread final : public core::waiting_executor {
  using slot = thread_slot<base::runnable>;

 public:
  detached_thread(detached_pool& pool, std::size_t kind, sched::affinity::processors own)
      : pool_(pool), kind_(kind), own_(std::move(own)), thread_([this] { loop(); }) {}
  ~detached_thread() {
    slot_.tell_quit();
    thread_.join();
  }

  void schedule(base::runnable& r) noexcept override {
    if (base::fork_count() != made_after_) base::refuse_in_child("a message was sent");
    slot_.give(r);
  }
  bool wait(std::int64_t limit_ns) noexcept override { return slot_.wait(limit_ns); }
  /// Gives the thread back, perhaps during the last run of this actor. A runnable of its next actor
  /// waits in the slot until that run has ended.
  void actor_ended() noexcept override { pool_.give_back(this); }

  // Called while no actor has the thread, under the pool's lock.
  [[nodiscard]] std::size_t kind() const noexcept { return kind_; }
  /// Prepares the thread for its next actor: the actor's kind, and the processors that its options
  /// name, or none.
  void become(std::size_t kind, sched::affinity::processors own) noexcept {
    if (kind == kind_ && own.empty() && own_.empty()) return;
    kind_ = kind;
    own_ = std::move(own);
    moves_ = true;
  }

 private:
  void loop() noexcept {
    base::platform::name_this_thread(pool_.thread_name_);
    pool_.enter(base::this_thread);
    if (pool_.hooks_.begin != nullptr) pool_.hooks_.begin();
    serve();
    if (pool_.hooks_.end != nullptr) pool_.hooks_.end();
    pool_.leave(base::this_thread);
  }

  void serve() noexcept {
    while (base::runnable* const next = slot_.next()) {
      if (std::exchange(moves_, false)) move();
      std::uint32_t budget = pool_.quantum_;
      while (next->run(budget) == base::run_outcome::more) budget = pool_.quantum_;
      if (base::fork_count() != made_after_)
        base::refuse_in_child("a handler returned to a detached actor's thread");
    }
  }

  /// Binds the thread to the processors of its actor or, without any, of its kind. A refusal by the
  /// operating system is ignored: the texts were checked when the system was built, or at the
  /// spawn.
  void move() noexcept {
    if (!own_.empty()) return static_cast<void>(base::platform::bind_this_thread(own_));
    sched::affinity& where = kind_ == 1 ? pool_.places_.blocking : pool_.places_.detached;
    if (where.empty())
      static_cast<void>(base::platform::bind_this_thread(pool_.anywhere_));
    else
      static_cast<void>(where.bind_this_thread());
  }

  detached_pool& pool_;
  const std::uint32_t made_after_ = base::watch_forks();
  std::size_t kind_;  ///< changed by the pool while no actor has the thread, like the next two
  sched::affinity::processors own_;  ///< the processors that its actor's options name
  bool moves_ = true;                ///< true: bind the thread before the next run
  slot slot_;
  std::thread thread_;  // last: it uses all others
};

detached_pool::detached_pool(std::uint32_t bound, std::uint32_t quantum, std::string thread_name,
                             places where, thread_hooks hooks)
    : bound_(bound),
      quantum_(quantum),
      thread_name_(std::move(thread_name) + "-own"),
      hooks_(hooks),
      places_(std::move(where)),
      anywhere_(base::platform::usable_processors()) {}

detached_pool::~detached_pool() { stop(); }

base::result<core::waiting_executor*> detached_pool::take(bool blocking,
                                                          std::string_view affinity) noexcept {
  if (affinity.empty()) return take_for(kind_of(blocking), {});
  try {
    auto own = sched::affinity::parse_group(affinity, anywhere_);
    if (own) return take_for(kind_of(blocking), std::move(*own));
    return no_thread("spawn_options." + std::string(own.error().detail()));
  } catch (const std::bad_alloc&) { return no_thread("there is no memory for its affinity"); }
}

base::result<core::waiting_executor*> detached_pool::take_for(
    std::size_t kind, sched::affinity::processors own) noexcept {
  const std::lock_guard guard(mutex_);
  if (stopped_) return base::errc::shutting_down;
  const bool full = all_.size() >= bound_;
  if (auto& from = !full || !free_[kind].empty() ? free_[kind] : free_[1 - kind]; !from.empty()) {
    detached_thread* const free_one = from.back();
    from.pop_back();
    free_one->become(kind, std::move(own));
    return free_one;
  }
  if (full) return at_bound(bound_);
  try {
    // Memory first, so that nothing fails once the thread runs: neither here nor in `enter` and
    // `give_back`.
    for (auto& f : free_) f.reserve(all_.size() + 1);
    states_.reserve(all_.size() + 1);
    all_.reserve(all_.size() + 1);
    all_.push_back(std::make_unique<detached_thread>(*this, kind, std::move(own)));
  } catch (const std::system_error& e) {
    return refused_by_system(e);
  } catch (const std::bad_alloc&) { return no_thread("there is no memory for one"); }
  return all_.back().get();
}

void detached_pool::give_back(detached_thread* t) noexcept {
  const std::lock_guard guard(mutex_);
  if (!stopped_) free_[t->kind()].push_back(t);
}

void detached_pool::enter(const base::thread_state& t) noexcept {
  const std::lock_guard guard(mutex_);
  states_.push_back(&t);
}

void detached_pool::leave(const base::thread_state& t) noexcept {
  const std::lock_guard guard(mutex_);
  std::erase(states_, &t);
}

void detached_pool::stop() noexcept {
  std::vector<std::unique_ptr<detached_thread>> threads;
  {
    const std::lock_guard guard(mutex_);
    stopped_ = true;
    for (auto& f : free_) f.clear();
    threads.swap(all_);
  }
  threads.clear();  // joins
}

std::uint32_t detached_pool::in_use() const noexcept {
  const std::lock_guard guard(mutex_);
  return static_cast<std::uint32_t>(all_.size() - free_[0].size() - free_[1].size());
}

}  // namespace garrick::system
