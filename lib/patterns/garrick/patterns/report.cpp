#include <garrick/patterns/report.hpp>
#include <garrick/patterns/stream_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace garrick::patterns {

namespace {

/// A node's name, and the numbers of the replicas that it is in: "2.1.split" is a "split".
struct place {
  static constexpr std::size_t most_digits = 4;
  static_assert(most_replicas < 10'000);
  explicit place(const std::string& of) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] == '.' && i != begin && i - begin <= most_digits) {
        numbers.push_back(std::stoul(of.substr(begin, i - begin)));
        begin = i + 1;
      } else if (of[i] < '0' || of[i] > '9') {
        break;
      }
    }
    name = of.substr(begin);
  }
  std::string name;
  std::vector<std::size_t> numbers{};
};

node_figures together(const node_figures& a, const node_figures& b) {
  return {.in = a.in + b.in,
          .out = a.out + b.out,
          .steps = a.steps + b.steps,
          .busy_ns = a.busy_ns + b.busy_ns,
          .blocked_ns = a.blocked_ns + b.blocked_ns,
          .failures = a.failures + b.failures,
          .dropped = a.dropped + b.dropped,
          .partial = a.partial + b.partial,
          .waiting = a.waiting + b.waiting,
          .late = a.late + b.late};
}

/// Returns `what` at the right end of a column of eight characters, with a space before it.
std::string in_column(const std::string& what) {
  return std::string(what.size() < 8 ? 9 - what.size() : 1, ' ') + what;
}

}  // namespace

stream_report stream_report::by_stage() const {
  stream_report all;
  all.left = left;
  all.ended = ended;
  std::vector<place> last;  // of each stage, the replica that was seen last
  for (const stage_report& s : stages) {
    place here(s.name);
    // The last replica comes first. So a replica whose number is not below that of its predecessor
    // belongs to another stage of the same name.
    std::size_t at = 0;
    while (at < last.size() &&
           !(last[at].name == here.name && last[at].numbers.size() == here.numbers.size() &&
             here.numbers < last[at].numbers))
      ++at;
    if (at == last.size()) {
      all.stages.push_back({here.name, s.figures, s.replicas});
      last.push_back(std::move(here));
      continue;
    }
    stage_report& sum = all.stages[at];
    sum.replicas += s.replicas;
    sum.figures = together(sum.figures, s.figures);
    last[at] = std::move(here);
  }
  return all;
}

const stage_report* stream_report::bottleneck() const noexcept {
  const auto busy = [](const stage_report& s) {
    return s.figures.busy_ns / static_cast<std::int64_t>(s.replicas);
  };
  const auto busiest = std::max_element(
      stages.begin(), stages.end(),
      [&](const stage_report& a, const stage_report& b) { return busy(a) < busy(b); });
  return busiest == stages.end() ? nullptr : &*busiest;
}

std::uint64_t stream_report::late() const noexcept {
  std::uint64_t n = 0;
  for (const stage_report& s : stages) n += s.figures.late;
  return n;
}

std::string stream_report::to_string() const {
  std::size_t width = 5;
  const auto title = [](const stage_report& s) {
    return s.replicas == 1 ? s.name : s.name + " (" + std::to_string(s.replicas) + ")";
  };
  const auto any = [&](std::uint64_t node_figures::* what) {
    return std::any_of(stages.begin(), stages.end(),
                       [&](const stage_report& s) { return s.figures.*what != 0; });
  };
  const bool some_dropped = any(&node_figures::dropped);
  const bool some_late = any(&node_figures::late);
  for (const stage_report& s : stages) width = std::max(width, title(s).size());
  const int w = static_cast<int>(std::min<std::size_t>(width, 60));
  char line[240];
  std::snprintf(line, sizeof line, "%-*s %12s %12s %8s %10s %10s %8s", w, "stage", "in", "out",
                "waiting", "busy ms", "blocked ms", "failures");
  std::string text = line;
  if (some_dropped) text += in_column("dropped");
  if (some_late) text += in_column("late");
  text += "\n";
  const stage_report* const slowest = bottleneck();
  for (const stage_report& s : stages) {
    std::snprintf(line, sizeof line, "%-*.*s %12llu %12llu %8llu %10.1f %10.1f %8llu", w, w,
                  title(s).c_str(), static_cast<unsigned long long>(s.figures.in),
                  static_cast<unsigned long long>(s.figures.out),
                  static_cast<unsigned long long>(s.figures.waiting),
                  static_cast<double>(s.figures.busy_ns) * 1e-6,
                  static_cast<double>(s.figures.blocked_ns) * 1e-6,
                  static_cast<unsigned long long>(s.figures.failures));
    text += line;
    if (some_dropped) text += in_column(std::to_string(s.figures.dropped));
    if (some_late) text += in_column(std::to_string(s.figures.late));
    text += &s == slowest ? "  <- bottleneck\n" : "\n";
  }
  return text;
}

std::vector<stage_rate> rates(const stream_report& before, const stream_report& now,
                              duration between) {
  const auto& was = before.stages;
  const auto& is = now.stages;
  bool same = was.size() == is.size();
  for (std::size_t i = 0; same && i < is.size(); ++i) same = was[i].figures.in <= is[i].figures.in;
  std::vector<stage_rate> result;
  for (std::size_t i = 1; i < is.size(); ++i) {
    if (is[i].figures.in == 0 && is[i].figures.out != 0) continue;  // a source beside the stream
    const std::uint64_t more = is[i].figures.in - (same ? was[i].figures.in : 0);
    result.push_back(
        {is[i].name, static_cast<double>(more) * 1e9 /
                         static_cast<double>(std::max<std::int64_t>(between.count(), 1))});
  }
  return result;
}

stream_report report_of(const detail::graph& of, std::uint64_t left) {
  stream_report r;
  r.left = left;
  // a graph is built from the sink to the source
  for (auto n = of.nodes().rbegin(); n != of.nodes().rend(); ++n)
    r.stages.push_back({(*n)->name(), (*n)->figures<node_figures>(), 1});
  return r;
}

}  // namespace garrick::patterns
