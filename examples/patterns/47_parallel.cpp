// Different stages side by side: each stage gets every tuple, and their results are merged.
#include <garrick/patterns/patterns.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

// [stages]
struct reading {
  int degrees;
};
struct alarm_text {
  std::string text;
};

class too_hot {
 public:
  void consume(reading r, emit<alarm_text> out) {
    if (r.degrees > 90) out({"too hot: " + std::to_string(r.degrees)});
  }
};
class too_fast {  // compares with the previous reading
 public:
  void consume(reading r, emit<alarm_text> out) {
    if (before_ != 0 && r.degrees - before_ > 20)
      out({"rises by " + std::to_string(r.degrees - before_)});
    before_ = r.degrees;
  }

 private:
  int before_ = 0;
};
// [/stages]

int main() {
  actor_system system;
  const auto readings = from(std::vector<reading>{{60}, {62}, {85}, {93}, {70}});
  // [run]
  const auto stream = spawn(system, pipeline(readings, parallel(seq<too_hot>(), seq<too_fast>()),
                                             fold(std::vector<std::string>(),
                                                  [](std::vector<std::string> all, alarm_text a) {
                                                    all.push_back(a.text);
                                                    return all;
                                                  })));
  std::vector<std::string> alarms = system.request(stream, join{}).get().value();
  // [/run]
  std::sort(alarms.begin(), alarms.end());  // results of different stages arrive in any order
  for (const std::string& a : alarms) std::puts(a.c_str());
}
