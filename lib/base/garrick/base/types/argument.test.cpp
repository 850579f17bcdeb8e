// Allowed and refused arguments of a spawn, moved or copied.
#include "garrick/base/types/argument.hpp"

#include <any>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <random>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

using garrick::base::spawn_argument;

namespace workshop {

struct options {
  std::string path;
  std::chrono::milliseconds limit;
  std::optional<std::vector<int>> steps;
};
struct closer {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
class connection {  // cannot be looked into
 public:
  explicit connection(int fd) : fd_(fd) {}
  connection(connection&&) = default;

 private:
  [[maybe_unused]] int fd_;
};
struct owner_of_a_connection {
  std::string name;
  connection link;
};
class shape {
 public:
  virtual ~shape() = default;
  [[nodiscard]] virtual double area() const = 0;
};
struct hidden;
struct constant_reference_inside {
  int number;
  const std::string& text;
};
struct rvalue_reference_inside {
  std::unique_ptr<int>&& owner;
};
struct tagged {
  union {
    int i;
    float f;
  };
};
struct flags {
  unsigned a : 3;
};
struct derived : options {};
class own_view : public std::ranges::view_interface<own_view> {
 public:
  [[nodiscard]] const int* begin() const { return first_; }
  [[nodiscard]] const int* end() const { return first_; }

 private:
  const int* first_ = nullptr;
};
struct names_a_view {
  int id;
  std::string_view text;
};
struct shares {
  std::vector<std::shared_ptr<int>> counters;
};
class number {
 public:
  explicit number(int n) : n_(n) {}

 private:
  [[maybe_unused]] int n_;
};
struct adder {
  int amount;
  int operator()(int x) const { return x + amount; }
};
struct refers {
  int& there;
};

}  // namespace workshop

// values, moved or copied
static_assert(spawn_argument<int> && spawn_argument<const int&> && spawn_argument<double&> &&
              spawn_argument<bool> && spawn_argument<std::string> && spawn_argument<std::string&> &&
              spawn_argument<const std::string> && spawn_argument<std::vector<std::string>&> &&
              spawn_argument<std::chrono::milliseconds> && spawn_argument<std::filesystem::path&> &&
              spawn_argument<workshop::options&> && spawn_argument<workshop::adder&> &&
              spawn_argument<std::array<int, 3>> &&
              spawn_argument<std::map<std::string, std::variant<int, std::string>>>);
// a string literal; a pointer to a function
static_assert(spawn_argument<const char (&)[5]> && spawn_argument<const wchar_t (&)[2]> &&
              spawn_argument<int (*)(int)> && spawn_argument<int (&)(int)> &&
              spawn_argument<std::nullptr_t> &&
              spawn_argument<double (workshop::shape::*)() const>);
// references inside a type
static_assert(!spawn_argument<workshop::constant_reference_inside> &&
              !spawn_argument<workshop::constant_reference_inside&> &&
              !spawn_argument<workshop::rvalue_reference_inside> &&
              !spawn_argument<std::vector<workshop::constant_reference_inside>>);
// types that can only be moved, and types that cannot be looked into: moved, not copied
static_assert(spawn_argument<workshop::tagged> && !spawn_argument<workshop::tagged&>);
static_assert(spawn_argument<std::unique_ptr<int>> &&
              spawn_argument<std::unique_ptr<workshop::shape>> &&
              spawn_argument<std::unique_ptr<workshop::hidden>> &&
              spawn_argument<std::unique_ptr<std::FILE, workshop::closer>> &&
              spawn_argument<std::unique_ptr<std::FILE, int (*)(std::FILE*)>> &&
              spawn_argument<workshop::connection> &&
              spawn_argument<workshop::owner_of_a_connection> &&
              spawn_argument<std::vector<workshop::connection>> && spawn_argument<std::thread> &&
              spawn_argument<std::ifstream> && spawn_argument<std::mt19937> &&
              spawn_argument<workshop::number> && spawn_argument<workshop::flags> &&
              spawn_argument<workshop::derived>);
static_assert(!spawn_argument<workshop::number&> && !spawn_argument<const workshop::number&> &&
              !spawn_argument<const workshop::number> &&
              !spawn_argument<std::optional<workshop::number>&> && !spawn_argument<std::mutex&> &&
              !spawn_argument<workshop::flags&> && !spawn_argument<workshop::derived&>);
// shared objects, also inside
static_assert(spawn_argument<std::shared_ptr<const int>&> &&
              !spawn_argument<std::shared_ptr<int>> && !spawn_argument<std::shared_ptr<int>&> &&
              !spawn_argument<workshop::shares> && !spawn_argument<std::weak_ptr<const int>> &&
              !spawn_argument<std::shared_ptr<const workshop::number>>);
// pointers, references, views, iterators, types that may hold them
static_assert(
    !spawn_argument<int*> && !spawn_argument<const char*> && !spawn_argument<char (&)[5]> &&
    !spawn_argument<int (&)[5]> && !spawn_argument<const int (&)[5]> &&
    !spawn_argument<int workshop::options::*> && !spawn_argument<workshop::refers> &&
    !spawn_argument<std::tuple<int, int&>> && !spawn_argument<std::vector<int*>> &&
    !spawn_argument<std::reference_wrapper<int>> && !spawn_argument<std::string_view> &&
    !spawn_argument<std::span<int>> && !spawn_argument<std::span<const int, 3>> &&
    !spawn_argument<workshop::own_view> && !spawn_argument<workshop::names_a_view> &&
    !spawn_argument<std::vector<int>::iterator> &&
    !spawn_argument<std::map<int, int>::const_iterator> && !spawn_argument<std::function<void()>> &&
    !spawn_argument<std::any> && !spawn_argument<std::optional<std::function<void()>>> &&
    !spawn_argument<std::unique_lock<std::mutex>> && !spawn_argument<std::exception_ptr> &&
    !spawn_argument<decltype(std::bind(std::declval<int (*)(int)>(), 7))> &&
    !spawn_argument<decltype(std::views::iota(0, 3))> && !spawn_argument<std::pmr::vector<int>>);

namespace {

template <class F>
bool may_be_given(F&&) {
  return spawn_argument<F>;
}
template <class T>
auto closure_in_a_template(T x) {
  return [x](T y) { return x + y; };
}
struct member {
  auto closure() {
    return [this](std::vector<int> v) mutable noexcept { return v.size() + number; };
  }
  std::size_t number = 0;
};
template <class F>
struct holder {
  F f;
};
template <class F>
class closed_holder {
 public:
  explicit closed_holder(F f) : f_(f) {}

