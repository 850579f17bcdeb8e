// Dead letters are counted by their reason, whatever its category; the latest are kept.
#include <garrick/system/diagnosis/dead_letters.hpp>
#include <garrick/system/names/registry.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

namespace dead_letters_test {

using garrick::base::errc;
using garrick::base::error;
using garrick::system::dead_letters;
using garrick::system::registry_errc;

namespace {

void lose(dead_letters& letters, const error& why) {
  garrick::core::undelivered letter;
  letter.reason = why;
  letters.take(letter);
}

/// Returns the number of codes that have a text.
std::uint32_t codes_of_errc() {
  std::uint32_t n = 1;
  while (error(static_cast<errc>(n)).message().find("unknown") == std::string::npos) ++n;
  return n - 1;
}

}  // namespace

TEST_CASE("every reason of the framework has a count of its own, and there is room for more") {
  dead_letters letters(1);
  const std::uint32_t codes = codes_of_errc() * 2;
  for (std::uint32_t code = 1; code <= codes; ++code)
    for (std::uint32_t n = 0; n < code; ++n) lose(letters, error(static_cast<errc>(code)));
  for (std::uint32_t code = 1; code <= codes; ++code) {
    CHECK(letters.count(static_cast<errc>(code)) == code);
    CHECK(letters.count(error(static_cast<errc>(code))) == code);
  }
  CHECK(letters.count() == std::uint64_t{codes} * (codes + 1) / 2);
}

TEST_CASE("a reason of another category is counted by category and code") {
  dead_letters letters(1);
  CHECK(letters.count(registry_errc::not_found) == 0);
  lose(letters, registry_errc::not_found);
  lose(letters, garrick::base::make_error(registry_errc::not_found, "a text does not count"));
  lose(letters, registry_errc::name_taken);
  lose(letters, errc::not_found);
  CHECK(letters.count(registry_errc::not_found) == 2);
  CHECK(letters.count(registry_errc::name_taken) == 1);
  CHECK(letters.count(registry_errc::closed) == 0);
  CHECK(letters.count(errc::not_found) == 1);
  CHECK(letters.count(error()) == 0);
  CHECK(letters.count() == 4);
}

TEST_CASE("endlessly many reasons take no endless memory: the sum stays exact") {
  dead_letters letters(1);
  const auto& family = error_category_of(registry_errc::not_found);
  constexpr std::uint32_t many = 1000;
  for (std::uint32_t code = 0; code < many; ++code) lose(letters, error(code, family));
  CHECK(letters.count(error(255, family)) == 1);
  CHECK(letters.count(error(256, family)) == 0);
  CHECK(letters.count() == many);
}

TEST_CASE(
    "the latest dead letters are kept, the newest first, and no more than there is room for") {
  dead_letters letters(1);
  CHECK(letters.recent().empty());
  for (std::uint64_t i = 1; i <= dead_letters::most_recent + 10; ++i) {
    garrick::core::undelivered letter;
    letter.receiver = i;
    letter.sender = i + 1000;
    letter.descriptor = &garrick::base::message_type_of<int>;
    letter.reason = errc::not_handled;
    letters.take(letter);
    CHECK(letters.recent().size() == std::min<std::size_t>(i, dead_letters::most_recent));
  }
  const auto all = letters.recent();
  for (std::size_t i = 0; i != all.size(); ++i) {
    CHECK(all[i].receiver == dead_letters::most_recent + 10 - i);
    CHECK(all[i].sender == all[i].receiver + 1000);
  }
  CHECK(all[0].type == &garrick::base::message_type_of<int>);
  CHECK(all[0].code == error(errc::not_handled).code());
  CHECK(all[0].category == error(errc::not_handled).category());
}

}  // namespace dead_letters_test
