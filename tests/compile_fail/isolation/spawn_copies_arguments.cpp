// each: reference unique opaque
// expect: garrick: the actor gets a copy, and its constructor takes a reference|std::move in a part that cannot be looked into|std::move it in, or say lent(x)|a supervised child's arguments must be copyable
// An argument that is not moved in is copied, as std::thread does it.
#include <garrick/garrick.hpp>

#include <memory>

struct counter : garrick::actor<garrick::protocol<void(int)>> {
  explicit counter(long& sum) : sum_(sum) {}
  void on(int x) { sum_ += x; }
  long& sum_;
};
class file {
 public:
  explicit file(int descriptor) : descriptor_(descriptor) {}

 private:
  [[maybe_unused]] int descriptor_;
};
struct writer : garrick::actor<garrick::protocol<void(int)>> {
  explicit writer(file) {}
  void on(int) {}
};
struct owner : garrick::actor<garrick::protocol<void(int)>> {
  explicit owner(std::unique_ptr<int>) {}
  void on(int) {}
};

void test(garrick::actor_system& system, garrick::dynamic_actor& self) {
  long sum = 0;
  file log(1);
  auto number = std::make_unique<int>(1);
#ifdef GARRICK_WITHOUT_reference
  static_cast<void>(system.spawn<counter>(sum));
#elif defined(GARRICK_WITHOUT_unique)
  static_cast<void>(system.spawn<owner>(number));
#elif defined(GARRICK_WITHOUT_opaque)
  static_cast<void>(system.spawn<writer>(log));
#else
  static_cast<void>(self.spawn<counter>(garrick::lent(sum)));
  static_cast<void>(system.spawn<writer>(std::move(log)));
  static_cast<void>(system.spawn<owner>(std::move(number)));
#endif
}
