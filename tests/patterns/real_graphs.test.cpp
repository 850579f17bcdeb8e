// Random compositions on real workers.
#include <doctest/doctest.h>
#include <patterns/random_scene.hpp>

#include <thread>

#include "support/quiet.hpp"
#include "support/rounds.hpp"

namespace real_graphs_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using namespace garrick::random_streams;

/// Longer than this nothing lasts that goes on.
constexpr auto watchdog = duration::seconds(60);

void act(std::uint64_t seed, std::uint32_t workers, tally& t) {
  const scene s = scene_of(seed, alphabet::all);
  CAPTURE(seed);
  judge j(s, t);
  actor_system system(garrick::tests::quiet(workers));
  const auto ask_one = [&system](behaviour_of b, std::uint32_t id) {
    return ref<answering_protocol>(system.spawn<answering>(std::move(b), id));
  };
  const any_pattern middle = maker(s.all, ask_one).make(s.composition);
  const auto watch = [&](const auto& h) {
    if (s.comes_to == fate::is_cancelled) {
      for (std::uint32_t n = numbers(seed).below(200); n != 0; --n) std::this_thread::yield();
      send(h, cancel{});
    }
    const auto end = system.request(h, join{}).within(watchdog).get();
    const auto report = system.request(h, get_report{}).within(watchdog).get();
    j.require(report.has_value(), "there is no report");
    j.require(!(end.error() == errc::timeout), "it stands still\n" + report->to_string());
    j.outcome(end);
    j.results();
    j.counters(*report, system.dead_letter_count(errc::not_handled), j.ended_well());
  };
  if (!s.is_fed) return watch(spawn(system, pipeline(from(s.in), middle, into(s.all)), s.options));
  const auto h = spawn(system, pipeline(middle, into(s.all)), s.options);
  for (const item& x : s.in) send(h, x);
  send(h, end_of_stream{});
  watch(h);
}

}  // namespace

TEST_CASE("random compositions give the same on one to four workers") {
  tally t;
  const std::uint32_t last = garrick::tests::rounds(60);
  for (std::uint64_t seed = 1; seed <= last; ++seed)
    act(seed, static_cast<std::uint32_t>(1 + seed % 4), t);
  CHECK(t.of("ended well") != 0);
}

}  // namespace real_graphs_test
