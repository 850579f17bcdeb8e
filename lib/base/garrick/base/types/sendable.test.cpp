// The types that may be sent, and the path to the part that forbids the others.
#include "garrick/base/types/sendable.hpp"

#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#include "garrick/base/values/error.hpp"
#include "garrick/base/values/exit_reason.hpp"
#include "garrick/base/values/result.hpp"

#include <doctest/doctest.h>

using garrick::base::is_sendable;
using garrick::base::sendable;

namespace farm {

enum class colour { red };
struct nothing {};
struct cow {
  std::string name;
  int age;
};
struct herd {
  std::vector<cow> cows;
  std::map<std::string, std::optional<cow>> by_name;
  char brand[8];
  std::array<double, 3> place;
};
struct tree {
  int value;
  std::vector<tree> children;
};
struct bad_tree {
  const char* label;
  std::vector<bad_tree> children;
};
struct view_inside {
  int id;
  std::string_view text;
};
struct pointer_inside {
  int id;
  std::vector<std::pair<int, const char*>> rows;
};
struct reference_inside {
  int& place;
};
struct reference_and_owner {
  std::unique_ptr<int> mine;
  int& place;
};
struct constant_reference_inside {
  int number;
  const std::string& text;
};
struct rvalue_reference_inside {
  int&& number;
};
struct bounded_reference_inside {
  const std::vector<int>& numbers;
  char name[4];
};
struct owner_reference_inside {
  const std::unique_ptr<int>& owner;
};
struct both_kinds_inside {
  int&& a;
  int& b;
};
struct deep_reference {
  int id;
  std::optional<constant_reference_inside> inside;
};
struct tagged {
  int kind;
  union {
    int i;
    float f;
  };
};
struct tagged_and_referring {
  int& r;
  union {
    int i;
    float f;
  };
};
struct derived : cow {
  int extra;
};
union either {
  int i;
  float f;
};
class closed {
 public:
  explicit closed(int* p) : p_(p) {}

 private:
  [[maybe_unused]] int* p_;
};
class promised {
 public:
  explicit promised(int size) : size_(size) {}

 private:
  [[maybe_unused]] int size_;
};
struct promised_inside {
  promised p;
};
class handle {
 public:
  using garrick_sendable = void;

 private:
  [[maybe_unused]] void* p_ = nullptr;
};
template <class T>
class wrapper {
 public:
  using garrick_parts = garrick::base::type_list<T>;

 private:
  [[maybe_unused]] T x_;
};
struct array_of_pointers {
  int n;
  int* p[3];
};

}  // namespace farm

template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<farm::promised> = true;

// scalars, enumerations, empty classes
static_assert(sendable<int> && sendable<double> && sendable<farm::colour> &&
              sendable<farm::nothing> && sendable<std::byte> && sendable<const long>);
// aggregates, also recursive ones
static_assert(sendable<farm::cow> && sendable<farm::herd> && sendable<farm::tree> &&
              sendable<int[4]>);
static_assert(!sendable<farm::bad_tree> && !sendable<farm::view_inside> &&
              !sendable<farm::pointer_inside> && !sendable<farm::array_of_pointers>);
static_assert(!sendable<farm::reference_inside> && !sendable<farm::reference_and_owner> &&
              !sendable<farm::derived> && !sendable<farm::either>);
static_assert(!sendable<farm::constant_reference_inside> &&
              !sendable<farm::rvalue_reference_inside> &&
              !sendable<farm::bounded_reference_inside> &&
              !sendable<farm::owner_reference_inside> && !sendable<farm::both_kinds_inside> &&
              !sendable<farm::deep_reference> &&
              !sendable<std::vector<farm::constant_reference_inside>> &&
              !sendable<std::unique_ptr<farm::rvalue_reference_inside>> &&
              !sendable<std::shared_ptr<const farm::constant_reference_inside>>);
static_assert(!sendable<farm::tagged> && !sendable<farm::tagged_and_referring>);
// pointers and references
static_assert(!sendable<int*> && !sendable<const char*> && !sendable<int&> &&
              !sendable<void (*)()> && !sendable<int farm::cow::*>);
// standard owners
static_assert(sendable<std::string> && sendable<std::wstring> && sendable<std::vector<int>> &&
              sendable<std::vector<bool>> && sendable<std::deque<std::string>> &&
              sendable<std::list<int>> && sendable<std::set<std::string>> &&
              sendable<std::map<int, farm::cow>> &&
              sendable<std::unordered_map<std::string, int>> && sendable<std::array<int, 3>> &&
              sendable<std::pair<const int, long>> && sendable<std::tuple<int, std::string>> &&
              sendable<std::tuple<>> && sendable<std::optional<farm::cow>> &&
              sendable<std::variant<int, std::string, std::monostate>> &&
              sendable<std::bitset<7>> && sendable<std::complex<double>> &&
              sendable<std::filesystem::path> && sendable<std::error_code>);
