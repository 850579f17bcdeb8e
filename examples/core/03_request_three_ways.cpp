// Three ways for an actor to use the answer to a request: `then`, `await` and `co_await`.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <string>

struct price_of {
  std::string item;
};
using shop = garrick::protocol<garrick::result<int>(price_of)>;

class shop_actor : public garrick::actor<shop> {
 public:
  garrick::result<int> on(const price_of& p) {
    if (p.item == "apple") return 3;
    if (p.item == "pear") return 4;
    return garrick::make_error(garrick::errc::user, p.item, "we do not sell that");
  }
};

struct buy {
  std::string item;
};
using customer = garrick::protocol<garrick::result<int>(buy)>;

// [then]
// `then`: this actor goes on with other messages, and the function runs when the answer arrives.
// The handler returns a promise, and answers its own request later.
class patient_customer : public garrick::actor<customer> {
 public:
  explicit patient_customer(garrick::ref<shop> s) : shop_(std::move(s)) {}

  garrick::result<int> on(const buy& b) {
    auto answer = make_promise<int>();
    auto later = std::make_shared<garrick::response_promise<int>>(std::move(answer));
    request(shop_, price_of{b.item})
        .then([later](int price) { later->deliver(price); },
              [later](const garrick::error& why) { later->fail(why); });
    return *later;  // "an answer comes later"
  }

 private:
  garrick::ref<shop> shop_;
};
// [/then]

// [await]
// `await`: the actor handles no other message until the answer arrives; its mail waits in order.
class stubborn_customer : public garrick::actor<customer> {
 public:
  explicit stubborn_customer(garrick::ref<shop> s) : shop_(std::move(s)) {}

  garrick::result<int> on(const buy& b) {
    promise_ = make_promise<int>();
    request(shop_, price_of{b.item})
        .await([this](int price) { promise_.deliver(price); },
               [this](const garrick::error& why) { promise_.fail(why); });
    return promise_;
  }

 private:
  garrick::ref<shop> shop_;
  // A single promise is enough: the next message is handled only after the answer.
  garrick::response_promise<int> promise_;
};
// [/await]

// [co_await]
// `co_await`: the code reads from top to bottom, and no thread waits. It yields a result and does
// not throw.
class modern_customer : public garrick::actor<customer> {
 public:
  explicit modern_customer(garrick::ref<shop> s) : shop_(std::move(s)) {}

  garrick::task<int> on(buy b) {
    const garrick::result<int> price = co_await request<price_of>(shop_, b.item);
    if (!price) co_return price.error();
    co_return *price;
  }

 private:
  garrick::ref<shop> shop_;
};
// [/co_await]

int main() {
  garrick::actor_system system;
  const auto open_shop = system.spawn<shop_actor>();
  const garrick::ref<customer> customers[] = {system.spawn<patient_customer>(open_shop),
                                              system.spawn<stubborn_customer>(open_shop),
                                              system.spawn<modern_customer>(open_shop)};
  for (const auto& c : customers) {
    const garrick::result<int> pear = system.request(c, buy{"pear"}).get();
    const garrick::result<int> moon = system.request(c, buy{"moon"}).get();
    std::printf("a pear costs %d; the moon: %s\n", pear.value(), moon.error().to_string().c_str());
  }
}
