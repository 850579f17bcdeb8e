#include "garrick/net/wire/schema.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/printable.hpp"

using namespace garrick;
using namespace garrick::net;

namespace shop {

enum class colour : std::uint8_t { red };
struct point {
  int x, y;
};
struct order {
  std::string what;
  std::vector<point> where;
  std::optional<colour> paint;
};
struct tree {
  long value;
  std::vector<tree> branches;
};
template <class T>
struct box {
  T inside;
};
struct all_kinds {
  std::map<int, std::string> m;
  std::set<int> s;
  std::array<double, 3> a;
  std::tuple<int, bool> t;
  std::unique_ptr<tree> p;
  std::variant<int, point> v;
  std::chrono::milliseconds d;
  char text[8];
};
inline namespace v2 {
struct versioned {
  int x;
};
}  // namespace v2

class handle {};

namespace older {
struct order {
  static constexpr std::string_view garrick_wire_name = "shop::order";
  std::string what;
  std::vector<point> where;
};
}  // namespace older
namespace other {
struct order {
  static constexpr std::string_view garrick_wire_name = "shop::order";
  std::string what;
  std::vector<int> where;
};
struct basket {
  order first;
};
struct both {
  std::vector<shop::order> ours;
  order other;
};
}  // namespace other
struct basket {
  static constexpr std::string_view garrick_wire_name = "shop::other::basket";
  order first;
};
struct whole {
  static constexpr std::string_view garrick_wire_name = "shop::measured";
  std::vector<int> all;
};
struct real {
  static constexpr std::string_view garrick_wire_name = "shop::measured";
  std::vector<float> all;
};
struct later_tree {
  static constexpr std::string_view garrick_wire_name = "shop::tree";
  long value;
  std::vector<later_tree> branches;
  std::string label;
};

}  // namespace shop

template <>
struct garrick::net::codec<shop::handle> {
  static void encode(byte_writer& out, const shop::handle&) { out.varint(0); }
  static void decode(byte_reader& in, shop::handle&) { static_cast<void>(in.varint()); }
  using parts = base::type_list<shop::point>;
};

namespace {

template <class A, class B>
std::string difference() {
  const base::error e = supports(*schema_of<A>(), *schema_of<B>());
  if (e) CHECK(e == net_errc::incompatible);
  return std::string(e.detail());
}
schema one(schema_type t) { return {{std::move(t)}, {{"m", 0, {}}}}; }

}  // namespace

TEST_CASE("a schema shows the parts of a type, each type once") {
  const base::result<schema>& s = schema_of<shop::order>();
  REQUIRE(s.has_value());
  CHECK(s->signatures == std::vector<schema_signature>{{"shop::order", 0, {}}});
  using enum schema_kind;
  CHECK(s->types == std::vector<schema_type>{{aggregate, "shop::order", 0, {1, 2, 3}},
                                             {sequence, "", 0, {4}},
                                             {sequence, "", 0, {5}},
                                             {optional, "", 0, {6}},
                                             {number, "char", 0, {}},
                                             {aggregate, "shop::point", 0, {7, 7}},
                                             {enumeration, "shop::colour", 0, {8}},
                                             {number, "i32", 0, {}},
                                             {number, "u8", 0, {}}});
  CHECK(!check(*s));
  const base::result<schema>& t = schema_of<shop::tree>();
  REQUIRE(t.has_value());
  CHECK(t->types[2].parts == std::vector<std::uint32_t>{0});  // it contains itself
  REQUIRE(schema_of<shop::all_kinds>().has_value());
  CHECK(!check(*schema_of<shop::all_kinds>()));
}

TEST_CASE("a schema comes back from its bytes; damaged ones are refused") {
  const schema& s = *schema_of<shop::all_kinds>();
  const base::result<packet> p = encode(s);
  REQUIRE(p.has_value());
  const base::result<schema> back = decode_schema(p->bytes());
  REQUIRE(back.has_value());
  CHECK(*back == s);
  CHECK(!decode_schema(p->bytes().first(p->size() - 1)).has_value());
  CHECK(decode_schema(p->bytes(), {.types = 3}).error() == net_errc::decode_failed);
  CHECK(decode_schema(p->bytes(), {.signatures = 0}).error() == net_errc::decode_failed);

  using enum schema_kind;
  CHECK(!check(one({number, "i32", 0, {}})));
  CHECK(check(one({static_cast<schema_kind>(11), "i32", 0, {}})));
  CHECK(check(one({static_cast<schema_kind>(11), "", 0, {}})));
  CHECK(check(one({number, "", 0, {}})));
  CHECK(check(one({number, "i32", 0, {0}})));
  CHECK(check(one({number, "i32", 5, {}})));
  CHECK(check(one({sequence, "", 0, {}})));
  CHECK(check(one({sequence, "name", 0, {0}})));
  CHECK(check(one({sequence, "", 0, {1}})));
  CHECK(check(one({map, "", 0, {0}})));
  CHECK(check(one({variant, "", 0, {}})));
  CHECK(check({{{number, "i32", 0, {}}}, {{"m", 1, {}}}}));
  CHECK(check({{{number, "i32", 0, {}}}, {{"m", 0, {1}}}}));
  CHECK(check({{{number, "i32", 0, {}}}, {{"m", 0, {}}, {"m", 0, {}}}}));
  CHECK(check({{{number, "i32", 0, {}}, {number, "i32", 0, {}}}, {{"m", 0, {}}}}));
}

