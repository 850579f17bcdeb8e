#include <garrick/patterns/progress.hpp>

#include <algorithm>
#include <string_view>

#include <unistd.h>

namespace garrick::patterns {

namespace {

constexpr std::size_t widest_bar = 40;
constexpr std::size_t narrowest_bar = 4;

/// Returns a text such as "12 345 678".
std::string grouped(double number) {
  std::string digits = std::to_string(static_cast<std::uint64_t>(std::max(number, 0.0)));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, " ");
  return digits;
}

std::uint64_t counted_by(const stream_report& r, const std::string& stage) {
  if (r.stages.empty()) return 0;
  if (stage.empty()) return r.stages.back().figures.in;
  for (const stage_report& s : r.stages)
    if (s.name == stage) return s.figures.in;
  return 0;
}

}  // namespace

std::string progress_line(const stream_report& before, const stream_report& now, duration between,
                          const progress_options& o) {
  const stream_report stages = now.by_stage();
  const auto done = static_cast<double>(std::min(counted_by(stages, o.counted), o.expected));
  const auto expected = static_cast<double>(o.expected);
  std::string end;
  if (o.expected != 0) {
    const std::string share = std::to_string(static_cast<int>(100 * done / expected));
    end = std::string(3 - share.size(), ' ') + share + " %";
  }
  constexpr std::size_t frame = 3;  // the bar's brackets, and a space
  const std::size_t needed = end.empty() ? 0 : frame + narrowest_bar + end.size();
  if (needed > o.columns) return end.size() > o.columns ? std::string{} : end;
  std::size_t room = o.columns - needed;
  std::string speed;
  for (const stage_rate& r : rates(before.by_stage(), stages, between)) {
    const std::string one = (speed.empty() ? end.empty() ? "" : "  " : ", ") + r.name + " " +
                            grouped(r.per_second) + "/s";
    if (one.size() > room) break;
    speed += one;
    room -= one.size();
  }
  if (end.empty()) return speed;
  const std::size_t width = std::min(widest_bar, narrowest_bar + room);
  const auto filled = static_cast<std::size_t>(static_cast<double>(width) * done / expected);
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] " + end + speed;
}

namespace detail {

bool is_terminal(std::FILE* file) noexcept { return file != nullptr && isatty(fileno(file)) != 0; }

progress_actor::progress_actor(weak_ref<reporting> stream, progress_options o)
    : stream_(std::move(stream)), options_(std::move(o)) {}

void progress_actor::on_start() {
  me_ = self();
  looked_ = now();
  send_every(options_.every, me_, look_again{});
}

void progress_actor::on(look_again) {
  if (asked_) return;
  const ref<reporting> stream = stream_.lock();
  if (!stream) return quit();
  asked_ = true;
  request(stream, get_report{})
      .then(
          [this](const stream_report& r) {
            asked_ = false;
            draw(r);
            if (r.ended) quit();
          },
          [this](const error&) { quit(); });
}

void progress_actor::draw(const stream_report& r) {
  const instant before = std::exchange(looked_, now());
  const std::string line = progress_line(before_, r, looked_ - before, options_);
  before_ = r;
  drawn_ = true;
  std::fprintf(options_.to, "\r\x1b[K%s", line.c_str());
  std::fflush(options_.to);
}

void progress_actor::on_exit(const exit_reason&) {
  if (drawn_) std::fputs("\n", options_.to);
  std::fflush(options_.to);
  me_ = {};
}

}  // namespace detail

}  // namespace garrick::patterns
