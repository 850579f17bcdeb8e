// each: counting_mixed counting_real counting_one list iterators fold scan loop farm ask ask_any to
// each: discard take batch batch_number batch_time throttle throttle_time ticks zip named
// expect: garrick: counting(first, end)|garrick: from takes a container|garrick: fold(first, f)|garrick: scan(first, f)|garrick: feedback(pattern, again)|garrick: farm(pattern) takes one|garrick: ask|garrick: to(handle)|garrick: nothing tells this stage|garrick: batch<T>|garrick: throttle<T>|garrick: ticks(period)|garrick: named(name)
// Too few arguments, too many, and such of a wrong type.
#include <garrick/patterns/patterns.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;

struct word {
  std::string text;
  std::chrono::seconds at;
};
using dictionary = protocol<std::string(word)>;
int twice(int x) { return 2 * x; }
int sum(int x, int y) { return x + y; }

void test(const ref<dictionary>& whom, const any_ref& any, std::vector<int> numbers) {
#ifdef GARRICK_WITHOUT_counting_mixed
  static_cast<void>(pipeline(counting(0, 9L), discard<long>()));
#elif defined(GARRICK_WITHOUT_counting_real)
  static_cast<void>(pipeline(counting(0.0, 9.0), discard<double>()));
#elif defined(GARRICK_WITHOUT_counting_one)
  static_cast<void>(pipeline(counting(9), discard<int>()));
#elif defined(GARRICK_WITHOUT_list)
  static_cast<void>(pipeline(from({1, 2, 3}), discard<int>()));
#elif defined(GARRICK_WITHOUT_iterators)
  static_cast<void>(pipeline(from(numbers.begin(), numbers.end()), discard<int>()));
#elif defined(GARRICK_WITHOUT_fold)
  static_cast<void>(pipeline(counting(0, 9), fold(sum)));
#elif defined(GARRICK_WITHOUT_scan)
  static_cast<void>(pipeline(counting(0, 9), scan(sum), discard<int>()));
#elif defined(GARRICK_WITHOUT_loop)
  static_cast<void>(pipeline(counting(0, 9), feedback(twice), discard<int>()));
#elif defined(GARRICK_WITHOUT_farm)
  static_cast<void>(pipeline(counting(0, 9), farm(twice, 4), discard<int>()));
#elif defined(GARRICK_WITHOUT_ask)
  static_cast<void>(pipeline(ask(whom), discard<std::string>()));
#elif defined(GARRICK_WITHOUT_ask_any)
  static_cast<void>(pipeline(ask<word>(any, 8), discard<std::string>()));
#elif defined(GARRICK_WITHOUT_to)
  static_cast<void>(pipeline(counting(0, 9), patterns::to(numbers)));
#elif defined(GARRICK_WITHOUT_discard)
  static_cast<void>(pipeline(counting(0, 9), discard()));
#elif defined(GARRICK_WITHOUT_take)
  static_cast<void>(pipeline(counting(0, 9), take(4), discard<int>()));
#elif defined(GARRICK_WITHOUT_batch)
  static_cast<void>(pipeline(counting(0, 9), batch(4, 10ms), discard<std::vector<int>>()));
#elif defined(GARRICK_WITHOUT_batch_number)
  static_cast<void>(pipeline(counting(0, 9), batch<int>(4), discard<std::vector<int>>()));
#elif defined(GARRICK_WITHOUT_batch_time)
  static_cast<void>(pipeline(counting(0, 9), batch<int>(10ms, 4), discard<std::vector<int>>()));
#elif defined(GARRICK_WITHOUT_throttle)
  static_cast<void>(pipeline(counting(0, 9), throttle(4), discard<int>()));
#elif defined(GARRICK_WITHOUT_throttle_time)
  static_cast<void>(pipeline(counting(0, 9), throttle<int>(10ms), discard<int>()));
#elif defined(GARRICK_WITHOUT_ticks)
  static_cast<void>(pipeline(ticks(10), discard<tick>()));
#elif defined(GARRICK_WITHOUT_zip)
  static_cast<void>(pipeline(counting(0, 9), zip(counting(0, 9))));
#elif defined(GARRICK_WITHOUT_named)
  static_cast<void>(pipeline(counting(0, 9), seq(twice).named(7), discard<int>()));
#else
  static_cast<void>(any);
  static_cast<void>(seq(twice).named(std::string_view("twice").data()));
  static_cast<void>(pipeline(counting<std::uint64_t>(1, 100'000), discard<std::uint64_t>()));
  static_cast<void>(pipeline(counting(0, 9), take<int>(4), throttle<int>(5), batch<int>(4, 10ms)));
  static_cast<void>(pipeline(from(numbers), feedback(farm(twice), [](int x) { return x < 9; }),
                             zip<int>(ticks(1s, 25)), discard<std::pair<int, tick>>()));
  static_cast<void>(pipeline(
      ask(whom, 8), scan(std::string(), [](std::string a, std::string b) { return a + b; })));
#endif
}
