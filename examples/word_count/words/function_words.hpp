// The words that every English text is full of, on any subject: articles, pronouns, prepositions,
// conjunctions, auxiliaries.
//
// Thread safety: pure functions.
#pragma once

#include <string_view>

namespace word_count {

/// True for common English function words in lower case, and for single letters.
[[nodiscard]] bool is_function_word(std::string_view word) noexcept;

}  // namespace word_count