TEST_CASE(
    "fields that are appended are compatible both ways, also in types that contain themselves") {
  CHECK(difference<shop::order, shop::older::order>().empty());
  CHECK(difference<shop::older::order, shop::order>().empty());
  CHECK(difference<shop::tree, shop::later_tree>().empty());
  CHECK(difference<shop::later_tree, shop::tree>().empty());
}

TEST_CASE("other differences are named by their paths") {
  CHECK(difference<shop::order, shop::other::order>() ==
        "shop::order.1.0: shop::point here, i32 there");
  CHECK(difference<shop::basket, shop::other::basket>() ==
        "shop::other::basket.0.1.0: shop::point here, i32 there");
  CHECK(difference<shop::whole, shop::real>() == "shop::measured.0.0: i32 here, f32 there");
  CHECK(difference<int, long>() == "i32 is not offered");
  const auto array_of = [](std::uint64_t n) {
    return schema{{{schema_kind::array, "", n, {1}}, {schema_kind::number, "i32", 0, {}}},
                  {{"shop::row", 0, {}}}};
  };
  const auto tuple_of = [](std::vector<std::uint32_t> parts) {
    return schema{
        {{schema_kind::product, "", 0, std::move(parts)}, {schema_kind::number, "i32", 0, {}}},
        {{"shop::pair", 0, {}}}};
  };
  CHECK(supports(tuple_of({1}), tuple_of({1, 1})).detail() ==
        "shop::pair: a tuple of 1 part here, a tuple of 2 parts there");
  CHECK(!supports(array_of(3), array_of(3)));
  CHECK(supports(array_of(3), array_of(4)).detail() ==
        "shop::row: an array of 3 here, an array of 4 there");
}

TEST_CASE("a protocol supports the signatures that others expect of it") {
  const auto protocol = [](bool with_int, bool answer_is_text) {
    schema_builder b;
    const auto order = b.add<shop::order>();
    std::vector<std::uint32_t> answer{answer_is_text ? b.add<std::string>() : b.add<int>()};
    b.sign("shop::order", order, answer);
    if (with_int) b.sign("i32", b.add<int>());
    return *std::move(b).finish();
  };
  CHECK(!supports(protocol(false, false), protocol(true, false)));
  CHECK(supports(protocol(true, false), protocol(false, false)).detail() == "i32 is not offered");
  CHECK(supports(protocol(false, true), protocol(false, false)).detail() ==
        "the answer to shop::order, value 0: a sequence here, i32 there");
}

TEST_CASE("an opaque class shows the schema of its codec") {
  const base::result<schema>& s = schema_of<std::vector<shop::handle>>();
  REQUIRE(s.has_value());
  CHECK(s->types[1] == schema_type{schema_kind::opaque, "shop::handle", 0, {2}});
  CHECK(s->types[2].name == "shop::point");
}

TEST_CASE("two types of one name are one if they are alike, and else refused") {
  schema_builder b;
  const auto a = b.add<shop::box<long>>();
  const auto c = b.add<shop::box<long long>>();
  b.sign("a", a);
  b.sign("c", c);
  const base::result<schema> s = std::move(b).finish();
  REQUIRE(s.has_value());
  CHECK(s->types.size() == (sizeof(long) == 8 ? 2 : 4));
  CHECK(!check(*s));

  const base::result<schema>& both = schema_of<shop::other::both>();
  REQUIRE(!both.has_value());
  CHECK(both.error() == net_errc::incompatible);
  CHECK(both.error().detail().starts_with("two types are called shop::order, and differ"));
}

TEST_CASE("a name that other programs cannot say is refused when a type is published") {
#if defined(__clang__) && defined(__cpp_rtti)  // GCC spells the inline namespace
  CHECK(schema_of<shop::versioned>().error() == net_errc::not_encodable);
  CHECK(schema_of<std::vector<shop::versioned>>().error() == net_errc::not_encodable);
#endif
}

