// The words that are frequent in every English text: articles, pronouns, prepositions,
// conjunctions, auxiliaries.
//
// Thread safety: pure functions.
#pragma once

#include <string_view>

namespace word_count {

/// Returns true for common English function words in lower case, and for single letters.
[[nodiscard]] bool is_function_word(std::string_view word) noexcept;

}  // namespace word_count
