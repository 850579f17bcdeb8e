#include "facts.hpp"

#include <algorithm>
#include <map>

namespace word_count {

facts describe(const std::vector<ranked_word>& words) {
  facts f;
  f.different = words.size();
  std::size_t longest = 0;
  bool longest_is_shared = false;
  std::map<std::uint32_t, std::uint64_t> own;
  for (const ranked_word& w : words) {
    const std::size_t letters = characters(w.word);
    const bool shared = w.home == several_files;
    f.words += w.count;
    f.once += w.count == 1 ? 1 : 0;
    f.by_length[std::min(letters, longest_column) - 1] += w.count;
    if (!shared) ++own[w.home];
    // A word in only one file may be no word, such as a table of names written without blanks.
    if ((shared && !longest_is_shared) || (shared == longest_is_shared && letters > longest)) {
      f.longest = w.word;
      longest = letters;
      longest_is_shared = shared;
    }
  }
  for (const auto& [file, count] : own) {
    if (count <= f.own) continue;
    f.richest = file;
    f.own = count;
  }
  return f;
}

}  // namespace word_count
