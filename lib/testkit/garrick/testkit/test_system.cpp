// The functions of the deterministic system that tests call.
#include <garrick/base/settings/setting_table.hpp>
#include <garrick/core/seam/running.hpp>
#include <garrick/testkit/internal/deterministic_environment.hpp>
#include <garrick/testkit/internal/leak_check.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace garrick::testkit {

namespace {

settings with_seed(std::uint64_t seed) {
  settings values;
  values.seed = seed;
  return values;
}

/// Returns the settings. Throws the exceptions of an actor system if they are wrong.
const settings& checked(const settings& values) {
  core::mailbox_settings mailbox = values.mailbox;
  core::request_settings requests = values.requests;
  base::setting_table table;
  core::add_settings(table, mailbox, requests);
  if (const auto refused = table.first_refused()) throw std::invalid_argument(refused->why);
  return values;
}

}  // namespace

test_system::test_system(std::uint64_t seed) : test_system(with_seed(seed)) {}

test_system::test_system(const settings& values) : test_system(test_world(values.seed), values) {}

test_system::test_system(const test_world& world, const settings& values)
    : world_(world),
      system_(new internal::deterministic_environment(*world_.world_, checked(values))) {
  world_.world_->enter(*system_);
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
  system_->stop();
  world_.world_->leave();
  system_->release();
}

std::uint64_t test_system::seed() const noexcept { return world_.seed(); }
core::environment& test_system::env() noexcept { return *system_; }
system::registry& test_system::registry() noexcept { return system_->names().names; }
system::groups& test_system::groups() noexcept { return system_->names().topics; }

// ---- letting actors run -------------------------------------------------------------------------

bool test_system::step() {
  while (!system_->scheduler().idle())
    if (system_->scheduler().turn(1)) return true;
  return false;
}

std::uint64_t test_system::run() {
  const std::uint64_t before = system_->past().messages_handled();
  for (std::uint64_t turns = 0; !system_->scheduler().idle(); ++turns) {
    if (turns >= system_->given().turn_limit)
      detail::fail(*system_,
                   "still busy after " + std::to_string(turns) +
                       " turns: a livelock, or settings.turn_limit is too low",
                   std::source_location::current());
    system_->scheduler().turn();
  }
  return system_->past().messages_handled() - before;
}

std::uint64_t test_system::run_for(base::duration d) {
  const base::instant end = now() + std::max(d, base::duration());
  std::uint64_t handled = run();
  for (;;) {
    const base::instant next = system_->time().next_deadline();
    if (next.is_never() || next > end) break;
    system_->time().advance_to(next);
    handled += run();
  }
  system_->time().advance_to(end);
  return handled + run();
}

std::size_t test_system::advance(base::duration d) {
  return system_->time().advance(std::max(d, base::duration()));
}

bool test_system::run_until(const std::function<bool()>& done, base::duration limit) {
  const base::instant end = now() + limit;
  for (std::uint64_t turns = 0; !done(); ++turns) {
    if (turns >= system_->given().turn_limit) return false;
    if (step()) continue;
    const base::instant next = system_->time().next_deadline();
    if (next.is_never() || next > end) return done();
    system_->time().advance_to(next);
  }
  return true;
}

base::instant test_system::now() const { return system_->time().now(); }
bool test_system::idle() const { return system_->scheduler().idle(); }
std::size_t test_system::timers_pending() const { return system_->time().pending(); }

// ---- expectations: state ------------------------------------------------------------------------

void test_system::require(bool holds, const std::string& text, std::source_location where) {
  if (!holds) detail::fail(*system_, text, where);
}

void test_system::expect_alive(const core::handle& who, std::source_location where) {
  core::cell& cell = core::detail::target_of(who, "expect_alive()");
  if (cell.has_ended())
    detail::fail(*system_,
                 who.to_string() + " should live, but it ended: " + cell.end_reason().to_string(),
                 where);
}

void test_system::expect_down(const core::handle& who, std::source_location where) {
  core::cell& cell = core::detail::target_of(who, "expect_down()");
  // Signals are handled before messages, so a turn of an actor with signals handles these.
  if (!cell.has_ended() && system_->scheduler().find(cell) != nullptr &&
      (system_->scheduler().signals_wait_for(cell) || cell.phase() == core::life::ending))
    system_->scheduler().turn_of(cell);
  if (!cell.has_ended())
    detail::fail(*system_, who.to_string() + " should have ended, but it lives", where);
}

