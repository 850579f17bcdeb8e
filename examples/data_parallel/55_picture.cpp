// A map as a stage: strips of a picture are coloured by all cores, one strip after the other, so
// they come in their order, and are written while the next one is being made.
//
//   55_picture [PATH]          where the picture goes; julia.png if nothing is said
#include <garrick/patterns/patterns.hpp>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "png.hpp"

using namespace garrick;
using namespace garrick::patterns;

namespace {

constexpr int width = 720;
constexpr int height = 480;
constexpr int rows_of_strip = 16;

// [colour]
struct pixel {
  int x, y;
  std::uint8_t red, green, blue;
};

// How soon z² + c leaves the circle around 0 in which it may stay for ever. Near the Julia set of c
// that takes long, so pixels take differently long, too.
void colour(pixel& p) {
  const std::complex<double> c(-0.8, 0.156);
  std::complex<double> z((p.x - width / 2) / 220.0, (p.y - height / 2) / 220.0);
  int steps = 0;
  while (steps < 400 && std::norm(z) < 4) {
    z = z * z + c;
    ++steps;
  }
  const auto shade = [steps](int speed) {
    const int n = steps * speed;
    return static_cast<std::uint8_t>(n < 255 ? n : 255);
  };
  p.red = shade(4);
  p.green = shade(2);
  p.blue = steps == 400 ? std::uint8_t{0} : static_cast<std::uint8_t>(40 + shade(1) * 2 / 3);
}
// [/colour]

std::vector<pixel> blank(int strip) {
  std::vector<pixel> all;
  for (int y = strip * rows_of_strip; y < (strip + 1) * rows_of_strip; ++y)
    for (int x = 0; x < width; ++x) all.push_back({x, y, 0, 0, 0});
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string path = count > 1 ? arguments[1] : "julia.png";
  png file(path, width, height);
  const auto write = [&](const std::vector<pixel>& strip) {
    std::string row;
    for (const pixel& p : strip) {
      for (const std::uint8_t c : {p.red, p.green, p.blue}) row += static_cast<char>(c);
      if (p.x + 1 == width) file.add_row(std::exchange(row, {}));
    }
  };

  actor_system system;
  // [picture]
  const auto picture = spawn(system, pipeline(counting(0, height / rows_of_strip), seq(blank),
                                              map(colour).dynamic(256), for_each(lent(write))));
  const auto ended = system.request(picture, join{}).get();
  // [/picture]
  if (!ended) {
    std::printf("%s\n", ended.error().to_string().c_str());
    return 1;
  }
  std::printf("%s: %d x %d pixels, %ld bytes\n", path.c_str(), width, height,
              static_cast<long>(std::filesystem::file_size(path)));
}
