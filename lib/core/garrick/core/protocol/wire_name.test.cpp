// Wire names of atoms, packs, protocols and handles, which two nodes compare.
#include <garrick/core/protocol/wire_name.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/result.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using garrick::base::has_portable_wire_name;
using garrick::base::wire_name;
using garrick::core::atom;
using garrick::core::pack;
using garrick::core::protocol;
using garrick::core::ref;
using garrick::core::result;
using garrick::core::unit;

namespace shop {
struct order {
  int id;
};
}  // namespace shop

using plus = atom<"plus">;

TEST_CASE("an atom is its text in quotation marks, wherever it stands") {
  CHECK(wire_name<plus> == "\"plus\"");
  CHECK(wire_name<atom<"a \"quoted\" \\ one">> == R"("a \"quoted\" \\ one")");
  CHECK(wire_name<std::vector<plus>> == "std::vector<\"plus\">");
  CHECK(has_portable_wire_name<std::vector<plus>>());
}

TEST_CASE("a pack is its arguments in parentheses, and no argument is an empty pair") {
  CHECK(wire_name<pack<int, std::string>> == "(i32, std::string)");
  CHECK(wire_name<pack<plus, long long, shop::order>> == "(\"plus\", i64, shop::order)");
  CHECK(wire_name<unit> == "()");
  CHECK(has_portable_wire_name<pack<int, shop::order>>());
}

TEST_CASE("a protocol's name does not depend on the order of its signatures") {
  using one = protocol<int(plus, int, int), void(shop::order), result<std::string>()>;
  using other = protocol<std::string(), int(plus, int, int), void(const shop::order&)>;
  CHECK(wire_name<one> ==
        "garrick::protocol<i32(\"plus\", i32, i32), std::string(), void(shop::order)>");
  CHECK(wire_name<one> == wire_name<other>);
  CHECK(wire_name<protocol<>> == "garrick::protocol<>");
  CHECK(wire_name<protocol<result<int, char>(bool)>> == "garrick::protocol<(i32, char)(bool)>");
  CHECK(has_portable_wire_name<one>());
}

TEST_CASE("a handle is named by the protocol of its actor") {
  CHECK(wire_name<ref<protocol<void(int)>>> == "garrick::ref<garrick::protocol<void(i32)>>");
  CHECK(has_portable_wire_name<ref<protocol<void(int)>>>());
#if defined(__clang__)
  struct local {};
  CHECK(!has_portable_wire_name<ref<protocol<void(local)>>>());
  CHECK(!has_portable_wire_name<protocol<local()>>());
#endif
}
