// Names of types between processes: these texts are part of the protocol, so every compiler must
// give them.
#include "garrick/base/types/wire_name.hpp"

#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

using garrick::base::has_portable_wire_name;
using garrick::base::wire_name;

namespace shop {

struct order {
  long id;
};
enum class colour : short { red, green };
template <class T, class Order = std::less<T>>
struct box {};
template <class T, int Rows, std::size_t Columns>
struct matrix {};
template <colour Of, bool Big, int Level>
struct paint {};
/// Has mixed arguments that no rule expects.
template <int N, class T>
struct odd {
  static constexpr std::string_view garrick_wire_name = "shop::odd";
};
inline namespace v2 {
struct versioned {};
}  // namespace v2

}  // namespace shop

namespace garrick::core::somewhere {
struct thing {};
template <class T>
struct holder {};
}  // namespace garrick::core::somewhere

struct top {};

TEST_CASE("integers are named by their width, under any names of a compiler") {
  CHECK(wire_name<std::int8_t> == "i8");
  CHECK(wire_name<std::uint8_t> == "u8");
  CHECK(wire_name<short> == "i16");
  CHECK(wire_name<unsigned short> == "u16");
  CHECK(wire_name<int> == "i32");
  CHECK(wire_name<std::uint32_t> == "u32");
  CHECK(wire_name<std::int64_t> == "i64");
  CHECK(wire_name<std::uint64_t> == "u64");
  CHECK(wire_name<long long> == "i64");
  CHECK(wire_name<unsigned long long> == "u64");
  CHECK(wire_name<long> == (sizeof(long) == 8 ? "i64" : "i32"));
  CHECK(wire_name<std::size_t> == (sizeof(std::size_t) == 8 ? "u64" : "u32"));
}

TEST_CASE("other numbers and characters have names of their own") {
  CHECK(wire_name<bool> == "bool");
  CHECK(wire_name<char> == "char");
  CHECK(wire_name<char8_t> == "char8");
  CHECK(wire_name<char16_t> == "char16");
  CHECK(wire_name<char32_t> == "char32");
  CHECK(wire_name<float> == "f32");
  CHECK(wire_name<double> == "f64");
}

TEST_CASE(
    "classes and enumerations have their qualified name, those of the framework a short one") {
  CHECK(wire_name<top> == "top");
  CHECK(wire_name<shop::order> == "shop::order");
  CHECK(wire_name<const shop::order&> == "shop::order");
  CHECK(wire_name<shop::colour> == "shop::colour");
  CHECK(wire_name<std::byte> == "std::byte");
  CHECK(wire_name<garrick::core::somewhere::thing> == "garrick::thing");
  CHECK(wire_name<garrick::core::somewhere::holder<long long>> == "garrick::holder<i64>");
}

TEST_CASE("standard containers leave out the arguments that are defaults") {
  CHECK(wire_name<std::string> == "std::string");
  CHECK(wire_name<std::vector<long long>> == "std::vector<i64>");
  CHECK(wire_name<std::vector<std::vector<std::string>>> ==
        "std::vector<std::vector<std::string>>");
  CHECK(wire_name<std::map<int, shop::order>> == "std::map<i32, shop::order>");
  CHECK(wire_name<std::map<int, char, std::greater<>>> == "std::map<i32, char, std::greater<>>");
  CHECK(wire_name<std::unordered_map<std::string, double>> ==
        "std::unordered_map<std::string, f64>");
  CHECK(wire_name<std::set<std::uint16_t>> == "std::set<u16>");
  CHECK(wire_name<std::deque<bool>> == "std::deque<bool>");
  CHECK(wire_name<std::optional<float>> == "std::optional<f32>");
  CHECK(wire_name<std::variant<int, shop::order>> == "std::variant<i32, shop::order>");
  CHECK(wire_name<std::pair<int, int>> == "std::pair<i32, i32>");
  CHECK(wire_name<std::tuple<>> == "std::tuple<>");
  CHECK(wire_name<std::tuple<char, std::tuple<int>>> == "std::tuple<char, std::tuple<i32>>");
  CHECK(wire_name<std::shared_ptr<const shop::order>> == "std::shared_ptr<const shop::order>");
  CHECK(wire_name<std::unique_ptr<int>> == "std::unique_ptr<i32>");
  CHECK(wire_name<std::array<std::uint8_t, 5>> == "std::array<u8, 5>");
  CHECK(wire_name<std::bitset<70>> == "std::bitset<70>");
  CHECK(wire_name<std::chrono::milliseconds> == "std::chrono::duration<i64, std::ratio<1, 1000>>");
  CHECK(wire_name<std::chrono::hours> == "std::chrono::duration<i64, std::ratio<3600, 1>>");
  CHECK(wire_name<std::basic_string<char16_t>> == "std::basic_string<char16>");
}

