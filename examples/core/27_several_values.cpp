// An answer of several values, or an error.
#include <garrick/garrick.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

// [protocol]
struct range_of {
  std::vector<int> numbers;
};
using statistics = garrick::protocol<garrick::result<int, int>(range_of)>;

class statistics_actor : public garrick::actor<statistics> {
 public:
  garrick::result<int, int> on(const range_of& r) {
    if (r.numbers.empty())
      return garrick::make_error(garrick::errc::user, "range_of", "there are no numbers");
    const auto [least, most] = std::minmax_element(r.numbers.begin(), r.numbers.end());
    return {*least, *most};
  }
};
// [/protocol]

// [asker]
class asker : public garrick::actor<garrick::protocol<int(std::vector<int>)>> {
 public:
  explicit asker(garrick::ref<statistics> s) : statistics_(std::move(s)) {}
  garrick::task<int> on(std::vector<int> numbers) {
    const garrick::result<int, int> range =
        co_await request<range_of>(statistics_, std::move(numbers));
    if (!range) co_return range.error();
    const auto& [least, most] = *range;  // a std::tuple
    co_return most - least;
  }

 private:
  garrick::ref<statistics> statistics_;
};
// [/asker]

int main() {
  garrick::actor_system system;
  const auto s = system.spawn<statistics_actor>();
  const auto [least, most] = system.request(s, range_of{{3, 1, 4, 1, 5}}).get().value();
  std::printf("from %d to %d\n", least, most);
  const auto a = system.spawn<asker>(s);
  std::printf("width %d\n", system.request(a, std::vector<int>{2, 7, 1, 8}).get().value());
  const auto none = system.request(a, std::vector<int>()).get();
  std::printf("%s\n", none.error().to_string().c_str());
}
