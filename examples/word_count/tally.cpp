#include "tally.hpp"

#include <algorithm>

namespace word_count {

std::vector<ranked_word> ranked(lexicon words) {
  std::vector<ranked_word> list;
  list.reserve(words.size());
  while (!words.empty()) {
    auto node = words.extract(words.begin());
    list.push_back({std::move(node.key()), node.mapped().count, node.mapped().home});
  }
  std::sort(list.begin(), list.end(), [](const ranked_word& a, const ranked_word& b) {
    return a.count != b.count ? a.count > b.count : a.word < b.word;
  });
  return list;
}

}  // namespace word_count
