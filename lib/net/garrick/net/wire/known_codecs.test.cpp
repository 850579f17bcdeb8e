// Tests of the names and texts in errors of other processes. codec.test.cpp shows that the errors
// arrive as equal ones.
#include "garrick/net/wire/known_codecs.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "garrick/net/printable.hpp"
#include "garrick/net/wire/codec.hpp"

namespace known_codecs_test {

using namespace garrick;
using namespace garrick::net;

namespace {

/// A category of another program: no list here has it.
struct unlisted_category final : base::error_category {
  unlisted_category(std::string called, std::string says)
      : name_(std::move(called)), says_(std::move(says)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::string message(std::uint32_t) const override { return says_; }

 private:
  const std::string name_, says_;
};

base::error arrived(const base::error& e) {
  const auto bytes = encode(e);
  REQUIRE(bytes.has_value());
  const auto back = decode<base::exit_reason>(bytes->bytes());
  REQUIRE(back.has_value());
  return back->as_error();
}

}  // namespace

TEST_CASE("texts of another process's error are printable, and no longer than need be") {
  std::string text = "\x1b[2J\n";
  while (text.size() < 1u << 20) text += text;
  const unlisted_category long_name(text, text);
  const unlisted_category short_name("\x1b[2J", "full");
  for (const base::error& e :
       {base::make_error(base::errc::user, text, text), base::error(5, long_name, text, text),
        base::error(5, short_name, "", text)}) {
    const base::error here = arrived(e);
    const std::string told = here.to_string();
    CHECK(told.size() < most_printed + 200);
    CHECK(told.ends_with("..."));
    CHECK(told.find_first_of("\x1b\n") == std::string::npos);
    // A text that goes on to a third process is neither cut nor escaped again.
    CHECK(arrived(here).to_string() == told);
  }
}

TEST_CASE("a name that is not printable is known as it is, and shown escaped") {
  const unlisted_category odd("\x1b[2J", "full");
  const base::error e = arrived(base::error(5, odd));
  REQUIRE(e.category() != nullptr);
  CHECK(e.category()->name() == "\x1b[2J");
  CHECK(e.to_string() == "another process's error 5 of the category \\x1b[2J: full");
  CHECK(arrived(e) == e);
}

TEST_CASE("one process's names use up its own share of the stand-ins, and no other's") {
  foreign_names one, other;
  CHECK(one.empty());
  std::set<const base::error_category*> different;
  for (std::size_t i = 0; i != 10 * foreign_names::most; ++i)
    different.insert(&foreign_category("of one " + std::to_string(i), &one));
  CHECK(different.size() == foreign_names::most + 1);  // and the one of all others
  CHECK_FALSE(one.empty());
  CHECK(foreign_category("shop", &one).name() == "foreign");
  // Another process still has room, and its names are then known in errors of all.
  CHECK(other.empty());
  const base::error_category& shop = foreign_category("shop", &other);
  CHECK(shop.name() == "shop");
  CHECK(&foreign_category("shop", &one) == &shop);
  CHECK(is_foreign(shop));
  CHECK(foreign_category(std::string(longest_category_name + 1, 'x'), &other).name() == "foreign");
}

TEST_CASE("a reader's share has room for the names in its errors") {
  foreign_names share;
  const unlisted_category shop("another shop", "closed");
  const auto bytes = encode(base::error(5, shop));
  REQUIRE(bytes.has_value());
  const auto back = decode<base::exit_reason>(bytes->bytes(), {.names = &share});
  REQUIRE(back.has_value());
  CHECK(back->as_error().category()->name() == "another shop");
  CHECK_FALSE(share.empty());
}

// The last test case: after it there is no room for another name in this process.
TEST_CASE("other processes cannot make this one keep category names without bound") {
  const std::string long_name(longest_category_name + 1, 'x');
  CHECK(foreign_category(long_name).name() == "foreign");
  const base::error_category* last = nullptr;
  std::set<const base::error_category*> different;
  for (std::size_t process = 0; process != 100; ++process) {
    foreign_names names;
    for (std::size_t i = 0; i != foreign_names::most; ++i) {
      last = &foreign_category(std::to_string(process) + "." + std::to_string(i), &names);
      different.insert(last);
    }
  }
  CHECK(different.size() <= most_foreign_categories);
  CHECK(last->name() == "foreign");
  CHECK(is_foreign(*last));
  CHECK_FALSE(is_foreign(*base::make_error(base::errc::user, "").category()));
  const unlisted_category more("one too many", "the moon is full");
  const base::error e = arrived(base::error(5, more, "", "text"));
  CHECK(e.detail() == "one too many: the moon is full: text");
}

}  // namespace known_codecs_test
