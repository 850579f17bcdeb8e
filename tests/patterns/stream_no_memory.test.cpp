// Every allocation of a name that fails while a stream begins ends the stream, and its `join` gets
// an error.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/patterns/patterns.hpp>
#include <support/failing_memory.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace stream_no_memory_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using tests::failing_allocation;
using tests::failing_size;

// Only the names of nodes are so long. Messages are not: without memory for one that lets a node
// run the program ends.
constexpr std::size_t long_name = 100'000;
constexpr duration too_long = duration::seconds(30);
constexpr int enough = 200;  ///< allocations; there are fewer

struct begin {
  int failing;
};
struct is_over {};

/// Begins a stream on the worker that all actors share, and answers with its sum.
class beginner : public actor<protocol<result<int>(begin), bool(is_over)>> {
 public:
  result<int> on(begin b) {
    const auto twice = seq([](int x) { return 2 * x; }).named(name_);
    const auto next = seq([](int x) { return x + 1; }).named(name_);
    const auto sum = fold(0, [](int s, int x) { return s + x; });
    answer_ = make_promise<int>();
    request(patterns::spawn(*this, pipeline(counting(0, 10), farm(twice).replicas(2), next, sum)),
            join{})
        .then([this](int all) { answer_.deliver(all); },
              [this](const error& why) { answer_.fail(why); });
    failing_size = long_name;
    failing_allocation = b.failing;
    return answer_;
  }
  /// Returns true if there was no such allocation.
  bool on(is_over) {
    failing_size = 0;
    return std::exchange(failing_allocation, 0) != 0;
  }

 private:
  response_promise<int> answer_;
  std::string name_ = std::string(long_name, 'n');
};

}  // namespace

TEST_CASE("a stream that finds no memory to begin ends, whichever allocation fails") {
  settings s;
  s.scheduler.workers = 1;
  s.log.level = garrick::system::log_level::off;
  actor_system system(s);
  const auto who = system.spawn<beginner>();
  int failures = 0;
  for (int n = 1;; ++n) {
    REQUIRE(n < enough);
    CAPTURE(n);
    const result<int> outcome = system.request(who, begin{n}, too_long).get();
    if (system.request(who, is_over{}, too_long).get().value()) {
      CHECK(outcome.value() == 100);
      break;
    }
    ++failures;
    REQUIRE(!outcome);
    CHECK(outcome.error().to_string().find("bad_alloc") != std::string::npos);
  }
  CHECK(failures > 6);  // names of nodes, of their carriers, and the options of those
}

}  // namespace stream_no_memory_test
