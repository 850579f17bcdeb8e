#include "display.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace word_count {

namespace {
constexpr std::uint32_t bar_width = 40;
constexpr std::int64_t period_ms = 100;
}  // namespace

bool terminal_shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view v(value);
    return v.find("UTF-8") != std::string_view::npos || v.find("utf8") != std::string_view::npos;
  }
  return false;
}

std::string progress_line(const progress& p, std::uint32_t width) {
  if (p.now == phase::finding) return "looking for files";
  if (p.now == phase::auditing) return "checking which counts are there";
  std::string line;
  const std::uint64_t units = p.units == 0 ? 1 : p.units;
  if (width != 0) {
    const auto filled = static_cast<std::size_t>(p.units_done * width / units);
    line = "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] ";
  }
  line += std::to_string(p.units_done * 100 / units) + " % of " + std::to_string(p.files) + " files";
  return p.now == phase::counting ? line : line + ", ranking";
}

void display_actor::on_start() {
  chaos_->handling(role::display);
  send_every(garrick::duration::milliseconds(period_ms), self(), tick{});
}

void display_actor::on(tick) {
  chaos_->handling(role::display);
  // If the foreman falls over this request, the next tick asks again.
  request(foreman_, how_far{}).then([this](const progress& p) { draw(p); }, [](const garrick::error&) {});
}

void display_actor::draw(const progress& p) {
  chaos_->handling(role::display);
  if (how_ == show::bar) {
    std::printf("\r\x1b[K%s", progress_line(p, bar_width).c_str());
  } else {
    const std::uint64_t tenth = p.now == phase::counting && p.units != 0 ? p.units_done * 10 / p.units : 0;
    if (tenth <= last_tenth_) return;
    last_tenth_ = tenth;
    std::printf("%s\n", progress_line(p, 0).c_str());
  }
  std::fflush(stdout);
}

}  // namespace word_count
