// A screen that shows a price once a second, and a market that changes it a hundred times as often.
// The screen always gets the newest price, and no messages pile up. The time is virtual.
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdio>

using namespace std::chrono_literals;

struct price {
  int cents;
};

// [screen]
class screen : public garrick::actor<garrick::protocol<void(garrick::news<price>)>> {
 public:
  garrick::task<void> on(garrick::news<price> n) {
    if (const std::optional<price> newest = n.take()) std::printf("%d cents\n", newest->cents);
    static_cast<void>(co_await delay(1s));  // it shows no more than one price a second
  }
};
// [/screen]

// [market]
class market : public garrick::actor<garrick::protocol<void(price)>> {
 public:
  explicit market(garrick::latest<price> to) : to_(std::move(to)) {}
  void on(price p) { to_.put(p); }

 private:
  garrick::latest<price> to_;
};
// [/market]

int main() {
  garrick::testkit::test_system kit(1);
  const auto shown_on = kit.spawn<screen>();
  const garrick::latest<price> to(shown_on);
  const auto m = kit.spawn<market>(to);
  for (int cents = 1; cents <= 300; ++cents) {
    send(m, price{cents});
    kit.run_for(10ms);
  }
  kit.run_for(1min);
  std::printf("replaced: %llu, dead letters: %zu\n", static_cast<unsigned long long>(to.replaced()),
              kit.dead_letters().size());
}
