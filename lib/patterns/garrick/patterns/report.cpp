#include <garrick/patterns/report.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace garrick::patterns {

const stage_report* stream_report::bottleneck() const noexcept {
  const auto busiest = std::max_element(stages.begin(), stages.end(),
                                        [](const stage_report& a, const stage_report& b) {
                                          return a.figures.busy_ns < b.figures.busy_ns;
                                        });
  return busiest == stages.end() ? nullptr : &*busiest;
}

std::string stream_report::to_string() const {
  std::size_t width = 5;
  for (const stage_report& s : stages) width = std::max(width, s.name.size());
  const int w = static_cast<int>(std::min<std::size_t>(width, 60));
  char line[240];
  std::snprintf(line, sizeof line, "%-*s %12s %12s %10s %10s %8s\n", w, "stage", "in", "out",
                "busy ms", "blocked ms", "failures");
  std::string text = line;
  const stage_report* const slowest = bottleneck();
  for (const stage_report& s : stages) {
    std::snprintf(line, sizeof line, "%-*.*s %12llu %12llu %10.1f %10.1f %8llu%s\n", w, w,
                  s.name.c_str(), static_cast<unsigned long long>(s.figures.in),
                  static_cast<unsigned long long>(s.figures.out),
                  static_cast<double>(s.figures.busy_ns) * 1e-6,
                  static_cast<double>(s.figures.blocked_ns) * 1e-6,
                  static_cast<unsigned long long>(s.figures.failures),
                  &s == slowest ? "  <- bottleneck" : "");
    text += line;
  }
  return text;
}

stream_report report_of(const graph& of, std::uint64_t left) {
  stream_report r;
  r.left = left;
  // a graph is built from the sink to the source
  for (auto n = of.nodes().rbegin(); n != of.nodes().rend(); ++n)
    r.stages.push_back({(*n)->name(), (*n)->figures()});
  return r;
}

}  // namespace garrick::patterns
