#include "display.hpp"

#include <algorithm>
#include <cstdio>

namespace word_count {

namespace {
constexpr std::size_t bar_width = 40;
constexpr std::int64_t period_ms = 100;
}  // namespace

std::string progress_line(const progress& p, std::size_t width, bool utf8) {
  if (p.now == phase::finding) return "looking for files";
  if (p.now == phase::auditing) return "checking which counts are there";
  const std::uint64_t units = std::max<std::uint64_t>(p.units, 1);
  std::string line = p.now == phase::counting ? "counting  " : "ranking   ";
  if (width != 0) {
    const std::string filled = p.units_done == 0 ? "" : bar(p.units_done, units, width, utf8);
    line += "[" + filled + std::string(width - characters(filled), utf8 ? ' ' : '.') + "] ";
  }
  const std::string share = std::to_string(p.units_done * 100 / units);
  return line + std::string(3 - std::min<std::size_t>(share.size(), 3), ' ') + share + " % of " +
         grouped(p.files) + " files";
}

void display_actor::on_start() {
  chaos_->handling(role::display);
  send_every(garrick::duration::milliseconds(period_ms), self(), tick{});
}

void display_actor::on(tick) {
  chaos_->handling(role::display);
  // If the foreman falls over this request, the next tick asks again.
  request(foreman_, how_far{})
      .then([this](const progress& p) { draw(p); }, [](const garrick::error&) {});
}

void display_actor::draw(const progress& p) {
  chaos_->handling(role::display);
  if (how_ == show::bar) {
    std::printf("\r\x1b[K%s", progress_line(p, bar_width, utf8_).c_str());
  } else {
    const std::uint64_t tenth =
        p.now == phase::counting && p.units != 0 ? p.units_done * 10 / p.units : 0;
    if (tenth <= last_tenth_) return;
    last_tenth_ = tenth;
    std::printf("%s\n", progress_line(p, 0, utf8_).c_str());
  }
  std::fflush(stdout);
}

}  // namespace word_count
