// Names of types: one spelling each, for all compilers.
#include "garrick/base/types/type_name.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

using garrick::base::type_name;

namespace shop {
struct order {
  int id;
};
enum class colour { red };
template <class T>
struct box {};
}  // namespace shop

namespace {
struct secret {};
}  // namespace

struct top {};

TEST_CASE("user types carry their namespace and no keyword") {
  CHECK(type_name<top> == "top");
  CHECK(type_name<shop::order> == "shop::order");
  CHECK(type_name<shop::colour> == "shop::colour");
  CHECK(type_name<shop::box<shop::box<shop::order>>> == "shop::box<shop::box<shop::order>>");
  CHECK(type_name<secret> == "(anonymous)::secret");
}

TEST_CASE("arithmetic types have one spelling") {
  CHECK(type_name<int> == "int");
  CHECK(type_name<unsigned> == "unsigned int");
  CHECK(type_name<long> == "long");
  CHECK(type_name<unsigned long> == "unsigned long");
  CHECK(type_name<long long> == "long long");
  CHECK(type_name<unsigned long long> == "unsigned long long");
  CHECK(type_name<short> == "short");
  CHECK(type_name<unsigned short> == "unsigned short");
  CHECK(type_name<char> == "char");
  CHECK(type_name<signed char> == "signed char");
  CHECK(type_name<unsigned char> == "unsigned char");
  CHECK(type_name<long double> == "long double");
  CHECK(type_name<double> == "double");
  CHECK(type_name<float> == "float");
  CHECK(type_name<bool> == "bool");
}

TEST_CASE("pointers, references, arrays and functions have one spacing") {
  CHECK(type_name<const char*> == "const char*");
  CHECK(type_name<const char* const> == "const char* const");
  CHECK(type_name<int&> == "int&");
  CHECK(type_name<shop::order&&> == "shop::order&&");
  CHECK(type_name<char[16]> == "char[16]");
  CHECK(type_name<void(int, long)> == "void(int, long)");
}

TEST_CASE("standard types hide inline namespaces and default arguments") {
  CHECK(type_name<std::vector<long>> == "std::vector<long>");
  CHECK(type_name<std::map<int, unsigned long>> == "std::map<int, unsigned long>");
  CHECK(type_name<std::array<std::uint8_t, 5>> == "std::array<unsigned char, 5>");
  CHECK(type_name<std::variant<int, shop::order>> == "std::variant<int, shop::order>");
  CHECK(type_name<std::filesystem::path> == "std::filesystem::path");
  CHECK(type_name<std::chrono::steady_clock> == "std::chrono::steady_clock");
  CHECK(type_name<std::string> == "std::string");
  CHECK(type_name<std::vector<std::string_view>> == "std::vector<std::string_view>");
  CHECK(type_name<std::wstring> == "std::basic_string<wchar_t>");
}

static_assert(type_name<int> == std::string_view("int"));
