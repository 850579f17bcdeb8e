#include "report.hpp"

#include "facts.hpp"
#include "words/function_words.hpp"

#include <garrick/base/types/print.hpp>

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace word_count {

namespace {

constexpr std::size_t screen_columns = 80;
constexpr std::size_t label_columns = 15;
constexpr std::size_t text_columns = screen_columns - label_columns;
constexpr std::size_t changes_shown = 10;

std::string padded(std::string text, std::size_t columns) {
  text.append(columns - std::min(columns, characters(text)), ' ');
  return text;
}
std::string right(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, text.size()), ' ') + text;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return std::to_string((part * 100 + whole / 2) / whole);
}

/// A list of words with bars: half a screen wide.
class column {
 public:
  static constexpr std::size_t columns = screen_columns / 2 - 1;

  column(const std::vector<ranked_word>& words, std::size_t top, bool with_function_words,
         bool utf8)
      : utf8_(utf8) {
    for (const ranked_word& w : words) {
      if (listed_.size() == top) break;
      if (with_function_words || !is_function_word(w.word)) listed_.push_back(&w);
    }
    for (const ranked_word* w : listed_)
      widest_ = std::max(widest_, std::min(characters(w->word), most_letters));
  }

  [[nodiscard]] std::size_t rows() const noexcept { return listed_.size(); }

  [[nodiscard]] std::string row(std::size_t i) const {
    if (i >= listed_.size()) return {};
    const std::string rank = std::to_string(i + 1);
    const std::size_t numbers = grouped(listed_.front()->count).size();
    const std::size_t rank_columns =
        std::max<std::size_t>(3, std::to_string(listed_.size()).size() + 1);
    const std::size_t bars = columns - rank_columns - 2 - widest_ - 1 - 1 - numbers;
    return right(rank, rank_columns) + "  " + padded(word(listed_[i]->word), widest_) + " " +
           padded(bar(listed_[i]->count, listed_.front()->count, bars, utf8_), bars) + " " +
           right(grouped(listed_[i]->count), numbers);
  }

 private:
  static constexpr std::size_t most_letters = 15;

  [[nodiscard]] static std::string word(const std::string& text) {
    if (characters(text) <= most_letters) return text;
    std::size_t end = 0;
    for (std::size_t letters = 0; end < text.size(); ++end)
      if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && ++letters == most_letters)
        break;
    return text.substr(0, end) + "~";
  }

  bool utf8_;
  std::size_t widest_ = 0;
  std::vector<const ranked_word*> listed_;
};

std::string as_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

std::string without_blanks_at_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string chart(const std::vector<ranked_word>& words, std::size_t top, bool utf8) {
  const column all(words, top, true, utf8);
  const column telling(words, top, false, utf8);
  if (all.rows() == 0) return {};
  std::string result = padded("     the most frequent words", column::columns + 2) +
                       "     without the commonest English ones\n";
  for (std::size_t i = 0; i < all.rows(); ++i)
    result +=
        without_blanks_at_end(padded(all.row(i), column::columns + 2) + telling.row(i)) + "\n";
  return result;
}

std::string length_chart(const std::vector<ranked_word>& words, bool utf8) {
  static constexpr const char* eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t cell = 5;
  const facts f = describe(words);
  if (f.words == 0) return {};
  const std::uint64_t most = *std::max_element(f.by_length.begin(), f.by_length.end());
  std::string letters;
  std::string bars;
  std::string shares;
  for (std::size_t i = 0; i < longest_column; ++i) {
    const std::uint64_t n = f.by_length[i];
    letters += right(std::to_string(i + 1), cell);
    bars += n == 0 ? std::string(cell, ' ')
                   : std::string(cell - 2, ' ') + eighths[n * 7 / most] + eighths[n * 7 / most];
    shares += right(percent(n, f.words), cell);
  }
  return labelled("letters", {letters + "+"}) + (utf8 ? labelled("", {bars}) : std::string{}) +
         labelled("% of the words", {shares});
}

std::string summary(const outcome& o) {
  const plan& p = *o.what;
  const facts f = describe(o.words);
  const double seconds = std::max(o.seconds, 1e-6);
  const auto a_second = [&](std::uint64_t n) {
    return grouped(static_cast<std::uint64_t>(static_cast<double>(n) / seconds));
  };
  const auto marked = static_cast<std::uint64_t>(std::count_if(
      p.files.begin(), p.files.end(), [](const source& s) { return s.how == form::markup; }));
  const std::uint64_t plain = p.files.size() - marked;
  std::string files = grouped(plain) + (plain == 1 ? " plain text" : " plain texts");
  if (marked != 0) files += ", " + grouped(marked) + " in HTML, XML or SVG without their markup";
  std::string result = labelled("files", {files});
  if (!p.problems.empty()) result += labelled("not counted", by_reason(p.problems, text_columns));
  std::vector<std::string> changed;
  for (const problem& c : o.changed) {
    if (changed.size() == changes_shown) break;
    changed.push_back(shortened(printable(c.path), text_columns - c.why.size() - 2) + ": " + c.why);
  }
  if (o.changed.size() > changed.size())
    changed.push_back("and " + grouped(o.changed.size() - changed.size()) + " more");
  if (!changed.empty()) result += labelled("changed", changed);
  if (f.words == 0) {
    result += labelled("words", {"none"});
  } else {
    result += labelled("words", {grouped(f.words) + " without addresses and paths, " +
                                 a_second(f.words) + " a second"});
    result += labelled("different", {grouped(f.different) + " words, " +
                                     percent(f.once, f.different) + " % of them occur once"});
    result += labelled("longest word", {f.longest});
  }
  if (f.richest != several_files) {
    const std::string own =
        " (" + grouped(f.own) + (f.own == 1 ? " word" : " words") + " of its own)";
    result +=
        labelled("richest file",
                 {shortened(printable(p.files[f.richest].path), text_columns - own.size()) + own});
  }
  return result + stage_lines(o.stream) + node_lines(o.nodes) +
         labelled("run", {as_seconds(o.seconds) + " for " + as_bytes(p.bytes) + "; " +
                              as_bytes(peak_memory()) + " of memory",
                          grouped(o.messages) + " messages and tuples, " + a_second(o.messages) +
                              " a second"});
}

