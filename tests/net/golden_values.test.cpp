// Version 1 of the encoding of values: one file of bytes for each kind.
#include <garrick/net/wire/codec.hpp>
#include <garrick/net/wire/orders.hpp>
#include <garrick/net/wire/schema.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "net/golden_files.hpp"
#include "net/version_1_values.hpp"

namespace golden_types {

enum class colour : std::uint16_t { red = 1, green = 0x0203 };
struct point {
  std::int32_t x = 0;
  std::int32_t y = 0;
  bool operator==(const point&) const = default;
};
struct order {
  std::string what;
  std::uint32_t count = 0;
  double price = 0;
  bool paid = false;
  std::vector<point> where;
  bool operator==(const order&) const = default;
};
/// `order` in an earlier build, and in a later one.
struct older_order {
  std::string what = "nothing";
  std::uint32_t count = 1;
};
struct grown_point {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int64_t z = -7;
};
struct newer_order {
  std::string what;
  std::uint32_t count = 0;
  double price = 0;
  bool paid = false;
  std::vector<grown_point> where;
  std::string note = "none";
};
struct tree {
  std::int64_t value = 0;
  std::vector<tree> branches;
  bool operator==(const tree&) const = default;
};
struct nothing {
  bool operator==(const nothing&) const = default;
};
struct foreign_category final : garrick::base::error_category {
  [[nodiscard]] std::string_view name() const noexcept override { return "moon"; }
  [[nodiscard]] std::string message(std::uint32_t) const override { return "the moon is full"; }
};

}  // namespace golden_types

