// An actor finds the registry and the groups of its own system.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <string>
#include <thread>

namespace directory_test {

namespace {

using namespace garrick;

struct price_of {
  std::string item;
};
struct sold {
  std::string item;
};
using prices = protocol<result<int>(price_of)>;
using sales = protocol<void(sold)>;

class price_list : public actor<prices> {
 public:
  void on_start() { CHECK(registry_of(*this).put("prices", self()).has_value()); }
  result<int> on(const price_of& p) { return static_cast<int>(p.item.size()); }
};

/// Knows other actors only by name.
class shop : public actor<protocol<result<int>(price_of)>> {
 public:
  task<result<int>> on(price_of p) {
    const auto list = registry_of(*this).get<prices>("prices");
    if (!list) co_return list.error();
    const result<int> price = co_await request<price_of>(*list, p.item);
    if (price) groups_of(*this).get<sales>("sales")->publish(sold{p.item});
    co_return price;
  }
};

struct how_many {};
class book_keeper : public actor<protocol<void(sold), int(how_many)>> {
  int sold_ = 0;

 public:
  void on_start() { CHECK(groups_of(*this).get<sales>("sales")->join(self()).has_value()); }
  void on(const sold&) { ++sold_; }
  int on(how_many) { return sold_; }
};

TEST_CASE("actor finds others by name and meets them in groups, in the system that it lives in") {
  actor_system one;
  actor_system two;
  const auto list = one.spawn<price_list>();
  // on_start runs on a worker
  while (!one.registry().get<prices>("prices")) std::this_thread::yield();
  const auto keeper = one.spawn<book_keeper>();
  CHECK(one.request(keeper, how_many{}).get().value() == 0);
  CHECK(one.request(one.spawn<shop>(), price_of{"pear"}).get().value() == 4);
  CHECK(one.request(keeper, how_many{}).get().value() == 1);
  CHECK(two.request(two.spawn<shop>(), price_of{"pear"}).get().error() == registry_errc::not_found);
}

}  // namespace

}  // namespace directory_test
