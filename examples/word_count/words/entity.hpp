// The characters of HTML and XML entities, as far as they are letters or occur inside words.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace word_count {

/// `name` is the text between '&' and ';'. Returns UTF-8; a blank for an unknown name or a
/// character that is not part of a word, and an empty text for invisible marks.
[[nodiscard]] std::string decoded_entity(std::string_view name);

}  // namespace word_count
