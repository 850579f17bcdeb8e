#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/testkit/internal/deterministic_core.hpp>
#include <garrick/testkit/internal/leak_check.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstdio>

namespace garrick::testkit {

namespace {

options with_seed(std::uint64_t seed) {
  options o;
  o.seed = seed;
  return o;
}

}  // namespace

test_system::test_system(std::uint64_t seed) : test_system(with_seed(seed)) {}

test_system::test_system(const options& o)
    : core_(new internal::deterministic_core(o)),
      saved_next_id_(core::detail::here.next_id),
      saved_last_id_(core::detail::here.last_id) {
  core::detail::here.next_id = core_->next_id;
  core::detail::here.last_id = ~std::uint64_t{0};
}

test_system::~test_system() {
  if (!finished_) {
    try {
      for (const std::string& who : finish().cycles)
        std::fprintf(stderr,
                     "testkit: leak: nothing but each other's handles kept these actors alive: %s "
                     "(seed %llu)\n",
                     who.c_str(), static_cast<unsigned long long>(seed()));
    } catch (const std::exception& x) {
      std::fprintf(stderr, "testkit: the system does not come to its end: %s\n", x.what());
    }
  }
  core_->stop();
  core::detail::here.next_id = saved_next_id_;
  core::detail::here.last_id = saved_last_id_;
  core_->release();
}

std::uint64_t test_system::seed() const noexcept { return core_->settings_of().seed; }
core::environment& test_system::env() noexcept { return *core_; }
system::registry& test_system::registry() noexcept { return core_->names().names; }
system::groups& test_system::groups() noexcept { return core_->names().topics; }

// ---- letting actors run -------------------------------------------------------------------------

bool test_system::step() {
  while (!core_->idle())
    if (core_->turn(1)) return true;
  return false;
}

std::uint64_t test_system::run() {
  const std::uint64_t before = core_->messages_handled();
  for (std::uint64_t turns = 0; !core_->idle(); ++turns) {
    if (turns >= core_->settings_of().turn_limit)
      fail("still busy after " + std::to_string(turns) +
               " turns: a livelock, or options.turn_limit is too low",
           std::source_location::current());
    core_->turn();
  }
  return core_->messages_handled() - before;
}

std::uint64_t test_system::run_for(base::duration d) {
  const base::instant end = now() + d;
  std::uint64_t handled = run();
  for (;;) {
    const base::instant next = core_->time().next_deadline();
    if (next.is_never() || next > end) break;
    core_->time().advance_to(next);
    handled += run();
  }
  core_->time().advance_to(end);
  return handled + run();
}

std::size_t test_system::advance(base::duration d) { return core_->time().advance(d); }

bool test_system::run_until(const std::function<bool()>& done, base::duration limit) {
  const base::instant end = now() + limit;
  for (std::uint64_t turns = 0; !done(); ++turns) {
    if (turns >= core_->settings_of().turn_limit) return false;
    if (step()) continue;
    const base::instant next = core_->time().next_deadline();
    if (next.is_never() || next > end) return done();
    core_->time().advance_to(next);
  }
  return true;
}

base::instant test_system::now() const { return core_->time().now(); }
bool test_system::idle() const { return core_->idle(); }
std::size_t test_system::timers_pending() const { return core_->time().pending(); }

// ---- expectations: state ------------------------------------------------------------------------

void test_system::fail(const std::string& text, const std::source_location& where) const {
  throw failure(text + "\n  at " + place_of(where) + ", seed " + std::to_string(seed()) +
                    " (GARRICK_SEED=" + std::to_string(seed()) + " replays it)" + core_->history(),
                seed());
}

void test_system::require(bool holds, const std::string& text, std::source_location where) {
  if (!holds) fail(text, where);
}

void test_system::expect_alive(const core::handle& who, std::source_location where) {
  core::cell& c = core::detail::target_of(who);
  if (c.has_ended())
    fail(who.to_string() + " should live, but it ended: " + c.end_reason().to_string(), where);
}

void test_system::expect_down(const core::handle& who, std::source_location where) {
  core::cell& c = core::detail::target_of(who);
  // Signals come before messages, so an actor with nothing but signals may go on.
  if (!c.has_ended() && core_->find(c) != nullptr &&
      (core_->signals_wait_for(c) || c.phase() == core::life::ending))
    core_->turn_of(c);
  if (!c.has_ended()) fail(who.to_string() + " should have ended, but it lives", where);
}

void test_system::expect_down(const core::handle& who, base::exit_code reason,
                              std::source_location where) {
  expect_down(who, where);
  const base::exit_reason found = core::detail::target_of(who).end_reason();
  if (!(found == reason))
    fail(who.to_string() + " should have ended with \"" + base::exit_reason(reason).to_string() +
             "\", but it ended with \"" + found.to_string() + "\"",
         where);
}

lost_message test_system::expect_dead_letter(base::errc reason, std::source_location where) {
  return take_dead_letter({}, reason, where);
}

lost_message test_system::take_dead_letter(std::string_view type, base::errc reason,
                                           const std::source_location& where) {
  std::string others;
  for (lost_message& m : core_->lost()) {
    if (!m.expected && m.reason == reason && (type.empty() || m.type == type)) {
      m.expected = true;
      return m;
    }
    if (!m.expected)
      others +=
          "\n    " + m.content + " for " + core_->name_of(m.receiver) + ": " + m.reason.to_string();
  }
  fail("expected a dead letter" + (type.empty() ? std::string() : " " + std::string(type)) +
           " because \"" + base::error(reason).to_string() + "\"" +
           (others.empty() ? ", but there is none" : ", but there are only:" + others),
       where);
}

void test_system::expect_no_dead_letters(std::source_location where) {
  for (const lost_message& m : core_->lost())
    if (!m.expected)
      fail("unexpected dead letter: " + m.content + " for " + core_->name_of(m.receiver) + ": " +
               m.reason.to_string(),
           where);
}

const std::vector<lost_message>& test_system::dead_letters() const { return core_->lost(); }
const std::vector<std::string>& test_system::failures() const { return core_->failures(); }

core::cell& test_system::checked_cell(const core::handle& who, std::string_view type,
                                      const std::source_location& where) const {
  core::cell& c = core::detail::target_of(who);
  if (c.has_ended()) fail("cannot inspect " + who.to_string() + ": it has ended", where);
  if (c.type_name() != type)
    fail("cannot inspect " + who.to_string() + " as " + std::string(type) + ": it is a " +
             std::string(c.type_name()),
         where);
  return c;
}

std::vector<std::string> test_system::mailbox(const core::handle& who) const {
  std::vector<std::string> all;
  for (const core::envelope* e : core_->waiting_for(core::detail::target_of(who)))
    e->type->print(core::content_pointer(e), all.emplace_back());
  return all;
}

std::vector<std::string> test_system::living() const {
  std::vector<std::string> names;
  for (core::cell* c : core_->living())
    if (c->ext_if() == nullptr || !c->ext_if()->hidden) names.push_back(core_->name_of(c->id()));
  return names;
}

// ---- the end ------------------------------------------------------------------------------------

leak_report test_system::finish() {
  finished_ = true;
  const auto run_all = [this] { run(); };
  run_all();
  core_->refuse_spawns();
  core_->names().seal();  // who has a name stays known to somebody until the end
  run_all();
  leak_report report;
  report.cycles = internal::end_all_actors(*core_, run_all);
  return report;
}

void test_system::expect_no_leaks(std::source_location where) {
  const leak_report report = finish();
  std::string text;
  for (const std::string& who : report.cycles) text += "\n    " + who;
  if (!text.empty())
    fail("nothing but each other's handles kept these actors alive:" + text, where);
}

}  // namespace garrick::testkit
