// The stages of the stream: their results, their losses after a strike, and the failures that end
// the stream.
#include "stages.hpp"

#include "scratch_folder.hpp"

#include <doctest/doctest.h>
#include <garrick/testkit/test_system.hpp>

#include <stdexcept>

namespace stages_test {

using namespace word_count;
namespace gp = garrick::patterns;

namespace {

part_words words(std::uint32_t unit, std::uint32_t part = 0) { return {part, unit, 0, "a b a "}; }

/// Returns the results of a stage for these tuples.
template <class Out, class Stage, class In>
garrick::result<std::vector<Out>> put_out(const Stage& stage, std::vector<In> in) {
  garrick::testkit::test_system kit;
  const auto h =
      gp::spawn(kit, gp::pipeline(gp::from(std::move(in)), stage,
                                  gp::fold(std::vector<Out>(), [](std::vector<Out> all, Out x) {
                                    all.push_back(std::move(x));
                                    return all;
                                  })));
  kit.run();
  return kit.request(h, gp::join{}).get();
}

/// A counter that fails in the given way at unit 2.
template <class Failure>
class failing_counter {
 public:
  explicit failing_counter(chaos* fate) : counter_(7, fate) {}
  void consume(part_words w, gp::emit<batch> out) {
    const bool fails = w.unit == 2;
    counter_.consume(std::move(w), out);
    if (fails) throw Failure("on purpose");
  }
  void on_stop(gp::emit<batch> out) { counter_.on_stop(out); }
  void on_restart() { counter_.on_restart(); }

 private:
  counter counter_;
};

}  // namespace

TEST_CASE("a counter hands on a batch after every few units of a part, and the rest at the end") {
  chaos fate(1, 0);
  std::vector<part_words> in{words(100, 1)};
  for (std::uint32_t u = 0; u < counter::units_a_batch + 2; ++u) in.push_back(words(u));
  const auto out = put_out<batch>(gp::seq<counter>(7u, garrick::lent(&fate)), in).value();
  REQUIRE(out.size() == 3);
  CHECK(out[0].plan == 7);
  CHECK(out[0].part == 0);
  CHECK(out[0].units.size() == counter::units_a_batch);
  CHECK(out[0].words.at("a").count == 2 * counter::units_a_batch);
  CHECK(out[1].units == std::vector<std::uint32_t>{8, 9});
  CHECK(out[1].words.at("b") == entry{2, 0});
  CHECK(out[2].part == 1);
  CHECK(out[2].units == std::vector<std::uint32_t>{100});
}

TEST_CASE("a counter that was struck goes on without the counts that it has not handed on") {
  chaos fate(1, 0);
  const auto stage =
      gp::seq<failing_counter<chaos_strike>>(garrick::lent(&fate)).on(gp::on_failure::restart);
  const auto out = put_out<batch>(stage, std::vector{words(1), words(2), words(3)}).value();
  REQUIRE(out.size() == 1);
  CHECK(out[0].units == std::vector<std::uint32_t>{3});
  CHECK(out[0].words.at("a").count == 2);
}

TEST_CASE("a failure that is no strike ends the stream, with an error that says which") {
  chaos fate(1, 0);
  const auto stage = gp::seq<failing_counter<std::runtime_error>>(garrick::lent(&fate))
                         .named("count")
                         .on(gp::on_failure::restart);
  const auto out = put_out<batch>(stage, std::vector{words(1), words(2), words(3)});
  REQUIRE_FALSE(out);
  CHECK(out.error().to_string().find("count: on purpose") != std::string::npos);
}

TEST_CASE("a splitter puts each word out for its part, and nothing for parts that hold the unit") {
  const scratch_folder f;
  f.write("a.txt", "One two three four five six seven eight one");
  const auto what = std::make_shared<const plan>(make_plan({f.path()}, 100));
  chaos fate(1, 0);
  const std::vector<open_unit> in{{0, 0b1011}};
  const auto stage =
      gp::seq<splitter>(what, 4u, garrick::ref<foreman_protocol>(), garrick::lent(&fate));
  const auto out = put_out<part_words>(stage, in).value();
  REQUIRE(out.size() == 3);
  counts all;
  for (const part_words& p : out) {
    CHECK(p.part != 2);
    for (const auto& [word, count] : count_words(p.words)) {
      CHECK(part_of(word, 4) == p.part);
      all[word] += count;
    }
  }
  counts expected = count_words("one two three four five six seven eight one");
  std::erase_if(expected, [](const auto& w) { return part_of(w.first, 4) == 2; });
  CHECK(all == expected);
}

}  // namespace stages_test
