// The refusal of a setting: the place, the mistake, and the nearest name that exists.
#include <algorithm>
#include <array>
#include <limits>

#include "garrick/system/settings/internal/layers.hpp"

namespace garrick::system::internal {

namespace {

/// An error shows this much of a place, such as a variable that is too long.
constexpr std::size_t longest_place = 300;

/// No key and no variable is nearly as long, and the search for the nearest name takes time that
/// grows with the square of the length.
constexpr std::size_t longest_name_compared = 100;

/// Returns the edit distance; two exchanged neighbours count as one edit.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

/// Removes the common beginning of both, up to a dot or an underscore, so that a correct "mailbox."
/// does not make "mailbox.fool" similar to "mailbox.pool".
void drop_common_words(std::string_view& a, std::string_view& b) {
  const auto differ = std::ranges::mismatch(a, b).in1;
  const std::string_view same(a.begin(), differ);
  const std::size_t words = same.find_last_of("._") + 1;  // npos + 1 is 0
  a.remove_prefix(words);
  b.remove_prefix(words);
}

constexpr std::size_t far = std::numeric_limits<std::size_t>::max();

/// Returns the number of wrong letters; `far` if another key was probably meant.
std::size_t score(std::string_view word, std::string_view key) {
  drop_common_words(word, key);
  const std::size_t wrong = distance(word, key);
  const std::size_t forgiven = std::max<std::size_t>(1, word.size() / 3);
  constexpr std::size_t telling = 4;  // so many letters of a key's part identify the key
  const bool is_part = word.size() >= telling && key.find(word) != key.npos;
  return wrong < word.size() && (wrong <= forgiven || is_part) ? wrong : far;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& keys) {
  std::string_view best;
  std::size_t least = far;
  for (const std::string_view key : keys) {
    const std::size_t name = key.rfind('.') + 1;  // npos + 1 is 0
    const std::size_t whole = score(word, key);
    const std::size_t last = name == 0 ? far : score(word, key.substr(name));
    const std::size_t wrong = std::min(whole, last == far ? far : last + 1);
    if (wrong < least) {
      least = wrong;
      best = key;
    }
  }
  return std::string(best);
}

base::error refuse(std::string_view where, std::string_view why) {
  return base::make_error(base::errc::invalid_setting, where.substr(0, longest_place), why);
}

base::error refuse_absent_part(std::string_view where, std::string_view section,
                               const std::vector<std::string>& keys) {
  static constexpr std::array<std::string_view, 2> parts{"net", "gpu"};  // parts with settings
  const auto in_section = [section](std::string_view key) {
    return key.starts_with(section) && key.substr(section.size()).starts_with('.');
  };
  if (std::ranges::count(parts, section) == 0 || std::ranges::any_of(keys, in_section)) return {};
  const std::string name(section);
  return refuse(where, name + ".* belongs to garrick::" + name +
                           ", which this program does not link, or whose settings it does not add");
}

base::error unknown_key(std::string_view where, std::string_view what, std::string_view typed,
                        std::string_view prefix, const std::vector<std::string>& keys) {
  std::string why = "there is no ";
  why.append(what).append(" '");
  if (typed.size() > longest_name_compared)
    return refuse(where, why.append(typed.substr(0, longest_name_compared)).append("…'"));
  why.append(typed).append("'");
  const std::string_view key =
      prefix.empty() ? typed : typed.substr(std::min(typed.find_first_not_of('-'), typed.size()));
  const std::string meant = nearest(key, keys);
  if (meant.empty()) return refuse(where, why);
  why.append("; did you mean '").append(prefix).append(meant);
  return refuse(where, why.append("'?"));
}

}  // namespace garrick::system::internal
