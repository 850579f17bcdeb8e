// each: part actor_out collected yielded immovable throws_when_moved throws_from_actor throws_at_end
// expect: garrick: a tuple owns all it refers to|garrick: a stream's value|neither moved nor copied|garrick: to move or destroy a tuple throws nothing
// Tuples go from thread to thread. So they own all their data, as messages do.
#include <garrick/patterns/patterns.hpp>

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

using namespace garrick::patterns;

struct part {
  std::string text;
  int* number;
};
struct immovable {
  immovable() = default;
  immovable(const immovable&) = delete;
  immovable& operator=(const immovable&) = delete;
};
struct throwing {
  using garrick_sendable = void;
  throwing() = default;
  throwing(throwing&&) noexcept(false) {}
};
struct throwing_end {
  using garrick_sendable = void;
  ~throwing_end() noexcept(false) {}
};
template <class In, class Out>
class tagger : public stage_actor<In, Out> {
 public:
  void consume(In) {}
};

void test() {
#ifdef GARRICK_WITHOUT_part
  static_cast<void>(pipeline([](int, emit<part>) {}, discard<part>()));
#elif defined(GARRICK_WITHOUT_actor_out)
  static_cast<void>(seq_actor<tagger<int, std::vector<int*>>>());
#elif defined(GARRICK_WITHOUT_collected)
  static_cast<void>(batch<int*>(8, garrick::duration::seconds(1)));
#elif defined(GARRICK_WITHOUT_yielded)
  static_cast<void>(fold(std::string_view(), [](std::string_view all, int) { return all; }));
#elif defined(GARRICK_WITHOUT_immovable)
  static_cast<void>(seq([](const immovable&) {}));
#elif defined(GARRICK_WITHOUT_throws_when_moved)
  static_cast<void>(
      pipeline(counting(0, 3), [](int) { return throwing(); }, [](const throwing&) {}));
#elif defined(GARRICK_WITHOUT_throws_from_actor)
  static_cast<void>(seq_actor<tagger<int, throwing>>());
#elif defined(GARRICK_WITHOUT_throws_at_end)
  static_cast<void>(take<throwing_end>(3));
#else
  static_cast<void>(pipeline([](int) { return std::string("zero"); }, discard<std::string>()));
  static_cast<void>(seq_actor<tagger<int, std::vector<int>>>());
  static_cast<void>(fold(std::string(), [](std::string all, int) { return all; }));
#endif
}
