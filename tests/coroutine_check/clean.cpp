// All safe forms that look like unsafe ones.
#include "mini.hpp"

#include <memory>
#include <vector>

task forms(std::string t, bool flag) {
  co_await request<order>(t, 7);
  order m{t, 7};
  co_await request(m);
  co_await request<order>(std::move(m));
  response<int> named = request(order{t, 7});
  co_await named;
  co_await request(made(t));
  co_await request(std::string(t));
  co_await request(std::pair{std::string(t), 7});
  co_await request(point{1, 2});
  co_await request(point{co_await request(1), 2});
  co_await adapt([&t] { const order inner{t, 7}; });
  const auto with_capture = [t] { return order{t, 7}; };
  co_await adapt(with_capture);
  auto name = co_await ask();
  const order afterwards{name, 3};
  std::string copied{co_await ask()};
  const std::pair<std::string, int> constructed{co_await ask(), 3};
  const int number = flag ? co_await request(1) : 0;
  const order& either = flag ? m : (co_await request(1), afterwards);
  const std::string sum = std::string("a") + (co_await request(1) == 3 ? "b" : "c");
  std::vector<std::string> all;
  all.push_back(co_await ask());
  const auto started = [](std::string s) -> task { co_await request<order>(s, 1); };
  started(t + std::to_string(number) + either.name + sum + constructed.first);
}
