// What may be in a message: what it owns, and nothing else. The compiler looks into it.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

// [fine]
struct line {
  int from = 0;
  int to = 0;
};
struct drawing {
  std::string title;
  std::vector<line> lines;
  std::map<std::string, std::unique_ptr<line>> named;  // owned: it moves along
  std::shared_ptr<const std::string> legend;           // shared, but nobody can change it
};
static_assert(garrick::base::sendable<drawing>);
// [/fine]

// [refused]
struct with_pointer {
  const char* text = nullptr;
};
struct with_shared_state {
  std::shared_ptr<int> counter;
};
static_assert(!garrick::base::sendable<with_pointer>);
static_assert(!garrick::base::sendable<with_shared_state>);
// [/refused]

// [promise]
// A class with private members cannot be looked into. Whoever wrote it says once that it owns what
// it holds.
class temperature {
 public:
  explicit temperature(double celsius) : celsius_(celsius) {}
  [[nodiscard]] double celsius() const { return celsius_; }

 private:
  double celsius_;
};
template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<temperature> = true;
// [/promise]

// [atoms]
using plus = garrick::atom<"plus">;
using minus = garrick::atom<"minus">;
using math = garrick::protocol<int(plus, int, int), int(minus, int, int)>;

class calculator : public garrick::actor<math> {
 public:
  int on(plus, int a, int b) { return a + b; }
  int on(minus, int a, int b) { return a - b; }
};
// [/atoms]

int main() {
  garrick::actor_system system;
  const auto calc = system.spawn<calculator>();
  std::printf("%d %d\n", system.request(calc, plus{}, 40, 2).get().value(),
              system.request(calc, minus{}, 40, 2).get().value());

  drawing d{"house", {{0, 1}, {1, 2}}, {}, std::make_shared<const std::string>("scale 1:100")};
  d.named["door"] = std::make_unique<line>(line{1, 2});
  const garrick::any_ref viewer = system.spawn([](garrick::dynamic_actor&) -> garrick::behavior {
    return {[](const drawing& seen) {
              return seen.title + ", " + *seen.legend + ", " + std::to_string(seen.lines.size()) +
                     " lines";
            },
            [](const temperature& t) {
              return std::to_string(static_cast<int>(t.celsius())) + " degrees";
            }};
  });
  std::printf("%s\n", system.request_as<std::string>(viewer, std::move(d)).get().value().c_str());
  std::printf("%s\n",
              system.request_as<std::string>(viewer, temperature(21.5)).get().value().c_str());
}