namespace golden_values_test {

using namespace garrick;
using namespace garrick::net;

namespace {

using namespace golden_types;

template <class T>
void value(const std::string& name, std::string_view type, const T& x) {
  const base::result<packet> p = encode(x);
  REQUIRE(p.has_value());
  garrick_test::golden("values/" + name, type, p->bytes());
  const base::result<T> back = decode<T>(garrick_test::golden_bytes("values/" + name));
  INFO(name << ": " << back.error().to_string());
  REQUIRE(back.has_value());
  const base::result<packet> again = encode(*back);
  REQUIRE(again.has_value());
  garrick_test::golden("values/" + name, type, again->bytes());
}

const order some_order{"tea", 300, 2.5, true, {{1, -1}, {0x01020304, 5}}};
constexpr std::string_view order_type = "{string, u32, f64, bool, vector<{i32, i32}>}";

}  // namespace

TEST_CASE("numbers are encoded as version 1 does it") {
  value("bool", "tuple<bool, bool>", std::tuple(false, true));
  value("bytes", "tuple<u8, i8, char>", std::tuple(std::uint8_t{200}, std::int8_t{-2}, 'a'));
  value("two_bytes", "tuple<u16, i16, char16>",
        std::tuple(std::uint16_t{0xfedc}, std::int16_t{-2}, u'\u0105'));
  value("four_bytes", "tuple<u32, i32, char32>",
        std::tuple(0xfedcba98u, std::int32_t{-2}, U'\U0001f600'));
  value("u64", "tuple<u64, u64, u64, u64>",
        std::tuple(std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{300}, ~std::uint64_t{0}));
  value("i64", "tuple<i64, i64, i64, i64, i64>",
        std::tuple(std::int64_t{0}, std::int64_t{-1}, std::int64_t{64},
                   std::numeric_limits<std::int64_t>::min(),
                   std::numeric_limits<std::int64_t>::max()));
  value("floats", "tuple<f32, f64, f64>",
        std::tuple(1.5f, -0.1, std::numeric_limits<double>::infinity()));
  value("enumeration", "u16", colour::green);
  value("chrono_duration", "i64", std::chrono::milliseconds(-1500));
  value("duration", "tuple<duration, duration>",
        std::tuple(base::duration::seconds(2), base::duration::infinite()));
}

TEST_CASE("containers are encoded as version 1 does it") {
  value("string", "string", std::string("gr\xc3\xbc\xc3\x9f dich\0!", 12));
  value("long_string", "string", std::string(200, 'x'));
  value("vector_u16", "vector<u16>", std::vector<std::uint16_t>{1, 2, 0xffff});
  value("vector_bool", "vector<bool>", std::vector<bool>{true, false, true});
  value("vector_i64", "vector<i64>", std::vector<std::int64_t>{1, -1, 1000});
  value("deque", "vector<string>", std::deque<std::string>{"a", "", "bc"});
  value("list", "vector<u8>", std::list<std::uint8_t>{3, 1, 2});
  value("set", "set<u32>", std::set<std::uint32_t>{1, 70000});
  value("multiset", "multiset<u8>", std::multiset<std::uint8_t>{2, 2});
  value("map", "map<string, i64>", std::map<std::string, std::int64_t>{{"a", 1}, {"b", -2}});
  value("unordered_map", "map<u8, bool>", std::unordered_map<std::uint8_t, bool>{{7, true}});
  value("array", "array<u16, 3>", std::array<std::uint16_t, 3>{1, 2, 3});
  value("empty", "tuple<string, vector<u32>, map<u8, u8>>",
        std::tuple(std::string(), std::vector<std::uint32_t>(),
                   std::map<std::uint8_t, std::uint8_t>()));
}

TEST_CASE("products, options and alternatives are encoded as version 1 does it") {
  value("pair", "tuple<u8, string>", std::pair<std::uint8_t, std::string>{7, "seven"});
  value("optional", "tuple<optional<u32>, optional<u32>>",
        std::tuple(std::optional<std::uint32_t>(), std::optional<std::uint32_t>(5)));
  value("variant", "vector<variant<u8, string, {}>>",
        std::vector<std::variant<std::uint8_t, std::string, std::monostate>>{std::uint8_t{1}, "two",
                                                                             std::monostate{}});
  value("pointer", "optional<string>", std::make_unique<std::string>("owned"));
}

TEST_CASE("aggregates are encoded as version 1 does it") {
  value("aggregate", order_type, some_order);
  value("empty_aggregate", "{}", nothing{});
  value("tree", "{i64, vector<{i64, vector<{i64, vector<{}>}>}>}",
        tree{1, {{2, {{3, {}}}}, {4, {}}}});
}

TEST_CASE("errors and orders are encoded as version 1 does it") {
  static const golden_types::foreign_category moon;
  value("error", "vector<error>",
        std::vector<base::error>{base::error{},
                                 base::make_error(garrick_test::trouble::late, "after 5 s")});
  // The category of this error is not known to the reader: the sender's text for the code becomes a
  // part of the error's text.
  const base::error foreign(3, moon, "", "over the sea");
  garrick_test::golden("values/foreign_error", "error", encode(foreign)->bytes());
  const auto back = decode<base::exit_reason>(garrick_test::golden_bytes("values/foreign_error"));
  REQUIRE(back.has_value());
  CHECK(back->as_error().category()->name() == "moon");
  CHECK(back->as_error().detail() == "the moon is full: over the sea");
  value("kill_order", "kill_order", kill_order{garrick_test::trouble::broken, true});
  value("resolve_order", "resolve_order", resolve_order{"tea", *schema_of<order>()});
  value("spawn_order", "spawn_order",
        spawn_order{"shop::clerk", {std::byte{1}, std::byte{2}}, *schema_of<std::tuple<colour>>()});
}

TEST_CASE("a schema of each kind of type is encoded as version 1 does it") {
  schema_builder b;
  const std::uint32_t message = b.add<tree>();
  b.sign("golden_types::tree", message,
         {b.add<std::map<std::string, std::array<colour, 3>>>(),
          b.add<std::set<std::chrono::seconds>>(),
          b.add<std::variant<bool, std::optional<std::pair<base::error, double>>>>()});
  const base::result<schema> s = std::move(b).finish();
  REQUIRE(s.has_value());
  value("schema", "schema", *s);
}

TEST_CASE("older and newer types read values of version 1, and it reads theirs") {
  const std::vector<std::byte> bytes = garrick_test::golden_bytes("values/aggregate");
  const auto older = decode<older_order>(bytes);
  REQUIRE(older.has_value());
  CHECK(older->what == "tea");
  CHECK(older->count == 300);
  const auto newer = decode<newer_order>(bytes);
  REQUIRE(newer.has_value());
  REQUIRE(newer->where.size() == 2);
  CHECK(newer->where[1].x == 0x01020304);
  CHECK(newer->where[1].z == -7);
  CHECK(newer->note == "none");

  value("older_aggregate", order_type, older_order{"tea", 300});
  value("newer_aggregate", order_type,
        newer_order{"tea", 300, 2.5, true, {{1, -1, 99}, {2, -2, 98}}, "a note"});
  const auto from_older = decode<order>(garrick_test::golden_bytes("values/older_aggregate"));
  REQUIRE(from_older.has_value());
  CHECK(*from_older == order{"tea", 300, 0, false, {}});
  const auto from_newer = decode<order>(garrick_test::golden_bytes("values/newer_aggregate"));
  REQUIRE(from_newer.has_value());
  CHECK(*from_newer == order{"tea", 300, 2.5, true, {{1, -1}, {2, -2}}});
}

TEST_CASE("a reader of version 1 reads all golden values, and agrees with decode.py") {
  std::map<std::string, std::string> expected;
  std::ifstream file(garrick_test::golden_folder + "decoded.expected");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("values/")) {
      const std::size_t end = line.find(": ");
      REQUIRE(end != std::string::npos);
      expected[line.substr(0, end)] = line.substr(end + 2);
    }
  CHECK(expected.size() >= 38);
  std::size_t count = 0;
  for (const auto& one :
       std::filesystem::directory_iterator(garrick_test::golden_folder + "values")) {
    const std::string name = "values/" + one.path().stem().string();
    INFO(name);
    const std::vector<std::byte> bytes = garrick_test::golden_bytes(name);
    version_1::reader in(bytes);
    const version_1::type type = version_1::words(garrick_test::golden_type(name)).whole();
    CHECK(version_1::value(type, in) == expected[name]);
    CHECK(in.at_end());
    ++count;
  }
  CHECK(count == expected.size());
}

}  // namespace golden_values_test
