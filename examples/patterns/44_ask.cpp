// A stage that sends requests to an actor, several at once.
#include <garrick/patterns/patterns.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

// [ask]
struct translate {
  std::string word;
};

class dictionary : public actor<protocol<std::string(translate)>> {
 public:
  std::string on(const translate& t) {
    if (t.word == "cat") return "Katze";
    if (t.word == "dog") return "Hund";
    return t.word + "?";
  }
};
// [/ask]

int main() {
  actor_system system;
  const auto words = from(std::vector<translate>{{"cat"}, {"and"}, {"dog"}});
  // [run]
  const auto book = system.spawn<dictionary>();
  const auto stream = spawn(
      system,
      pipeline(words, ask(book, 8).ordered(),  // at most 8 under way; answers in the words' order
               for_each([](std::string word) { std::puts(word.c_str()); })));
  system.request(stream, join{}).get().value();
  // [/run]
}
