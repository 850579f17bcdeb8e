// each: emitted copied yielded put_out kept viewed member listed
// expect: garrick: a stage with an emit<T>|garrick: this stage's output cannot be copied|garrick: a generator<T> yields|garrick: send_next(value)|garrick: every joiner of a stream|garrick: a stream's value|garrick: a stage is a function|garrick: a tuple owns
// Results that a stage cannot put out, or a stream cannot yield.
#include <garrick/patterns/patterns.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace garrick::patterns;

using owner = std::unique_ptr<int>;
struct service {
  int work(int x) { return x; }
};

class fine : public stage_actor<int, std::string> {
 public:
  void consume(int x) {
#ifdef GARRICK_WITHOUT_put_out
    send_next(std::vector<int>{x});
#else
    send_next(std::to_string(x));
#endif
  }
};
generator<std::string> texts() {
#ifdef GARRICK_WITHOUT_yielded
  co_yield std::vector<int>();
#else
  std::string text = "literal";
  co_yield std::move(text);
#endif
}
#ifdef GARRICK_WITHOUT_listed
generator<std::string&> lines() { co_return; }
#endif

void test() {
#ifdef GARRICK_WITHOUT_emitted
  static_cast<void>(seq([](int, emit<std::string> out) { out(std::vector<int>()); }));
#elif defined(GARRICK_WITHOUT_copied)
  static_cast<void>(seq([](owner p, emit<owner> out) { out(p); }));
#elif defined(GARRICK_WITHOUT_kept)
  static_cast<void>(fold(owner(), [](owner p, int) { return p; }));
#elif defined(GARRICK_WITHOUT_viewed)
  static_cast<void>(fold(std::string_view(), [](std::string_view v, int) { return v; }));
#elif defined(GARRICK_WITHOUT_member)
  static_cast<void>(pipeline(counting(0, 9), &service::work, discard<int>()));
#elif defined(GARRICK_WITHOUT_listed)
  static_cast<void>(pipeline(lines, discard<std::string>()));
#else
  static_cast<void>(seq([](int, emit<std::string> out) { out("literal"); }));
  static_cast<void>(seq([](owner p, emit<owner> out) { out(std::move(p)); }));
  static_cast<void>(seq(texts));
  static_cast<void>(seq_actor<fine>());
#endif
}