std::string stage_lines(const garrick::patterns::stream_report& stream) {
  std::vector<std::string> lines;
  for (const garrick::patterns::stage_report& s : stream.stages)
    lines.push_back(padded(s.name, 6) + right(grouped(std::max(s.figures.in, s.figures.out)), 11) +
                    " tuples in" +
                    right(as_seconds(static_cast<double>(s.figures.busy_ns) * 1e-9), 8) +
                    (s.replicas == 1 ? "" : " of " + grouped(s.replicas) + " replicas") +
                    (&s == stream.bottleneck() ? " <- bottleneck" : ""));
  return labelled("stages", lines);
}

std::string node_lines(const std::vector<node_work>& nodes) {
  std::vector<std::string> lines;
  for (const node_work& n : nodes) {
    const std::string process = n.node == 1  ? "this process"
                                : n.pid == 0 ? "never there"
                                             : "pid " + std::to_string(n.pid);
    std::string line = std::to_string(n.node) + "  " + padded(process, 13) +
                       right(grouped(n.parts), 5) + " parts," + right(as_bytes(n.bytes), 9);
    if (n.was_killed)
      line += "; killed";
    else if (n.ended != 0)
      line += "; it ended";
    if (n.given_to_others != 0) line += ", " + grouped(n.given_to_others) + " parts redone";
    if (n.lives > 1) line += ", restarted";
    lines.push_back(line);
  }
  return labelled("nodes", lines);
}

std::vector<std::string> by_reason(const std::vector<problem>& problems, std::size_t columns) {
  std::map<std::string, std::vector<const std::string*>> grouped_paths;
  for (const problem& p : problems) grouped_paths[p.why].push_back(&p.path);
  std::vector<std::string> lines;
  for (const auto& [why, paths] : grouped_paths) {
    const std::string begin = why + ": " + grouped(paths.size()) + " (";
    const std::string end = paths.size() > 1 ? ", ...)" : ")";
    const std::size_t taken = begin.size() + end.size();
    lines.push_back(
        begin + shortened(printable(*paths.front()), columns > taken ? columns - taken : 0) + end);
  }
  return lines;
}

std::string strike_report(const outcome& o) {
  std::uint64_t sum = 0;
  std::vector<std::string> lines{""};
  for (std::size_t r = 0; r < role_count; ++r) {
    sum += o.strikes[r];
    const std::string part = std::string(role_names[r]) + " " + grouped(o.strikes[r]);
    if (lines.back().size() + part.size() + 3 > text_columns) lines.emplace_back();
    lines.back() += part + (r + 1 < role_count ? ", " : "");
  }
  lines.insert(lines.begin(), "killed " + grouped(sum) + " handlers in the middle of their work:");
  return labelled("chaos", lines);
}

std::string labelled(std::string_view label, const std::vector<std::string>& lines) {
  std::string result;
  for (const std::string& line : lines)
    result += without_blanks_at_end(
                  padded(std::string(result.empty() ? label : ""), label_columns) + line) +
              "\n";
  return result;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ' ');
  return digits;
}

std::string as_bytes(std::uint64_t bytes) {
  static constexpr const char* units[] = {"B", "kB", "MB", "GB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit < 3; ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<std::uint64_t>(usage.ru_maxrss);
#else
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t columns, bool utf8) {
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::uint64_t in_eighths = part * columns * 8 / whole;
  std::string result;
  for (std::uint64_t i = 0; i < in_eighths / 8; ++i) result += utf8 ? "█" : "#";
  if (utf8) result += eighths[in_eighths % 8];
  return result.empty() ? (utf8 ? "▏" : "#") : result;
}

std::string shortened(const std::string& text, std::size_t columns) {
  if (characters(text) <= columns) return text;
  std::string_view rest = text;
  while (!rest.empty() && characters(rest) + 3 > columns) rest.remove_prefix(1);
  while (!rest.empty() && (static_cast<unsigned char>(rest.front()) & 0xc0) == 0x80)
    rest.remove_prefix(1);
  return "..." + std::string(rest);
}

std::string printable(const std::string& path) {
  const std::string quoted = garrick::base::to_string(path);
  return quoted.substr(1, quoted.size() - 2);
}

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col
                                                                          : screen_columns;
}

bool terminal_shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view v(value);
    return v.find("UTF-8") != std::string_view::npos || v.find("utf8") != std::string_view::npos;
  }
  return false;
}

}  // namespace word_count
