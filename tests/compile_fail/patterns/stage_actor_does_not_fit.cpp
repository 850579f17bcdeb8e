// each: plain arguments handler question receiver
// max-lines: clang 16: garrick.hpp is reached through patterns.hpp
// expect: garrick:
// expect: a stage's actor derives publicly|cannot be made of these arguments|no public handler|answered with one value|does not take such tuples
// Stages that are actors, and stages that need one.
#include <garrick/patterns/patterns.hpp>

#include <string>

using namespace garrick;
using namespace garrick::patterns;

struct reload {};
struct look_up {
  std::string text;
};
struct plain {
  int consume(int x) { return x; }
};
class handler : public stage_actor<int, int, void(reload)> {
 public:
  void consume(int) {}
};
class fine : public stage_actor<int, int, void(reload)> {
 public:
  explicit fine(std::string) {}
  void consume(int) {}
  void on(reload) {}
};
using dictionary = protocol<std::string(look_up), void(reload)>;

void test(const ref<dictionary>& whom) {
#ifdef GARRICK_WITHOUT_plain
  static_cast<void>(seq_actor<plain>());
#elif defined(GARRICK_WITHOUT_arguments)
  static_cast<void>(seq_actor<fine>(7));
#elif defined(GARRICK_WITHOUT_handler)
  static_cast<void>(seq_actor<handler>());
#elif defined(GARRICK_WITHOUT_question)
  static_cast<void>(ask<int>(whom, 8));
#elif defined(GARRICK_WITHOUT_receiver)
  static_cast<void>(patterns::to<int>(whom));
#else
  static_cast<void>(pipeline(counting(1, 7), seq_actor<fine>("text"), discard<int>()));
  static_cast<void>(pipeline(ask<look_up>(whom, 8), discard<std::string>()));
  static_cast<void>(patterns::to<reload>(whom));
#endif
}
