// The lines of a file, and their words: pieces of the file in memory, not copies.
#include <garrick/patterns/patterns.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

using namespace garrick;
using namespace garrick::patterns;

// [words]
void words_of(slice line, emit<slice> out) {
  slicer pieces(line);  // many slices of one text
  std::string_view rest = line.text();
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (!word.empty()) out(pieces.of(word));
    rest.remove_prefix(word.size() == rest.size() ? rest.size() : word.size() + 1);
  }
}

slice longer(slice longest, slice word) { return word.size() > longest.size() ? word : longest; }
// [/words]

int main() {
  const std::filesystem::path file = "43_lines_of_a_file.txt";
  std::ofstream(file) << "Be not afeard; the isle is full of noises,\n"
                         "Sounds, and sweet airs, that give delight and hurt not.\n"
                         "Sometimes a thousand twangling instruments\n"
                         "Will hum about mine ears\n";
  actor_system system;
  // [run]
  const auto stream =
      spawn(system, pipeline(lines_of(file.string()), words_of, fold(slice(), longer)));
  const slice longest = system.request(stream, join{}).get().value();  // keeps its text alive
  std::printf("%s\n", longest.to_string().c_str());

  const auto missing = spawn(system, pipeline(lines_of("no such file"), discard<slice>()));
  std::printf("%s\n", system.request(missing, join{}).get().error().to_string().c_str());
  // [/run]
  std::filesystem::remove(file);
}
