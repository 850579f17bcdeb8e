#include "report.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace word_count {

namespace {

constexpr std::size_t bar_columns = 40;
constexpr std::size_t paths_shown = 3;

/// Characters, not bytes.
std::size_t columns(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string bar(std::uint64_t part, std::uint64_t whole, bool utf8) {
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::uint64_t in_eighths = part * bar_columns * 8 / whole;
  std::string result;
  for (std::uint64_t i = 0; i < in_eighths / 8; ++i) result += utf8 ? "█" : "#";
  if (utf8) result += eighths[in_eighths % 8];
  return result.empty() ? (utf8 ? "▏" : "#") : result;
}

}  // namespace

std::string chart(const std::vector<counted_word>& words, std::size_t top, bool utf8) {
  top = std::min(top, words.size());
  std::size_t widest = 0;
  for (std::size_t i = 0; i < top; ++i) widest = std::max(widest, columns(words[i].word));
  std::string result;
  for (std::size_t i = 0; i < top; ++i) {
    const std::string rank = std::to_string(i + 1);
    const std::string drawn = bar(words[i].count, words.front().count, utf8);
    result += std::string(4 - std::min<std::size_t>(rank.size(), 4), ' ') + rank + "  " + words[i].word +
              std::string(widest - columns(words[i].word) + 2, ' ');
    result += drawn + std::string(bar_columns - std::min(columns(drawn), bar_columns) + 1, ' ') + grouped(words[i].count) + "\n";
  }
  return result;
}

std::string problem_report(const std::vector<problem>& problems) {
  if (problems.empty()) return {};
  std::map<std::string, std::vector<const std::string*>> by_reason;
  for (const problem& p : problems) by_reason[p.why].push_back(&p.path);
  std::string result = "Not counted: " + grouped(problems.size()) + " paths\n";
  for (const auto& [why, paths] : by_reason) {
    result += "  " + why + ": " + grouped(paths.size()) + " (";
    for (std::size_t i = 0; i < std::min(paths.size(), paths_shown); ++i) result += (i == 0 ? "" : ", ") + *paths[i];
    result += paths.size() > paths_shown ? ", …)\n" : ")\n";
  }
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

}  // namespace word_count
