// only: gcc: the defect is GCC 12's
// expect: GCC 12 would destroy this argument twice
// expect: co_await request<Message>(to, fields...)
// expect: argument_destroyed_twice<order>
#include <garrick/garrick.hpp>

#include <string>

struct order {
  std::string name;
  int number;
};
using shop = garrick::protocol<int(order)>;

class buyer : public garrick::actor<garrick::protocol<void(std::string)>> {
  garrick::ref<shop> shop_;

 public:
  garrick::task<void> on(std::string name) {
    request(shop_, order{name, 7}).then([](int) {});  // no co_await, nothing to refuse
#ifdef GARRICK_CONTROL
    static_cast<void>(co_await request<order>(shop_, name, 7));
#else
    static_cast<void>(co_await request(shop_, order{name, 7}));
#endif
  }
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<buyer>()); }
