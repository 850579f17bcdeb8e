// The whole job over several processes has the counts of one loop, whichever process is lost.
#include "over_nodes.hpp"
#include "support/places.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace over_nodes_test {

using namespace word_count;

namespace {

job small_units(std::uint64_t seed = 1, std::uint32_t chaos_every = 0) {
  return {.paths = {std::string(garrick::tests::places::texts) + "/stories"},
          .workers = 1,
          .unit_bytes = 256,
          .seed = seed,
          .chaos_every = chaos_every};
}

std::string wrong_counts(const outcome& o) {
  if (!o.trouble.empty()) return o.trouble;
  return difference(o.words, count_sequentially(o.what->files));
}

}  // namespace

TEST_CASE("over nodes: several processes count the same as one loop") {
  for (const std::uint32_t nodes : {1u, 2u, 5u}) {
    CAPTURE(nodes);
    const outcome o = run_over_nodes(small_units(), nodes, garrick::tests::places::word_count);
    CHECK(wrong_counts(o) == "");
    REQUIRE(o.nodes.size() == nodes);
    std::uint64_t words = 0;
    std::uint64_t expected = 0;
    for (const ranked_word& w : o.words) expected += w.count;
    for (const node_work& n : o.nodes) {
      CHECK(n.lives == 1);
      CHECK(n.parts > 0);
      words += n.words;
    }
    CHECK(words == expected);
  }
}

TEST_CASE("over nodes: a process that is killed is heard of, and its parts are counted once") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    const outcome o = run_over_nodes(small_units(seed, 30), 3, garrick::tests::places::word_count);
    CHECK(wrong_counts(o) == "");
    CHECK(std::count_if(o.nodes.begin(), o.nodes.end(),
                        [](const node_work& n) { return n.was_killed; }) == 1);
  }
}

TEST_CASE("over nodes: processes that always end at once are not waited for") {
  const outcome o = run_over_nodes(small_units(), 3, "/bin/false");
  CHECK(wrong_counts(o) == "");
  REQUIRE(o.nodes.size() == 3);
  CHECK(o.nodes[1].lives == 0);
  CHECK(o.nodes[1].ended > 1);
  CHECK(o.nodes[2].parts == 0);
}

TEST_CASE("over nodes: a program that cannot be started is the trouble") {
  const outcome o = run_over_nodes(small_units(), 2, "/no/such/program");
  CHECK(o.trouble != "");
  CHECK(o.words.empty());
}

TEST_CASE("over nodes: nothing to count is a result without words") {
  job nothing = small_units();
  nothing.paths = {"/no/such/path"};
  const outcome o = run_over_nodes(nothing, 2, garrick::tests::places::word_count);
  CHECK(o.trouble.empty());
  REQUIRE(o.what != nullptr);
  CHECK(o.what->files.empty());
}

}  // namespace over_nodes_test