static_assert(sendable<std::chrono::milliseconds> &&
              sendable<std::chrono::steady_clock::time_point> && sendable<std::chrono::year>);
static_assert(!sendable<std::vector<int*>> && !sendable<std::array<char*, 2>> &&
              !sendable<std::tuple<int, int&>> && !sendable<std::optional<std::string_view>> &&
              !sendable<std::map<int, farm::bad_tree>> &&
              !sendable<std::variant<int, farm::closed>>);
// smart pointers
static_assert(sendable<std::unique_ptr<int>> && sendable<std::unique_ptr<int[]>> &&
              sendable<std::shared_ptr<const int>> && sendable<std::shared_ptr<const farm::cow>> &&
              sendable<std::shared_ptr<const int[]>> &&
              sendable<std::shared_ptr<const std::unique_ptr<const int>>>);
static_assert(!sendable<std::shared_ptr<int>> && !sendable<std::unique_ptr<int*>> &&
              !sendable<std::weak_ptr<const int>> && !sendable<std::shared_ptr<const int*>> &&
              !sendable<std::shared_ptr<const std::unique_ptr<int>>> &&
              !sendable<std::shared_ptr<const std::vector<std::unique_ptr<int>>>> &&
              !sendable<std::unique_ptr<int, void (*)(int*)>>);
// views, iterators, functions, types that cannot be looked into
static_assert(!sendable<std::string_view> && !sendable<std::span<int>> &&
              !sendable<std::span<int, 3>> && !sendable<std::vector<int>::iterator> &&
              !sendable<std::list<int>::iterator> && !sendable<std::reference_wrapper<int>> &&
              !sendable<std::function<void()>> && !sendable<farm::closed>);
// promises and markers
static_assert(sendable<farm::promised> && sendable<farm::promised_inside> &&
              sendable<farm::handle> && sendable<std::vector<farm::handle>> &&
              sendable<farm::wrapper<int>> && !sendable<farm::wrapper<int*>>);
static_assert(sendable<garrick::base::error> && sendable<garrick::base::exit_reason> &&
              sendable<garrick::base::result<>> && sendable<garrick::base::result<void>> &&
              sendable<garrick::base::result<int>> &&
              sendable<garrick::base::result<int, farm::cow>> &&
              !sendable<garrick::base::result<int*>> &&
              !sendable<garrick::base::result<int, char*>>);

TEST_CASE("closures are sendable only without captures") {
  int x = 0;
  const auto plain = [](int y) { return y; };
  const auto by_value = [x] { return x; };
  const auto by_reference = [&x] { return ++x; };
  CHECK(is_sendable<std::remove_const_t<decltype(plain)>>);
  CHECK_FALSE(is_sendable<std::remove_const_t<decltype(by_value)>>);
  CHECK_FALSE(is_sendable<std::remove_const_t<decltype(by_reference)>>);
}

TEST_CASE("the offender is found with its path") {
  using namespace garrick::base;
  using namespace garrick::base::detail;
  using free = context<false>;
  CHECK(std::is_same_v<search<farm::pointer_inside, free>::type,
                       found<const char*, is_a_pointer, 1, 0, 1>>);
  CHECK(std::is_same_v<search<farm::view_inside, free>::type,
                       found<std::string_view, has_private_or_captured_state, 1>>);
  CHECK(std::is_same_v<search<std::shared_ptr<int>, free>::type,
                       found<std::shared_ptr<int>, is_shared_and_can_be_changed>>);
  CHECK(
      std::is_same_v<search<farm::array_of_pointers, free>::type, found<int*, is_a_pointer, 1, 0>>);
  CHECK(std::is_same_v<search<farm::reference_inside, free>::type, found<int&, is_a_reference, 0>>);
  CHECK(std::is_same_v<search<farm::deep_reference, free>::type,
                       found<const std::string&, is_a_reference, 1, 0, 1>>);
  CHECK(std::is_same_v<search<farm::bounded_reference_inside, free>::type,
                       found<const std::vector<int>&, is_a_reference, 0>>);
  CHECK(std::is_same_v<search<std::vector<farm::tagged>, free>::type,
                       found<farm::tagged, has_an_anonymous_union, 0>>);
  CHECK(std::is_same_v<search<farm::reference_and_owner, free>::type,
                       found<farm::reference_and_owner, has_a_reference_field>>);
  CHECK(std::is_same_v<search<std::vector<farm::derived>, free>::type,
                       found<farm::derived, has_a_base_class, 0>>);
  CHECK(std::string_view(path_of<in_message, 2, 0, 13, 105>().text) == "message.2.0.13.105");
}

TEST_CASE("check_sendable accepts sendable types") {
  garrick::base::check_sendable<farm::herd>();
  garrick::base::check_sendable<farm::tree, 3>();
  CHECK(is_sendable<farm::herd>);
}
