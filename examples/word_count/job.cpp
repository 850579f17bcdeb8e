#include "job.hpp"

#include "display.hpp"
#include "foreman.hpp"
#include "ledger.hpp"
#include "overseer.hpp"
#include "ranker.hpp"
#include "walker.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace word_count {

namespace {

constexpr std::size_t ledger_count = 4;

// [hire]
// With chaos, failures are normal and no sign of a broken program, so even a hundred thousand
// strikes a second are no reason to give up. The overseer gives up if restarts do not help.
const garrick::supervision patience{.strategy = garrick::one_for_one,
                                    .max_restarts = 100'000,
                                    .window = garrick::duration::seconds(1)};

struct staff {
  garrick::ref<garrick::supervisor_protocol> supervisor;
  garrick::ref<foreman_protocol> foreman;
};

staff hire(garrick::actor_system& system, const job& what, chaos& fate,
           const std::shared_ptr<std::string>& verdict) {
  const auto boss = system.spawn<overseer_actor>(patience, garrick::lent(verdict));
  const auto named = [](role r, std::size_t i) {
    return garrick::child_options{.name = std::string(role_names[static_cast<std::size_t>(r)]) +
                                          " " + std::to_string(i)};
  };
  const garrick::lent with(&fate);  // all actors and `main` use this object
  crew hands;
  for (std::size_t i = 0; i < ledger_count; ++i) {
    const auto keeper = garrick::supervise<keeper_actor>(boss, named(role::keeper, i), with);
    hands.ledgers.push_back(
        garrick::supervise<ledger_actor>(boss, named(role::ledger, i), keeper, with));
  }
  hands.ranker =
      garrick::supervise<ranker_actor>(boss, named(role::ranker, 0), hands.ledgers, with);
  hands.walker = garrick::supervise<walker_actor>(boss, named(role::walker, 0), what.paths,
                                                  what.unit_bytes, with);
  const auto foreman =
      garrick::supervise<foreman_actor>(boss, named(role::foreman, 0), hands, with);
  if (what.display != show::nothing)
    garrick::supervise<display_actor>(boss, named(role::display, 0), foreman, what.display, with);
  return {boss, foreman};
}
// [/hire]

}  // namespace

outcome run(const job& what) {
  const auto begin = std::chrono::steady_clock::now();
  chaos fate(what.seed, what.chaos_every);
  garrick::settings o;
  o.scheduler.workers = what.workers;
  // the strikes are counted, so they are not logged
  if (what.chaos_every != 0) o.log.level = garrick::system::log_level::off;
  garrick::actor_system system(o);
  const auto verdict = std::make_shared<std::string>();
  const staff everybody = hire(system, what, fate, verdict);
  garrick::result<finished> done = garrick::make_error(garrick::errc::cancelled);
  do {
    done = system.request(everybody.foreman, finish{}).get();
    // the foreman failed and was restarted
  } while (!done && done.error() == garrick::errc::receiver_failed);
  fate.end();
  outcome result;
  result.messages = fate.messages();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (std::size_t r = 0; r < role_count; ++r)
    result.strikes[r] = fate.strikes(static_cast<role>(r));
  if (done) {
    result.words = std::move(done->result.words);
    result.what = std::move(done->what);
    result.changed = std::move(done->changed);
    result.stream = std::move(done->stream);
  } else {
    // An overseer that gives up writes its verdict before the foreman, its child, ends. Only a lack
    // of memory ends an overseer without a verdict.
    const bool has_none_for_it =
        verdict->empty() && (done.error() == garrick::errc::not_handled ||
                             done.error() == garrick::errc::broken_promise);
    if (has_none_for_it) *verdict = "not enough memory: the overseer could not go on";
    result.trouble = verdict->empty() ? done.error().to_string() : *verdict;
  }
  static_cast<void>(system.request(everybody.supervisor, garrick::stop_children{}).get());
  if (what.display == show::bar) clear_line();
  return result;
}

lexicon count_sequentially(const std::vector<source>& files) {
  lexicon all;
  for (std::uint32_t number = 0; number < files.size(); ++number) {
    std::ifstream in(files[number].path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    for (const auto& [word, count] :
         count_words(readable(std::move(text).str(), files[number].how)))
      note(all, word, count, number);
  }
  return all;
}

std::string difference(const std::vector<ranked_word>& counted, const lexicon& expected) {
  for (const ranked_word& w : counted) {
    const auto known = expected.find(std::string_view(w.word));
    const entry right = known == expected.end() ? entry{} : known->second;
    if (right.count != w.count)
      return "'" + w.word + "' was counted " + std::to_string(w.count) + " times instead of " +
             std::to_string(right.count);
    if (right.home != w.home) return "'" + w.word + "' was found in other files";
  }
  if (counted.size() != expected.size())
    return std::to_string(counted.size()) + " different words instead of " +
           std::to_string(expected.size());
  return {};
}

}  // namespace word_count
