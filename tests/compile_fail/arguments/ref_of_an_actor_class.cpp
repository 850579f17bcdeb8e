// each: value member own argument weak
// expect: garrick: this is no protocol<...>: a handle names the actor's protocol
// A handle of an actor's class in the place of its protocol. The uses of such a handle add no
// errors.
#include <garrick/garrick.hpp>

#include <utility>

struct order {
  int number;
};
using shop = garrick::protocol<void(order), long(int)>;
class shop_actor;
#ifdef GARRICK_WITHOUT_own
using other_shop = garrick::ref<shop_actor>;
#else
using other_shop = garrick::ref<shop>;
#endif
class shop_actor : public garrick::actor<shop> {
 public:
  void on(order o) { send(next_, o); }
  long on(int x) { return x; }
  void on_start() { next_ = self(); }

 private:
  other_shop next_;
};

#ifdef GARRICK_WITHOUT_member
using handle = garrick::ref<shop_actor>;
#else
using handle = garrick::ref<shop>;
#endif
class customer : public garrick::actor<garrick::protocol<void(int)>> {
 public:
  explicit customer(handle h) : shop_(std::move(h)) {}
  garrick::task<> on(int x) {
    send(shop_, order{x});
    request(shop_, x).then([](long) {});
    request(shop_, x, garrick::duration::seconds(1)).await([](long) {});
    static_cast<void>(co_await request<int>(shop_, x));
  }

 private:
  handle shop_;
};

#ifdef GARRICK_WITHOUT_argument
void take(const garrick::ref<shop_actor>&) {}
#else
void take(const garrick::ref<shop>&) {}
#endif
void test(garrick::actor_system& system) {
#ifdef GARRICK_WITHOUT_value
  garrick::ref<shop_actor> h = system.spawn<shop_actor>();
#else
  garrick::ref<shop> h = system.spawn<shop_actor>();
#endif
  send(h, order{7});
  static_cast<void>(system.request(h, 7).get().value());
  take(system.spawn<shop_actor>());
  static_cast<void>(system.spawn<customer>(system.spawn<shop_actor>()));
#ifdef GARRICK_WITHOUT_weak
  const garrick::weak_ref<shop_actor> w(h);
#else
  const garrick::weak_ref<shop> w(h);
#endif
  static_cast<void>(w);
}