TEST_CASE("a program publishes no two different types of one name") {
  schema_table t;
  CHECK(!t.add(*schema_of<shop::order>()));
  CHECK(!t.add(*schema_of<shop::order>()));
  CHECK(!t.add(*schema_of<std::vector<shop::order>>()));
  CHECK(t.add(*schema_of<shop::other::order>()) == net_errc::incompatible);
  CHECK(t.add(*schema_of<shop::older::order>()) == net_errc::incompatible);
  CHECK(t.name_of(type_id<shop::order>) == "shop::order");
  CHECK(t.name_of(type_id<shop::tree>).empty());
}

TEST_CASE("a program publishes no two messages of one number") {
  // Two texts that are known to have one FNV-1a hash.
  const std::string one = "8yn0iYCKYHlIj4-BwPqk";
  const std::string other = "GReLUrM4wMqfg9yzV3KQ";
  REQUIRE(type_id_of(one) == type_id_of(other));
  const auto message = [](std::string name) {
    return schema{{{schema_kind::number, "i32", 0, {}}}, {{std::move(name), 0, {}}}};
  };
  schema_table t;
  CHECK(!t.add(message(one)));
  CHECK(t.add(message(other)) == net_errc::incompatible);
  CHECK(t.name_of(type_id_of(one)) == one);
}

TEST_CASE("a type's number is the hash FNV-1a of its wire name") {
  CHECK(type_id_of("") == 0xcbf29ce484222325u);
  CHECK(type_id_of("a") == 0xaf63dc4c8601ec8cu);
  CHECK(type_id<shop::order> == type_id_of("shop::order"));
}

TEST_CASE("a schema that another process has made to be large is compared in few steps") {
  // A long chain of optionals, and a sequence that contains itself.
  schema deep;
  for (std::uint32_t i = 0; i != 4000; ++i)
    deep.types.push_back({schema_kind::optional, "", 0, {i + 1}});
  deep.types.push_back({schema_kind::sequence, "", 0, {4000}});
  deep.signatures.push_back({"shop::order", 0, {}});
  REQUIRE(!check(deep));
  CHECK(supports(*schema_of<shop::order>(), deep) == net_errc::incompatible);
  CHECK(!supports(deep, deep));
}

TEST_CASE("names and paths of another process's schema are told in a page at most") {
  std::string name = "\x1b[2J\n";
  while (name.size() < 1u << 20) name += name;
  const auto is_harmless = [](const base::error& e, net_errc code) {
    CHECK(e == code);
    const std::string text = e.to_string();
    CHECK(text.size() < most_printed + 200);
    CHECK(text.find_first_of("\x1b\n") == std::string::npos);
  };
  const schema_type number{schema_kind::number, "i32", 0, {}};
  const schema_type named{schema_kind::number, name, 0, {}};
  const schema_type other{schema_kind::number, name + "x", 0, {}};
  is_harmless(check({{named, named}, {}}), net_errc::decode_failed);
  is_harmless(check({{number}, {{name, 0, {}}, {name, 0, {}}}}), net_errc::decode_failed);
  const schema mine{{number}, {{"shop::order", 0, {0}}}};
  is_harmless(supports({{number}, {{name, 0, {}}}}, mine), net_errc::incompatible);
  is_harmless(supports(mine, {{named}, {{"shop::order", 0, {0}}}}), net_errc::incompatible);
  is_harmless(supports({{named}, {{name, 0, {0}}}}, {{number}, {{name, 0, {0}}}}),
              net_errc::incompatible);
  is_harmless(supports({{number}, {{name, 0, {0, 0}}}}, {{number}, {{name, 0, {0}}}}),
              net_errc::incompatible);
  // The difference is reported, too, however long both names are.
  const base::error both = supports({{named}, {{name, 0, {}}}}, {{other}, {{name, 0, {}}}});
  is_harmless(both, net_errc::incompatible);
  CHECK(both.to_string().ends_with("... there"));
  // A difference that lies deep: its path is cut.
  schema deep;
  for (std::uint32_t i = 0; i != 4000; ++i)
    deep.types.push_back({schema_kind::optional, "", 0, {i + 1}});
  schema deeper = deep;
  deep.types.push_back(number);
  deeper.types.push_back({schema_kind::number, "i64", 0, {}});
  deep.signatures.push_back({"shop::order", 0, {}});
  deeper.signatures.push_back({"shop::order", 0, {}});
  is_harmless(supports(deep, deeper), net_errc::incompatible);
}
