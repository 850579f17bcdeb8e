// A farm by key: one replica counts all occurrences of a word, so no counter is shared.
#include <garrick/patterns/patterns.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

// [count]
struct word {
  std::string text;
};
struct total {
  std::string text;
  int count;
};

class count_words {
 public:
  void consume(word w, emit<total> /*out*/) { ++counts_[w.text]; }
  void on_stop(emit<total> out) {  // after the last word
    for (const auto& [text, count] : counts_) out(total{text, count});
  }

 private:
  std::map<std::string, int> counts_;
};
// [/count]

int main() {
  std::vector<word> words;
  std::istringstream text("the cat and the dog and the bird saw the cat");
  for (std::string w; text >> w;) words.push_back({w});

  actor_system system;
  // [farm]
  const auto stream =
      spawn(system, pipeline(from(words), farm(seq<count_words>()).replicas(3).by_key(&word::text),
                             fold(std::vector<total>(), [](std::vector<total> all, total t) {
                               all.push_back(std::move(t));
                               return all;
                             })));
  std::vector<total> totals = system.request(stream, join{}).get().value();
  // [/farm]
  std::sort(totals.begin(), totals.end(), [](const total& a, const total& b) {
    return std::pair(-a.count, a.text) < std::pair(-b.count, b.text);
  });
  for (const total& t : totals) std::printf("%d %s\n", t.count, t.text.c_str());
}
