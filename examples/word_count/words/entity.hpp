// The characters that entities of HTML and XML stand for, as far as they are letters or occur
// inside words.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace word_count {

/// `name` is the text between '&' and ';'. Returns UTF-8: a blank for an unknown name or a
/// character that is not part of a word, nothing for marks that a reader does not see.
[[nodiscard]] std::string decoded_entity(std::string_view name);

}  // namespace word_count
