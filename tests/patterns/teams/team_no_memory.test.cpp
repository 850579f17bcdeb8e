// An allocation that fails while a team works, whichever it is: every request gets an answer or an
// error, a stream ends, and nothing is left behind.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <patterns/data_parallel.hpp>
#include <support/failing_memory.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace team_no_memory_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using tests::failing_allocation;
using tests::fails_for_good;

using row = std::vector<int>;

void arm(int n, bool for_good) noexcept {
  fails_for_good = for_good;
  failing_allocation = n;
}
/// Returns true if the allocation that was to fail was not reached.
[[nodiscard]] bool disarm() noexcept {
  const int left = std::exchange(failing_allocation, 0);
  return left != 0 && !(std::exchange(fails_for_good, false) && left == 1);
}

constexpr duration too_long = duration::seconds(30);
constexpr int enough = 2000;  ///< allocations; there are fewer

struct begin {
  int failing;
  bool for_good;
};
struct is_over {};

/// Makes more requests at once than a block of a queue holds, on the worker that all actors share.
/// Answers with how many of them had errors.
template <class P, class Whom>
class asker : public actor<protocol<result<int>(begin), bool(is_over)>> {
 public:
  asker(P what, Whom whom) : what_(std::move(what)), whom_(std::move(whom)) {}
  result<int> on(begin b) {
    promise_ = make_promise<int>();
    for (int i = 0; i < requests; ++i)
      ask().then([this](const typename P::output&) { is_answered(0); },
                 [this](const error&) { is_answered(1); });
    arm(b.failing, b.for_good);
    return promise_;
  }
  /// Returns true if there was no such allocation.
  bool on(is_over) { return disarm() || was_over_; }

 private:
  static constexpr int requests = 10;

  auto ask() {
    typename P::input in = [] {
      if constexpr (std::is_same_v<typename P::input, row>)
        return row(8, 1);
      else
        return 8;
    }();
    if constexpr (std::is_same_v<Whom, accelerator>)
      return this->request(whom_, what_, std::move(in));
    else
      return this->request(whom_, std::move(in));
  }
  void is_answered(int error) {
    errors_ += error;
    if (++answers_ != requests) return;
    was_over_ = disarm();
    promise_.deliver(errors_);
  }

  const P what_;
  const Whom whom_;
  response_promise<int> promise_;
  int answers_ = 0;
  int errors_ = 0;
  bool was_over_ = false;
};

settings one_worker() {
  settings s;
  s.scheduler.workers = 1;
  s.log.level = system::log_level::off;
  return s;
}

/// Asks with each allocation failing in turn.
template <class P, class MakeTeam>
void every_request_is_answered(const P& p, const MakeTeam& make_team) {
  const std::size_t before = base::block_pool::blocks_in_use();
  for (const bool for_good : {false, true}) {
    CAPTURE(for_good);
    {
      actor_system system(one_worker());
      int errors = 0;
      bool over = false;
      for (int n = 1; !over && n < enough; ++n) {
        CAPTURE(n);
        const auto team = make_team(system);
        const auto a = system.spawn<asker<P, std::remove_const_t<decltype(team)>>>(p, team);
        const auto answer = system.request(a, begin{n, for_good}, too_long).get();
        REQUIRE(answer.has_value());
        errors += *answer;
        over = system.request(a, is_over{}).get().value();
        if (over) CHECK(*answer == 0);
      }
      CHECK(over);
      CHECK(errors != 0);
    }
    CHECK(base::block_pool::blocks_in_use() == before);
  }
}

void add_one(int& x) { ++x; }
int same(const int& x) { return x; }
int plus(int a, int b) { return a + b; }
bool again(const int& x) { return x < 3; }
void halves(std::span<int> all, parts& out) {
  out.add(0, all.size() / 2);
  out.add(all.size() / 2, all.size());
}
void nothing_to_merge(std::span<int>, const parts&) {}
void add_one_to_all(std::span<int> few) {
  for (int& x : few) ++x;
}
bool is_short(std::span<const int> some) { return some.size() < 4; }
row halves_of(int n) { return {n / 2, n - n / 2}; }
int sum(row some) { return some[0] + some[1]; }
int value(int n) { return n; }
bool is_small(const int& n) { return n < 4; }
int next(const neighbourhood<int>& n) { return n[-1] + n[+1]; }

TEST_CASE("whichever allocation fails in a team: every request is answered") {
  const auto check = [](const auto& p) {
    SUBCASE("of its own") {
      every_request_is_answered(p,
                                [&](actor_system& system) { return spawn(system, p.replicas(2)); });
    }
    SUBCASE("of an accelerator") {
      every_request_is_answered(
          p, [](actor_system& system) { return spawn(system, accelerator_team().replicas(2)); });
    }
  };
  SUBCASE("map") { check(map(add_one)); }
  SUBCASE("reduce") { check(reduce(same, plus)); }
  SUBCASE("master_worker") { check(master_worker(add_one, again)); }
  SUBCASE("divide_conquer in place") {
    check(divide_conquer(halves, nothing_to_merge, add_one_to_all, is_short));
  }
  SUBCASE("divide_conquer with values") { check(divide_conquer(halves_of, sum, value, is_small)); }
  SUBCASE("stencil") { check(stencil(next, 1, 3)); }
}

/// A source with a second call in which the n-th allocation fails.
int calls = 0;
int failing = 0;
bool was_over = false;
std::optional<row> feed() {
  if (++calls == 2) arm(failing, false);
  if (calls < 8) return row(8, 1);
  was_over = disarm();
  return {};
}

TEST_CASE("whichever allocation fails in a stage's team: the stream ends") {
  const std::size_t before = base::block_pool::blocks_in_use();
  const auto count = [](int n, row) { return n + 1; };
  const auto stage = divide_conquer(halves, nothing_to_merge, add_one_to_all, is_short);
  for (const on_failure policy : {on_failure::fail, on_failure::skip}) {
    CAPTURE(static_cast<int>(policy));
    {
      actor_system system(one_worker());
      bool over = false;
      for (int n = 1; !over && n < enough; ++n) {
        CAPTURE(n);
        calls = 0;
        failing = n;
        was_over = false;
        const auto h = spawn(system, pipeline(feed, stage.replicas(2).on(policy), fold(0, count)),
                             {.capacity = 1});
        const auto answer = system.request(h, join{}, too_long).get();
        REQUIRE((answer.has_value() || answer.error() != errc::timeout));
        over = was_over;
        if (over) CHECK(answer.value() == 7);
      }
      CHECK(over);
    }
    CHECK(base::block_pool::blocks_in_use() == before);
  }
}

}  // namespace

}  // namespace team_no_memory_test
