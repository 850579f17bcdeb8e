// The linker's name of a type, compared with its wire name.
#include "garrick/base/types/wire_name.hpp"

namespace garrick::base::detail {

namespace {

/// Takes a length and a word, such as "7account", off `mangled`. Returns the word; empty if none
/// comes.
std::string_view take_word(std::string_view& mangled) noexcept {
  std::size_t length = 0;
  std::size_t at = 0;
  for (; at < mangled.size() && mangled[at] >= '0' && mangled[at] <= '9'; ++at)
    length = length * 10 + static_cast<std::size_t>(mangled[at] - '0');
  if (length > mangled.size() - at) return {};
  const std::string_view word = mangled.substr(at, length);
  mangled.remove_prefix(at + length);
  return word;
}

}  // namespace

// The names of the ABI that GCC and clang share: "7account", "N4shop5orderE", "N4shop3boxIiEE".
// Names in std are abbreviated (St, Sa, Ss), and the same for all compilers.
bool is_linker_name(std::string_view mangled, std::string_view name) noexcept {
  if (mangled.starts_with('*')) mangled.remove_prefix(1);  // GCC: compare addresses, not texts
  if (mangled.starts_with('N')) mangled.remove_prefix(1);
  if (mangled.starts_with('S')) return true;
  for (bool first = true;; first = false) {
    const std::string_view word = take_word(mangled);
    if (word.empty()) return !first && name.empty();
    if (!first) {
      if (!name.starts_with("::")) return false;
      name.remove_prefix(2);
    }
    if (!name.starts_with(word)) return false;
    name.remove_prefix(word.size());
  }
}

}  // namespace garrick::base::detail
