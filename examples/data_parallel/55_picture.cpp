// A map as a stage: all cores colour the strips of a picture, one strip after the other. The strips
// leave in order, and each is written while the next one is coloured.
//
//   55_picture [PATH]          where the picture goes, a PNG file; nowhere without it
#include <garrick/patterns/patterns.hpp>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "png.hpp"

using namespace garrick;
using namespace garrick::patterns;

namespace {

constexpr int width = 480;
constexpr int height = 320;
constexpr int rows_of_strip = 16;

// [colour]
struct pixel {
  int x, y;
  std::uint8_t red, green, blue;
};

// Colours by the number of steps after which z² + c leaves the circle around 0 in which it may stay
// for ever. Near the Julia set of c this takes many steps, so the work for a pixel varies.
void colour(pixel& p) {
  const std::complex<double> c(-0.8, 0.156);
  std::complex<double> z((p.x - width / 2) / 146.0, (p.y - height / 2) / 146.0);
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

std::vector<std::string> rows_of(const std::vector<pixel>& strip) {
  std::vector<std::string> rows(rows_of_strip);
  for (const pixel& p : strip)
    for (const std::uint8_t c : {p.red, p.green, p.blue})
      rows[static_cast<std::size_t>(p.y % rows_of_strip)] += static_cast<char>(c);
  return rows;
}

std::vector<std::string> by_a_plain_loop() {
  std::vector<std::string> all;
  for (int strip = 0; strip < height / rows_of_strip; ++strip) {
    std::vector<pixel> pixels = blank(strip);
    for (pixel& p : pixels) colour(p);
    for (std::string& row : rows_of(pixels)) all.push_back(std::move(row));
  }
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  std::optional<png> file;
  if (count > 1) file.emplace(arguments[1], width, height);
  std::vector<std::string> rows;
  const auto write = [&](const std::vector<pixel>& strip) {
    for (std::string& row : rows_of(strip)) {
      if (file) file->add_row(row);
      rows.push_back(std::move(row));
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
  const std::vector<std::string> wanted = by_a_plain_loop();
  int wrong = rows.size() == wanted.size() ? 0 : height;
  for (std::size_t y = 0; wrong < height && y < rows.size(); ++y) wrong += rows[y] != wanted[y];
  std::printf("%d x %d pixels, %d of %d rows are not as a plain loop has them\n", width, height,
              wrong, height);
  // The picture is point-symmetric to the last bit, since z and -z have the same square.
  const std::size_t middle = height / 2;
  const auto pixel_of = [&](std::size_t x, std::size_t y) { return rows[y].substr(3 * x, 3); };
  int differ = 0;
  for (std::size_t y = 1; wrong == 0 && y < middle; ++y)
    for (std::size_t x = 1; x < width; ++x)
      differ += pixel_of(x, y) != pixel_of(width - x, height - y);
  std::printf("%d of them differ from those on the other side of the middle\n", differ);
  return wrong == 0 && differ == 0 ? 0 : 1;
}
