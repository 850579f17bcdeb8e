// expect: braces alone have no type
// each: one several none in_actor
#include <garrick/garrick.hpp>

struct order {
  int number;
  std::string what;
};

void test(const garrick::ref<garrick::protocol<void(order)>>& to) {
  send(to, order{1, "tea"});
#ifdef GARRICK_WITHOUT_one
  send(to, {1});
#endif
#ifdef GARRICK_WITHOUT_several
  send(to, {1, "tea"});
#endif
#ifdef GARRICK_WITHOUT_none
  send(to, {});
#endif
}

class clerk : public garrick::dynamic_actor {
 public:
  void sends(const garrick::any_ref& to) {
    send(to, order{1, "tea"});
#ifdef GARRICK_WITHOUT_in_actor
    send(to, {1, "tea"});
#endif
  }
};
