// A stencil: heat spreads over a plate, step by step, on all workers. On a terminal the program
// shows a moving picture; elsewhere it draws the last state with letters.
#include <garrick/patterns/patterns.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

using namespace garrick;
using namespace garrick::patterns;

namespace {

constexpr std::size_t width = 72;
constexpr std::size_t height = 40;

// [spread]
// Heat in thousandths of a degree. A cell's heat moves most of the way to the mean of its
// neighbours; two spots keep their heat.
int spread(const grid_neighbourhood<int>& n) {
  if (n.y() == 10 && (n.x() == 18 || n.x() == 54)) return 100'000;
  const int around = n(-1, 0) + n(+1, 0) + n(0, -1) + n(0, +1);
  return n(0, 0) + (around - 4 * n(0, 0)) / 5;
}
// [/spread]

/// Returns a shade from 0, cold, to `hottest`.
int shade(int heat, int hottest) { return std::clamp(heat / 5000, 0, hottest); }

/// Returns one of the 6 × 6 × 6 colours that most terminals have: from blue to red and to white.
int colour_of(int heat) {
  constexpr int colours[] = {17, 18, 19, 55, 91, 127, 161, 196, 208, 220, 231};
  return colours[shade(heat, 10)];
}

/// Draws two rows in each line: the upper half of a character in one colour, the lower half in
/// another.
void draw_in_colour(const grid<int>& plate) {
  std::string picture = "\x1b[H";
  for (std::size_t y = 0; y + 1 < plate.height(); y += 2) {
    for (std::size_t x = 0; x < plate.width(); ++x)
      picture += "\x1b[38;5;" + std::to_string(colour_of(plate(x, y))) + ";48;5;" +
                 std::to_string(colour_of(plate(x, y + 1))) + "m\u2580";
    picture += "\x1b[0m\n";
  }
  std::fputs(picture.c_str(), stdout);
  std::fflush(stdout);
}

void draw_in_letters(const grid<int>& plate) {
  constexpr std::string_view from_cold_to_hot = " .:-=+*#%@";
  for (std::size_t y = 1; y < plate.height(); y += 4) {
    std::string line;
    for (std::size_t x = 0; x < plate.width(); x += 2)
      line += from_cold_to_hot[static_cast<std::size_t>(shade(plate(x, y), 9))];
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(line.c_str());
  }
}

/// Shows a picture after each request.
void show(const grid<int>& plate) {
  if (isatty(STDOUT_FILENO) == 0) return;
  draw_in_colour(plate);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
}

}  // namespace

int main() {
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  if (on_terminal) std::fputs("\x1b[2J", stdout);
  actor_system system;
  // [steps]
  const auto steps = spawn(system, stencil(spread, 1, 20, edges::constant(0)));
  grid<int> plate(width, height);
  for (int i = 0; i < 100; ++i) {
    plate = system.request(steps, std::move(plate)).get().value();
    show(plate);
  }
  // [/steps]
  if (!on_terminal) draw_in_letters(plate);
}