TEST_CASE("the user's templates are named by their arguments, types and values") {
  CHECK(wire_name<shop::box<int>> == "shop::box<i32>");
  CHECK(wire_name<shop::box<shop::box<unsigned long long>>> == "shop::box<shop::box<u64>>");
  CHECK(wire_name<shop::box<int, shop::order>> == "shop::box<i32, shop::order>");
  CHECK(wire_name<shop::matrix<float, 3, 4>> == "shop::matrix<f32, 3, 4>");
  CHECK(wire_name<shop::matrix<float, -3, ~std::size_t{0}>> ==
        "shop::matrix<f32, -3, 18446744073709551615>");
  CHECK(wire_name<shop::paint<shop::colour::green, true, -7>> == "shop::paint<1, true, -7>");
  CHECK(wire_name<int[3][4]> == "i32[4][3]");
}

TEST_CASE("a class may name itself") {
  CHECK(wire_name<shop::odd<1, int>> == "shop::odd");
  CHECK(wire_name<std::vector<shop::odd<1, int>>> == "std::vector<shop::odd>");
  CHECK(has_portable_wire_name<shop::odd<1, int>>());
}

TEST_CASE("a name is portable if the linker knows the type by it") {
  CHECK(has_portable_wire_name<int>());
  CHECK(has_portable_wire_name<top>());
  CHECK(has_portable_wire_name<shop::order>());
  CHECK(has_portable_wire_name<shop::colour>());
  CHECK(has_portable_wire_name<std::string>());
  CHECK(has_portable_wire_name<std::map<std::string, std::vector<shop::order>>>());
  CHECK(has_portable_wire_name<std::array<shop::order, 3>>());
  CHECK(has_portable_wire_name<std::chrono::milliseconds>());
  CHECK(has_portable_wire_name<shop::box<shop::order>>());
  CHECK(has_portable_wire_name<shop::matrix<float, 3, 4>>());
  CHECK(has_portable_wire_name<shop::paint<shop::colour::red, false, 0>>());
  CHECK(has_portable_wire_name<const shop::order[3]>());
}

TEST_CASE("a type that compilers would name differently is found when the program runs") {
  // GCC refuses a local type when it compiles. The last checks are for clang, which cannot.
  using garrick::base::detail::is_linker_name;
  CHECK(is_linker_name("7account", "account"));
  CHECK(is_linker_name("*7account", "account"));
  CHECK(is_linker_name("N4shop7accountE", "shop::account"));
  CHECK(is_linker_name("N4shop3boxIiEE", "shop::box"));
  CHECK(!is_linker_name("Z4mainE5local", "local"));
  CHECK(!is_linker_name("N12_GLOBAL__N_16secretE", "(anonymous)::secret"));
  CHECK(!is_linker_name("N4shop2v29versionedE", "shop::versioned"));
  CHECK(!is_linker_name("N4shop7accountE", "account"));
  CHECK(!is_linker_name("7account", "accounts"));
  CHECK(!is_linker_name("99account", "account"));
  CHECK(!is_linker_name("", ""));
#if defined(__clang__)
  struct local {};
  CHECK(!has_portable_wire_name<local>());
  CHECK(!has_portable_wire_name<std::vector<local>>());
  CHECK(!has_portable_wire_name<shop::versioned>());
#endif
}

static_assert(wire_name<int> == std::string_view("i32"));
