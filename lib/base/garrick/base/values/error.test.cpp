// Errors: their texts, their costs, and categories of users.
#include "garrick/base/values/error.hpp"

#include <doctest/doctest.h>

using garrick::base::errc;
using garrick::base::error;
using garrick::base::error_category;
using garrick::base::make_error;

namespace disk {

enum class fault : std::uint32_t { none_left, slow };

class category_type final : public error_category {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "disk"; }
  [[nodiscard]] std::string message(std::uint32_t code) const override {
    return code == 0 ? "the disk is full" : "the disk is slow";
  }
};

const category_type category;

const error_category& error_category_of(fault) noexcept { return category; }

/// A second enumeration of the same family.
enum class repair : std::uint32_t { done = 100 };
const error_category& error_category_of(repair) noexcept { return category; }

}  // namespace disk

namespace {

/// A category of this name.
class named final : public error_category {
 public:
  explicit constexpr named(std::string_view name) noexcept : name_(name) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::string message(std::uint32_t) const override { return "an error"; }

 private:
  std::string_view name_;
};

const named compared_only("compared only"), one_twin("twin"), other_twin("twin"), late("late");

enum class asked : std::uint32_t { once };
const error_category& error_category_of(asked) noexcept { return compared_only; }
enum class left : std::uint32_t { lost };
const error_category& error_category_of(left) noexcept { return one_twin; }
enum class right : std::uint32_t { lost };
const error_category& error_category_of(right) noexcept { return other_twin; }

}  // namespace

TEST_CASE("a default error is no error") {
  const error none;
  CHECK_FALSE(none);
  CHECK(none.code() == 0);
  CHECK(none.category() == nullptr);
  CHECK(none.to_string() == "no error");
  CHECK(none == error());
  CHECK_FALSE(none == errc::timeout);
}

TEST_CASE("a code without a text keeps no memory") {
  const error e = errc::timeout;
  CHECK(static_cast<bool>(e));
  CHECK(e == errc::timeout);
  CHECK_FALSE(e == errc::overload);
  CHECK(e.detail().empty());
  CHECK(e.to_string() == "no response came in time");
}

TEST_CASE("every built-in code has its own text") {
  for (auto a = static_cast<std::uint32_t>(errc::not_handled);
       a <= static_cast<std::uint32_t>(errc::not_found); ++a) {
    const std::string text = error(static_cast<errc>(a)).to_string();
    CHECK(text.find("unknown") == std::string::npos);
    for (auto b = static_cast<std::uint32_t>(errc::not_handled); b < a; ++b)
      CHECK(text != error(static_cast<errc>(b)).to_string());
  }
  CHECK(error(static_cast<errc>(9999)).to_string() == "unknown error 9999");
}

TEST_CASE("an error gives its kind, its place and its reason") {
  const error e = make_error(errc::invalid_setting, "garrick.json:3", "no such key");
  CHECK(e.to_string() == "a setting is not valid: garrick.json:3: no such key");
  CHECK(make_error(errc::user, "only why").detail() == "only why");
  CHECK(make_error(errc::user).detail().empty());
  CHECK(e.at("start").to_string() == "a setting is not valid: start: garrick.json:3: no such key");
  CHECK_FALSE(error().at("start"));
}

TEST_CASE("copies share the text, moved-from errors are no error") {
  error a = make_error(errc::overload, "queue of twelve");
  error b = a;
  CHECK(a.detail().data() == b.detail().data());
  error c = std::move(a);
  CHECK_FALSE(a);
  CHECK(c.detail() == "queue of twelve");
  b = c;
  c = error();
  CHECK(b.detail() == "queue of twelve");
  b = *&b;
  CHECK(b == errc::overload);
}

TEST_CASE("categories are extended by users") {
  const error e = disk::fault::none_left;
  CHECK(static_cast<bool>(e));
  CHECK(e == disk::fault::none_left);
  CHECK_FALSE(e == disk::fault::slow);
  CHECK(e.category()->name() == "disk");
  CHECK(make_error(disk::fault::slow, "sda").to_string() == "the disk is slow: sda");
  CHECK_FALSE(make_error(disk::fault::slow, "sda") == error(errc::timeout));
}

TEST_CASE("categories are found by name, though they are registered nowhere") {
  using garrick::base::find_error_category;
  CHECK(find_error_category("garrick") == error(errc::timeout).category());
  CHECK(find_error_category("exit") != nullptr);
  CHECK(find_error_category("disk") == &disk::category);
  CHECK(error(disk::repair::done).category() == &disk::category);
  CHECK(find_error_category("compared only") == &compared_only);
  CHECK_FALSE(error() == asked::once);
  CHECK(find_error_category("unheard of") == nullptr);
  CHECK(find_error_category("") == nullptr);
}

TEST_CASE("a name that two categories have finds neither") {
  CHECK(error(left::lost).category()->name() == error(right::lost).category()->name());
  CHECK(garrick::base::find_error_category("twin") == nullptr);
}

TEST_CASE("a category is found while the library that has it is loaded") {
  using garrick::base::find_error_category;
  CHECK(find_error_category("late") == nullptr);
  {
    const garrick::base::detail::category_entry loaded(late);
    CHECK(find_error_category("late") == &late);
    const garrick::base::detail::category_entry again(late);
    CHECK(find_error_category("late") == &late);
  }
  CHECK(find_error_category("late") == nullptr);
}
