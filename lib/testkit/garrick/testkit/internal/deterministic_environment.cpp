// The interface of a deterministic system to core, and to the testkit.
#include <garrick/core/message.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/seam/running.hpp>
#include <garrick/testkit/internal/deterministic_environment.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace garrick::testkit::internal {

namespace {

constexpr std::uint32_t letters_waiting = 10'000;

base::error no_thread(std::string_view why) {
  return base::make_error(base::errc::spawn_failed, "no thread for a detached actor", why);
}

}  // namespace

deterministic_environment::deterministic_environment(deterministic_world& world,
                                                     const settings& given)
    : settings_(given), world_(world), event_actors_(world.scheduler()), letters_(letters_waiting) {
  mailbox = given.mailbox;
  requests = given.requests;
  workers = &event_actors_;
  probe = given.probe;
  base::clock_service& time = given.clock != nullptr ? *given.clock : world.time();
  clock = &time;
  timers = &time;
  lot = &drain_lot_;
  if (requests.detect_cycles) waits = &wait_graph_;
}

void deterministic_environment::stop() noexcept {
  letters_.close();
  directory_.close();
  event_actors_.stop();
  scheduler().forget([this](const candidate& c) {
    return std::any_of(threads_.begin(), threads_.end(),
                       [&](const auto& mine) { return c.thread == mine.get(); });
  });
  threads_.clear();
}

// ---- core::environment --------------------------------------------------------------------------

void deterministic_environment::dead_letter(const core::undelivered& what) noexcept {
  if (probe != nullptr)
    probe->on_dead_letter(what.receiver, what.sender, what.descriptor, what.reason);
  lost_message& letter = lost_.emplace_back();
  letter.sender = what.sender;
  letter.receiver = what.receiver;
  letter.type = what.type;
  letter.content = core::print_content(what);
  letter.reason = what.reason;
  letters_.take(what);
}

bool deterministic_environment::joined(core::cell& who) noexcept {
  if (closed_) return false;
  actors_.add(who, 0);
  world_.past().name(who.id(), who.name());
  return true;
}

void deterministic_environment::left(core::cell& who) noexcept {
  if (probe != nullptr) probe->on_actor_ended(who.id(), who.end_reason());
  actors_.remove(who);
}

void deterministic_environment::failed(const core::cell& who, const base::error& why) noexcept {
  // order: own thread's value
  const base::message_type* const handling =
      base::this_thread.handling.load(std::memory_order_relaxed);
  if (probe != nullptr) probe->on_actor_failed(who.id(), handling, why);
  failures_.push_back(world_.past().add_failure(who.id(), why.to_string()));
}

base::result<core::waiting_executor*> deterministic_environment::detached_executor(
    bool, std::string_view) noexcept {
  for (const auto& t : threads_) {
    if (!t->is_free()) continue;
    t->reuse();
    return t.get();
  }
  if (threads_.size() >= settings_.threads)
    return no_thread("the test's settings.threads is " + std::to_string(settings_.threads));
  try {
    return threads_.emplace_back(std::make_unique<baton_thread>(scheduler())).get();
  } catch (const std::exception& e) { return no_thread(e.what()); }
}

core::waiting_executor* deterministic_environment::executor_of_scoped(core::cell& who) noexcept {
  std::erase_if(waits_, [](const auto& w) { return w->over; });
  return waits_.emplace_back(std::make_unique<driving_wait>(scheduler(), who, settings_.turn_limit))
      .get();
}

// ---- for the testkit ----------------------------------------------------------------------------

std::vector<core::cell*> deterministic_environment::living() const {
  std::vector<core::cell*> all;
  actors_.for_each([&](core::cell& who) { all.push_back(&who); });
  std::reverse(all.begin(), all.end());  // in the order in which they were spawned
  return all;
}

std::vector<core::cell*> deterministic_environment::living_elsewhere() const {
  std::vector<core::cell*> all;
  for (core::environment* const one : world_.systems()) {
    if (one == this) continue;
    // all systems of a world have this type
    const auto of_it = static_cast<const deterministic_environment*>(one)->living();
    all.insert(all.end(), of_it.begin(), of_it.end());
  }
  return all;
}

}  // namespace garrick::testkit::internal