 private:
  [[maybe_unused]] F f_;
};

}  // namespace

TEST_CASE("closures are spawn arguments only without captures") {
  int x = 0;
  CHECK(may_be_given([](int y) { return y; }));
  CHECK(may_be_given([](auto y) { return y; }));
  CHECK_FALSE(may_be_given([x] { return x; }));
  CHECK_FALSE(may_be_given([x]() mutable { return ++x; }));
  CHECK_FALSE(may_be_given([&x](int y) { x = y; }));
  CHECK_FALSE(may_be_given([&](auto... y) { x = (y + ...); }));
  CHECK_FALSE(may_be_given([p = std::make_unique<int>(x)](std::vector<int>) { return *p; }));
  CHECK_FALSE(may_be_given(closure_in_a_template(1)));
  CHECK_FALSE(may_be_given(member().closure()));
  const auto by_reference = [&x] { return x; };
  CHECK_FALSE(may_be_given(by_reference));
  CHECK_FALSE(may_be_given(holder<decltype(by_reference)>{by_reference}));
  const auto deleter = [&x](int* p) { x = *p; };
  CHECK_FALSE(may_be_given(std::unique_ptr<int, decltype(deleter)>(nullptr, deleter)));
  // a class that cannot be looked into is trusted, also with such parts
  CHECK(may_be_given(closed_holder<decltype(by_reference)>(by_reference)));
}

TEST_CASE("a part that is not the actor's own is found with its path") {
  using namespace garrick::base;
  using namespace garrick::base::detail;
  CHECK(std::is_same_v<search_argument<workshop::names_a_view>::type,
                       found<std::string_view, may_refer_to_what_others_own, 1>>);
  CHECK(std::is_same_v<search_argument<workshop::shares&>::type,
                       found<std::shared_ptr<int>, is_shared_and_can_be_changed, 0, 0>>);
  CHECK(std::is_same_v<search_argument<std::optional<workshop::number>&>::type,
                       found<workshop::number, is_copied_and_cannot_be_looked_into, 0>>);
}
