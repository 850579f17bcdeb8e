// expect: send(to, ...) sends to a handle
// each: number nothing in_actor
// Also, a function `send` of another library is called if it fits, however badly.
#include <garrick/garrick.hpp>

struct order {
  int number;
};

namespace post {
struct box {};
struct letter_box : box {};
struct stamp {
  stamp(const garrick::any_ref&) {}
};
int send(const box&, const stamp&, long) { return 1; }
}  // namespace post

void test(const garrick::any_ref& to) {
  send(to, order{1});
  static_assert(std::is_same_v<decltype(send(post::letter_box(), to, 1)), int>);
#ifdef GARRICK_WITHOUT_number
  garrick::send(1, order{1});
#endif
#ifdef GARRICK_WITHOUT_nothing
  garrick::send(order{1});
#endif
}

class clerk : public garrick::dynamic_actor {
 public:
  void sends(const garrick::any_ref& to) {
    send(to, order{1});
#ifdef GARRICK_WITHOUT_in_actor
    send(1, order{1});
#endif
  }
};
