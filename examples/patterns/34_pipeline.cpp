// A pipeline: lines become words, words become a number.
#include <garrick/patterns/patterns.hpp>

#include <cstddef>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

void split(std::string line, emit<std::string> out) {  // any number of words for a line
  std::istringstream words(line);
  for (std::string word; words >> word;) out(word);
}

std::size_t length(std::string word) { return word.size(); }  // one result for each word

int main() {
  const std::vector<std::string> hamlet{
      "To be, or not to be, that is the question:", "Whether 'tis nobler in the mind to suffer",
      "The slings and arrows of outrageous fortune"};
  actor_system system;
  const auto letters = pipeline(from(hamlet), split, length,
                                fold(0UL, [](std::size_t sum, std::size_t n) { return sum + n; }));
  const auto stream = spawn(system, letters);
  std::printf("%zu letters and marks\n", system.request(stream, join{}).get().value());
  std::fputs(print(letters).c_str(), stdout);
}