void test_system::expect_down(const core::handle& who, base::exit_code reason,
                              std::source_location where) {
  expect_down(who, where);
  const base::exit_reason found = core::detail::target_of(who, "expect_down()").end_reason();
  if (!(found == reason))
    detail::fail(*system_,
                 who.to_string() + " should have ended with \"" +
                     base::exit_reason(reason).to_string() + "\", but it ended with \"" +
                     found.to_string() + "\"",
                 where);
}

lost_message test_system::expect_dead_letter(base::errc reason, std::source_location where) {
  return take_dead_letter({}, reason, where);
}

lost_message test_system::take_dead_letter(std::string_view type, base::errc reason,
                                           const std::source_location& where) {
  constexpr std::size_t most_shown = 100;
  std::vector<lost_message>& all = system_->lost();
  // Tests expect letters roughly in order, so the taken letters at the front are not searched
  // again.
  std::size_t& first = system_->first_unexpected();
  while (first != all.size() && all[first].expected) ++first;
  for (std::size_t i = first; i != all.size(); ++i) {
    lost_message& letter = all[i];
    if (letter.expected || !(letter.reason == reason) || (!type.empty() && letter.type != type))
      continue;
    letter.expected = true;
    return letter;
  }
  std::string others;
  std::size_t count = 0;
  for (std::size_t i = first; i != all.size(); ++i)
    if (!all[i].expected && ++count <= most_shown)
      others += "\n    " + all[i].content + " for " + system_->past().name_of(all[i].receiver) +
                ": " + all[i].reason.to_string();
  if (count > most_shown) others += "\n    and " + std::to_string(count - most_shown) + " more";
  detail::fail(*system_,
               "expected a dead letter" + (type.empty() ? std::string() : " " + std::string(type)) +
                   " because \"" + base::error(reason).to_string() + "\"" +
                   (others.empty() ? ", but there is none" : ", but there are only:" + others),
               where);
}

void test_system::expect_no_dead_letters(std::source_location where) {
  for (const lost_message& letter : system_->lost())
    if (!letter.expected)
      detail::fail(*system_,
                   "unexpected dead letter: " + letter.content + " for " +
                       system_->past().name_of(letter.receiver) + ": " + letter.reason.to_string(),
                   where);
}

const std::vector<lost_message>& test_system::dead_letters() const { return system_->lost(); }
const std::vector<std::string>& test_system::failures() const { return system_->failures(); }

core::cell& test_system::checked_cell(const core::handle& who, std::string_view type,
                                      const std::source_location& where) const {
  core::cell& cell = core::detail::target_of(who, "an inspection");
  if (cell.has_ended())
    detail::fail(*system_, "cannot inspect " + who.to_string() + ": it has ended", where);
  if (cell.type_name() != type)
    detail::fail(*system_,
                 "cannot inspect " + who.to_string() + " as " + std::string(type) + ": it is a " +
                     std::string(cell.type_name()),
                 where);
  return cell;
}

std::vector<std::string> test_system::mailbox(const core::handle& who) const {
  std::vector<std::string> all;
  for (const core::envelope* e :
       system_->scheduler().waiting_for(core::detail::target_of(who, "mailbox()")))
    e->type->print(core::content_pointer(e), all.emplace_back());
  return all;
}

std::vector<std::string> test_system::living() const {
  std::vector<std::string> names;
  for (core::cell* c : system_->living())
    if (c->ext_if() == nullptr || !c->ext_if()->hidden)
      names.push_back(system_->past().name_of(c->id()));
  return names;
}

// ---- the end ------------------------------------------------------------------------------------

leak_report test_system::finish() {
  finished_ = true;
  const auto run_all = [this] { run(); };
  run_all();
  system_->refuse_spawns();
  system_->names().seal();  // named actors stay in the registry until they have been checked
  run_all();
  leak_report report;
  report.cycles = internal::end_all_actors(*system_, run_all);
  return report;
}

void test_system::expect_no_leaks(std::source_location where) {
  const leak_report report = finish();
  std::string text;
  for (const std::string& who : report.cycles) text += "\n    " + who;
  if (!text.empty())
    detail::fail(*system_, "nothing but each other's handles kept these actors alive:" + text,
                 where);
}

}  // namespace garrick::testkit
