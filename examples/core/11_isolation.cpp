// The content of a message and the parts of an actor: values that they own, and nothing else. The
// compiler checks it.
#include <garrick/base/types/wire_name.hpp>
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
  std::map<std::string, std::unique_ptr<line>> named;  // owned: moved with the message
  std::shared_ptr<const std::string> legend;           // shared, but it cannot change
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

// [wire_name]
using drawings = std::map<long, std::vector<line>>;
static_assert(garrick::base::wire_name<drawings> == "std::map<i64, std::vector<line>>");
// [/wire_name]

// [promise]
// The compiler cannot look into a class with private members. The class declares once that it owns
// everything that it holds.
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

// [given]
// An actor gets its parts from its spawner, and owns them from then on.
class archive : public garrick::actor<garrick::protocol<void(line)>> {
 public:
  archive(std::string name, std::unique_ptr<std::FILE, int (*)(std::FILE*)> file)
      : name_(std::move(name)), file_(std::move(file)) {}
  void on(line l) { std::fprintf(file_.get(), "%s: %d-%d\n", name_.c_str(), l.from, l.to); }

 private:
  std::string name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};
// [/given]

// [lent]
// Counts in a variable of its spawner, which reads the variable only after the actor's end.
class tally : public garrick::actor<garrick::protocol<void(line)>> {
 public:
  explicit tally(int& lines) : lines_(lines) {}
  void on(line) { ++lines_; }

 private:
  int& lines_;
};

int count_lines() {
  int lines = 0;  // outlives the system, and so the actor
  {
    garrick::actor_system system;
    send(system.spawn<tally>(garrick::lent(lines)), line{1, 2});
  }
  return lines;
}
// [/lent]

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

  // [spawn]
  std::string name = "lines";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  send(system.spawn<archive>(name, std::move(file)), line{3, 4});  // the name is copied
  system.spawn([](garrick::dynamic_actor& self, const garrick::any_ref& to,
                  double celsius) { self.send(to, temperature(celsius)); },
               viewer, 17.0);  // arguments, not captures
  // [/spawn]
  std::printf("%d line\n", count_lines());
}
