// each: signature state captures bits range made pointer join again dividing chunk container keyed
// each: reducing_nothing reducing_ranges other_type range_goes_round solving_later dividing_later
// each: merging_later coroutine_values coroutine_results coroutine_sums narrow_sum narrow_merge
// expect: garrick:
// expect: names its types|several threads call this function at once|a stage owns its parts|operator[] that gives an Element&|lie in a std::vector|a tuple owns all it refers to|Value combine(Value, Value)|`Value f(const T&)` that names|`void f(T&)` or `T f(const T&)`|bool again(const T&)|divide_conquer(divide, merge|divide_conquer has no dynamic(chunk)|takes another container
// The requirements on a data-parallel pattern's functions and containers.
#include <garrick/patterns/patterns.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

void twice(int& x) { x *= 2; }
int same(const int& x) { return x; }
int plus(int a, int b) { return a + b; }
bool is_left(const int& x) { return x > 0; }
void divide(std::span<int> all, parts& out) { out.add(0, all.size() / 2); }
void merge(std::span<int>, const parts&) {}
void solve(std::span<int>) {}
bool is_small(std::span<const int> some) { return some.size() < 10; }
generator<int> divide_later(std::span<int>, parts&) { co_return; }
generator<int> merge_later(std::span<int>, const parts&) { co_return; }
generator<int> solve_later(std::span<int> few) { co_yield few[0]; }
generator<int> value_later(int n) { co_yield n; }
std::vector<int> halves(int n) { return {n / 2, n - n / 2}; }
generator<int> first(std::vector<generator<int>> all) { return std::move(all[0]); }
generator<int> either(generator<int> a, generator<int>) { return a; }

void test(actor_base& self, const accelerator& acc) {
  static_cast<void>(self);
  static_cast<void>(acc);
#ifdef GARRICK_WITHOUT_signature
  static_cast<void>(map([](auto& x) { ++x; }));
#elif defined(GARRICK_WITHOUT_state)
  static_cast<void>(map(patterns::bind([](int& n, int& x) { x = ++n; }, 0)));
#elif defined(GARRICK_WITHOUT_captures)
  int n = 0;
  static_cast<void>(map([&n](int& x) { x = n; }));
#elif defined(GARRICK_WITHOUT_bits)
  static_cast<void>(map([](bool& b) { b = !b; }));
#elif defined(GARRICK_WITHOUT_range)
  static_cast<void>(map<std::deque<int>>([](std::span<int> part) { part[0] = 1; }));
#elif defined(GARRICK_WITHOUT_keyed)
  static_cast<void>(map<std::map<std::size_t, int>>(twice));
#elif defined(GARRICK_WITHOUT_made)
  static_cast<void>(map([](const int& x) { return x > 0; }));
#elif defined(GARRICK_WITHOUT_pointer)
  static_cast<void>(map([](int*& p) { p = nullptr; }));
#elif defined(GARRICK_WITHOUT_join)
  static_cast<void>(reduce(same, [](int a) { return a; }));
#elif defined(GARRICK_WITHOUT_again)
  static_cast<void>(master_worker(twice, [](int& x) { return x++ < 5; }));
#elif defined(GARRICK_WITHOUT_dividing)
  static_cast<void>(divide_conquer(divide, merge, solve, is_left));
#elif defined(GARRICK_WITHOUT_reducing_nothing)
  static_cast<void>(reduce(twice, plus));
#elif defined(GARRICK_WITHOUT_reducing_ranges)
  static_cast<void>(reduce([](std::span<int> part) { part[0] = 1; }, plus));
#elif defined(GARRICK_WITHOUT_other_type)
  static_cast<void>(master_worker([](const int& x) { return x / 2.0; }, is_left));
#elif defined(GARRICK_WITHOUT_range_goes_round)
  static_cast<void>(master_worker(solve, is_left));
#elif defined(GARRICK_WITHOUT_solving_later)
  static_cast<void>(divide_conquer(divide, merge, solve_later, is_small));
#elif defined(GARRICK_WITHOUT_dividing_later)
  static_cast<void>(divide_conquer(divide_later, merge, solve, is_small));
#elif defined(GARRICK_WITHOUT_merging_later)
  static_cast<void>(divide_conquer(divide, merge_later, solve, is_small));
#elif defined(GARRICK_WITHOUT_coroutine_values)
  static_cast<void>(divide_conquer(halves, first, value_later, is_left));
#elif defined(GARRICK_WITHOUT_coroutine_results)
  static_cast<void>(map([](const int& x) -> generator<int> { co_yield x; }));
#elif defined(GARRICK_WITHOUT_coroutine_sums)
  static_cast<void>(reduce([](const int& x) -> generator<int> { co_yield x; }, either));
#elif defined(GARRICK_WITHOUT_narrow_sum)
  static_cast<void>(reduce([](const int& x) { return x / 2.0; }, plus));
#elif defined(GARRICK_WITHOUT_narrow_merge)
  static_cast<void>(divide_conquer(
      halves, [](std::vector<int> all) { return all.size() / 2.0; }, [](int n) { return n; },
      is_left));
#elif defined(GARRICK_WITHOUT_chunk)
  static_cast<void>(divide_conquer(divide, merge, solve, is_small).dynamic(10));
#elif defined(GARRICK_WITHOUT_container)
  static_cast<void>(acc.request_from(self, reduce(same, plus), std::deque<int>()));
#else
  static_cast<void>(map(patterns::bind([](const int& n, int& x) { x = n; }, 0)));
  static_cast<void>(map<std::deque<int>>(twice));
  static_cast<void>(map([](const int& x) { return x / 2.0; }));
  static_cast<void>(reduce(same, plus));
  static_cast<void>(reduce([](const int& x) { return x > 0; }, std::bit_or<>()));
  static_cast<void>(reduce(same, [](auto a, auto b) { return a + b; }));
  static_cast<void>(master_worker(twice, is_left));
  static_cast<void>(divide_conquer(divide, merge, solve, is_small));
  static_cast<void>(acc.request_from(self, reduce(same, plus), std::vector<int>()));
#endif
}
