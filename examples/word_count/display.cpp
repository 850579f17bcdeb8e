#include "display.hpp"

#include <algorithm>
#include <cstdio>

namespace word_count {

namespace {
constexpr std::size_t bar_width = 40;
constexpr std::size_t least_bar_width = 4;
constexpr std::int64_t period_ms = 100;
}  // namespace

std::vector<std::string> rate_texts(const garrick::patterns::stream_report& before,
                                    const garrick::patterns::stream_report& now,
                                    garrick::duration between) {
  std::vector<std::string> result;
  for (const auto& r : garrick::patterns::rates(before, now, between))
    result.push_back(r.name + " " + grouped(static_cast<std::uint64_t>(r.per_second)));
  return result;
}

std::string progress_line(const progress& p, const std::vector<std::string>& rates,
                          std::size_t columns, bool utf8) {
  if (p.now == phase::finding) return "looking for files";
  if (p.now == phase::auditing) return "checking which counts are there";
  const std::uint64_t shares = std::max<std::uint64_t>(p.shares, 1);
  const std::string share = std::to_string(p.shares_done * 100 / shares);
  std::string line = p.now == phase::counting ? "counting  " : "ranking   ";
  std::string end = std::string(3 - std::min<std::size_t>(share.size(), 3), ' ') + share +
                    " % of " + grouped(p.files) + " files";
  constexpr std::string_view unit = " /s";
  const std::size_t frame = 3;  // columns of the bar's frame
  const std::size_t needed = line.size() + frame + least_bar_width + end.size() + 1;
  if (columns < needed) return line + end;
  std::size_t room = columns - needed;
  std::string speed;
  for (const std::string& r : rates) {
    if (speed.size() + 2 + r.size() + unit.size() > room) break;
    speed += (speed.empty() ? "  " : ", ") + r;
  }
  if (!speed.empty()) speed += unit;
  room -= speed.size();
  const std::size_t width = std::min(bar_width, least_bar_width + room);
  const std::string filled = p.shares_done == 0 ? "" : bar(p.shares_done, shares, width, utf8);
  return line + "[" + filled + std::string(width - characters(filled), utf8 ? ' ' : '.') + "] " +
         end + speed;
}

void clear_line() {
  std::fputs("\r\x1b[K", stdout);
  std::fflush(stdout);
}

void display_actor::on_start() {
  chaos_->handling(role::display);
  send_every(garrick::duration::milliseconds(period_ms), self(), tick{});
}

// [display]
void display_actor::on(tick) {
  chaos_->handling(role::display);
  // If the foreman fails at this request, the next tick sends another one.
  request(foreman_, how_far{})
      .then(
          [this](progress p) {
            chaos_->handling(role::display);
            if (!p.stream) return draw(p, {});
            request(p.stream, garrick::patterns::get_report{})
                .then(
                    [this, p](const garrick::patterns::stream_report& r) { draw(p, r.by_stage()); },
                    [](const garrick::error&) {});
          },
          [](const garrick::error&) {});
}
// [/display]

void display_actor::draw(progress p, const garrick::patterns::stream_report& stream) {
  chaos_->handling(role::display);
  for (const garrick::patterns::stage_report& s : stream.stages)  // since the audit
    if (s.name == "count") p.shares_done = std::min(p.shares, p.shares_done + s.figures.in);
  const garrick::instant before_that = std::exchange(looked_, now());
  const garrick::patterns::stream_report before = std::exchange(before_, stream);
  if (how_ == show::bar) {
    std::printf("\r\x1b[K%s", progress_line(p, rate_texts(before, stream, looked_ - before_that),
                                            terminal_columns(), utf8_)
                                  .c_str());
  } else {
    const std::uint64_t tenth =
        p.now == phase::counting && p.shares != 0 ? p.shares_done * 10 / p.shares : 0;
    if (tenth <= last_tenth_) return;
    last_tenth_ = tenth;
    std::printf("%s\n", progress_line(p, {}, 0, utf8_).c_str());
  }
  std::fflush(stdout);
}

}  // namespace word_count
