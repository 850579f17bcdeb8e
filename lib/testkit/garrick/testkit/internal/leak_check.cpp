// Ends the actors one after the other, and counts handles before and after each end.
#include <garrick/core/actor.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/seam/running.hpp>
#include <garrick/testkit/internal/deterministic_environment.hpp>
#include <garrick/testkit/internal/leak_check.hpp>

namespace garrick::testkit::internal {

namespace {

/// An actor that lived when the check began. The address keeps its block, so its counts can be read
/// after its end.
struct suspect {
  core::address who;
  std::string name;
  std::uint32_t handles = 0;
  bool known_outside = false;  ///< held from outside of any cycle, or it can wake

  [[nodiscard]] core::cell& cell() const noexcept { return *core::handle_access::get(who); }
  [[nodiscard]] std::uint32_t handles_now() const noexcept { return cell().handles_now(); }
};

bool can_be_woken(core::cell& c) {
  const core::cell_extension* const ext = c.ext_if();
  if (ext == nullptr) return false;
  if (ext->idle_timer != nullptr || ext->pending.active() != 0) return true;
  for (const core::timer_record* timer = ext->timers.first(); timer != nullptr;
       timer = timer->next_listed())
    if (timer->active()) return true;
  return false;
}

}  // namespace

std::vector<std::string> end_all_actors(deterministic_environment& system,
                                        const std::function<void()>& run_all) {
  std::vector<suspect> all;
  for (core::cell* c : system.living()) {
    suspect& s = all.emplace_back();
    s.who = core::handle_access::make_address(c);
    s.name = system.past().name_of(c->id());
    s.known_outside = can_be_woken(*c);
  }
  // Actors of other systems are not ended here, but may be part of a cycle and end with it.
  std::vector<suspect> elsewhere;
  for (core::cell* c : system.living_elsewhere()) {
    suspect& s = elsewhere.emplace_back();
    s.who = core::handle_access::make_address(c);
    s.name = system.past().name_of(c->id());
  }
  std::vector<std::string> cycles;
  for (suspect& one : all) {
    if (one.cell().has_ended()) continue;
    std::vector<bool> lived;
    for (suspect& other : all) {
      other.handles = other.handles_now();
      lived.push_back(!other.cell().has_ended());
    }
    std::erase_if(elsewhere, [](const suspect& s) { return s.cell().has_ended(); });
    core::detail::kill_cell(one.who, base::exit_code::user_shutdown, true);
    run_all();
    const bool held = one.handles_now() != 0 || one.known_outside;
    std::string text = one.name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      suspect& other = all[i];
      if (&other == &one || !lived[i]) continue;
      // `one` had a handle to `other`, and `one` has another holder
      if (held && other.handles_now() < other.handles) other.known_outside = true;
      if (!held && other.cell().has_ended()) text += ", " + other.name;
    }
    if (held) continue;
    for (const suspect& other : elsewhere)
      if (other.cell().has_ended()) text += ", " + other.name;
    cycles.push_back(text);
  }
  // Spawns during the ends were refused. Actors that still live are ended again, in at most three
  // rounds.
  for (int round = 0; round < 3 && !system.living().empty(); ++round) {
    for (core::cell* c : system.living())
      core::detail::kill_cell(core::handle_access::make_address(c), base::exit_code::user_shutdown,
                              true);
    run_all();
  }
  return cycles;
}

}  // namespace garrick::testkit::internal
