#include "function_words.hpp"

#include <algorithm>
#include <array>

namespace word_count {

namespace {

// clang-format off
constexpr std::array<std::string_view, 243> common{
    "about", "above", "after", "again", "against", "all", "also", "although", "always", "am", "among", "an", "and", "another",
    "any", "anything", "are", "aren't", "around", "as", "at", "away", "back", "be", "because", "been", "before", "being",
    "below", "between", "both", "but", "by", "can", "can't", "cannot", "could", "couldn't", "did", "didn't", "do", "does",
    "doesn't", "doing", "don't", "done", "down", "during", "each", "either", "else", "enough", "even", "ever", "every",
    "everything", "few", "first", "for", "from", "further", "get", "gets", "go", "going", "got", "had", "hadn't", "has",
    "hasn't", "have", "haven't", "having", "he", "he'd", "he'll", "he's", "her", "here", "hers", "herself", "him", "himself",
    "his", "how", "however", "i'd", "i'll", "i'm", "i've", "if", "in", "instead", "into", "is", "isn't", "it", "it'll", "it's",
    "its", "itself", "just", "least", "less", "let", "let's", "like", "made", "make", "many", "may", "me", "might", "mine",
    "more", "most", "much", "must", "my", "myself", "near", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing",
    "now", "of", "off", "often", "on", "once", "one", "only", "onto", "or", "other", "others", "our", "ours", "ourselves",
    "out", "over", "own", "per", "perhaps", "quite", "rather", "same", "shall", "she", "she'd", "she'll", "she's", "should",
    "shouldn't", "since", "so", "some", "something", "somewhat", "still", "such", "than", "that", "that's", "the", "their",
    "theirs", "them", "themselves", "then", "there", "there's", "therefore", "these", "they", "they'd", "they'll", "they're",
    "they've", "this", "those", "though", "three", "through", "thus", "to", "together", "too", "toward", "towards", "two",
    "under", "unless", "until", "up", "upon", "us", "very", "via", "was", "wasn't", "we", "we'd", "we'll", "we're", "we've",
    "well", "were", "weren't", "what", "whatever", "when", "where", "whether", "which", "while", "who", "whole", "whom",
    "whose", "why", "will", "with", "within", "without", "won't", "would", "wouldn't", "yes", "yet", "you", "you'd", "you'll",
    "you're", "you've", "your", "yours", "yourself",
};
// clang-format on
static_assert(std::is_sorted(common.begin(), common.end()));

}  // namespace

bool is_function_word(std::string_view word) noexcept {
  return word.size() == 1 || std::binary_search(common.begin(), common.end(), word);
}

}  // namespace word_count
