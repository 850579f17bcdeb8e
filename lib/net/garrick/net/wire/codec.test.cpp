#include "garrick/net/wire/codec.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "garrick/base/values/random.hpp"

using namespace garrick;
using namespace garrick::net;

namespace shop {

enum class colour : std::uint16_t { red = 1, green = 0x0203 };
enum class level : long { low = -1, high = 300 };
enum old_style { one, two };
enum old_with_width : int { three = 3 };

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
struct nothing {
  bool operator==(const nothing&) const = default;
};
struct tree {
  int value = 0;
  std::vector<tree> branches;
  bool operator==(const tree&) const = default;
};
struct chain {
  int value = 0;
  std::unique_ptr<chain> next;
};

struct with_key {
  char key[4] = {};
  std::int64_t grid[2][3] = {};
};

struct small {
  int a = 1;
};
struct grown {
  int a = 1;
  std::string b = "unnamed";
  std::vector<int> c{7, 8};
};
struct basket_before {
  std::vector<small> all;
  small last;
  int end = 0;
};
struct basket_after {
  std::vector<grown> all;
  grown last{9, "last", {}};
  int end = 0;
  std::optional<double> more = 2.5;
};

class secret {
 public:
  explicit secret(int x = 0) : x_(x) {}
  [[nodiscard]] int x() const { return x_; }

 private:
  int x_;
};
struct mute {
  explicit mute(int) {}
  mute() = default;

 private:
  int x_ = 0;
};
struct bomb {
  bomb() noexcept(false) {}
  bomb(const bomb&) noexcept(false) {}
  explicit bomb(int x) { throw x; }
  bomb& operator=(const bomb&) = default;
};
struct known_names {
  std::map<int, std::string> all;
};
class named {
 public:
  std::string name() const { return name_; }
  void set(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
};

struct base_class {};
struct derived : base_class {
  int x;
};
struct with_pointer {
  int a;
  std::vector<std::tuple<int, const char*>> b;
};
struct with_const {
  const int a = 0;
};
struct with_reference {
  int& a;
};
struct without_default {
  explicit without_default(int) {}
};

enum class trouble : std::uint32_t { disk_full = 3, gone = 4 };
struct trouble_category final : base::error_category {
  [[nodiscard]] std::string_view name() const noexcept override { return "shop.trouble"; }
  [[nodiscard]] std::string message(std::uint32_t code) const override {
    return code == 3 ? "the disk is full" : "gone";
  }
};
constinit const trouble_category troubles{};
const base::error_category& error_category_of(trouble) noexcept { return troubles; }

/// A category that this process does not list, as if it were another process's: no error is made
/// from an enumeration of it.
struct unlisted_category final : base::error_category {
  std::string_view called;
  explicit unlisted_category(std::string_view name) : called(name) {}
  [[nodiscard]] std::string_view name() const noexcept override { return called; }
  [[nodiscard]] std::string message(std::uint32_t) const override { return "the moon is full"; }
};

}  // namespace shop

template <>
struct garrick::net::codec<shop::secret> {
  static void encode(byte_writer& out, const shop::secret& s) { out.varint(zigzag(s.x())); }
  static void decode(byte_reader& in, shop::secret& s) {
    s = shop::secret(static_cast<int>(from_zigzag(in.varint())));
  }
};
template <>
struct garrick::net::codec<shop::mute> {
  static void encode(byte_writer&, const shop::mute&) {}
  static void decode(byte_reader&, shop::mute&) {}
};
template <>
struct garrick::net::codec<shop::bomb> {
  static void encode(byte_writer&, const shop::bomb&) {}
  static void decode(byte_reader&, shop::bomb&) {}
};
/// Needs to know the names of this end.
template <>
struct garrick::net::codec<shop::named> {
  static void encode(byte_writer& out, const shop::named& n) {
    const auto* names = out.context().as<const shop::known_names>();
    if (names == nullptr)
      return out.fail(base::make_error(net_errc::not_encodable, "named", "nobody knows names"));
    for (const auto& [number, name] : names->all)
      if (name == n.name()) return out.varint(static_cast<std::uint64_t>(number));
    out.fail(base::make_error(net_errc::not_encodable, "named", "unknown"));
  }
  static void decode(byte_reader& in, shop::named& n) {
    const std::uint64_t number = in.varint();
    const auto* names = in.context().as<const shop::known_names>();
    if (names == nullptr) return in.fail("nobody knows names");
    const auto found = names->all.find(static_cast<int>(number));
    if (found == names->all.end()) return in.fail("an unknown name", number);
    n.set(found->second);
  }
};

namespace {

template <class T>
std::vector<std::byte> bytes_of(const T& x) {
  const base::result<packet> p = encode(x);
  REQUIRE(p.has_value());
  return {p->bytes().begin(), p->bytes().end()};
}
std::vector<std::byte> raw(std::initializer_list<int> all) {
  std::vector<std::byte> out;
  for (const int x : all) out.push_back(static_cast<std::byte>(x));
  return out;
}
template <class T>
void is(const T& x, std::initializer_list<int> expected) {
  CHECK(bytes_of(x) == raw(expected));
  const base::result<T> back = decode<T>(raw(expected));
  INFO(back.error().to_string());
  REQUIRE(back.has_value());
  CHECK((*back == x));
}
template <class T>
std::string refused(std::initializer_list<int> bytes, const decode_limits& limits = {}) {
  const base::result<T> x = decode<T>(raw(bytes), limits);
  REQUIRE(!x.has_value());
  CHECK(x.error() == net_errc::decode_failed);
  return std::string(x.error().detail());
}
std::uint64_t seeds() {
  const char* text = std::getenv("GARRICK_SEEDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 200;
}

}  // namespace

TEST_CASE("numbers: as wide as they are, but integers of eight bytes vary") {
  is(true, {1});
  is(std::uint8_t{200}, {200});
  is('a', {'a'});
  is(std::int16_t{-2}, {0xfe, 0xff});
  is(std::int32_t{0x01020304}, {4, 3, 2, 1});
  is(std::uint64_t{300}, {0xac, 2});
  is(std::int64_t{-1}, {1});
  is(1L, {2});
  is(std::size_t{1}, {1});
  is(1.0f, {0, 0, 0x80, 0x3f});
  is(-2.0, {0, 0, 0, 0, 0, 0, 0, 0xc0});
  is(shop::colour::green, {3, 2});
  is(shop::level::high, {0xd8, 4});
  is(shop::three, {3, 0, 0, 0});
  is(std::byte{9}, {9});
  is(u'\u0105', {5, 1});
  CHECK(std::isnan(*decode<double>(bytes_of(std::numeric_limits<double>::quiet_NaN()))));
}

TEST_CASE("containers: their number, then the elements") {
  is(std::string("abc"), {3, 'a', 'b', 'c'});
  is(std::u16string(u"a"), {1, 'a', 0});
  is(std::vector<std::uint16_t>{1, 2}, {2, 1, 0, 2, 0});
  is(std::vector<shop::colour>{shop::colour::red}, {1, 1, 0});
  is(std::vector<std::int64_t>{1, -1}, {2, 2, 1});
  is(std::vector<bool>{true, false}, {2, 1, 0});
  is(std::vector<std::string>{"a", ""}, {2, 1, 'a', 0});
  is(std::deque<std::uint8_t>{1, 2}, {2, 1, 2});
  is(std::list<std::uint8_t>{1, 2}, {2, 1, 2});
  is(std::set<std::uint8_t>{1, 2}, {2, 1, 2});
  is(std::multiset<std::uint8_t>{2, 2}, {2, 2, 2});
  is(std::unordered_set<std::uint8_t>{7}, {1, 7});
  is(std::map<std::uint8_t, std::string>{{1, "a"}, {2, ""}}, {2, 1, 1, 'a', 2, 0});
  is(std::multimap<std::uint8_t, bool>{{1, true}, {1, false}}, {2, 1, 1, 1, 0});
  is(std::unordered_map<std::uint8_t, bool>{{1, true}}, {1, 1, 1});
  is(std::array<std::uint16_t, 2>{1, 2}, {1, 0, 2, 0});
  is(std::array<std::int64_t, 0>{}, {});
}

TEST_CASE("products, options and alternatives") {
  is(std::pair<std::uint8_t, bool>{7, true}, {7, 1});
  is(std::tuple<std::uint8_t, std::string>{7, "a"}, {7, 1, 'a'});
  is(std::tuple<>{}, {});
  is(std::optional<std::uint8_t>{}, {0});
  is(std::optional<std::uint8_t>{5}, {1, 5});
  is(std::variant<std::uint8_t, std::string>{"a"}, {1, 1, 'a'});
  is(std::variant<int, int>{std::in_place_index<1>, 1}, {1, 1, 0, 0, 0});
  is(std::variant<std::monostate, bool>{}, {0, 0});
  is(std::chrono::milliseconds(-1), {1});
  is(std::chrono::duration<float>(1.0f), {0, 0, 0x80, 0x3f});
  is(base::duration::nanoseconds(1), {2});
  CHECK(bytes_of(std::make_unique<std::uint8_t>(std::uint8_t{5})) == raw({1, 5}));
  CHECK(bytes_of(std::make_shared<const std::uint8_t>(std::uint8_t{5})) == raw({1, 5}));
  const auto shared = decode<std::shared_ptr<const std::uint8_t>>(raw({1, 5}));
  REQUIRE(shared.has_value());
  CHECK(**shared == 5);
  const auto none = decode<std::unique_ptr<std::uint8_t>>(raw({0}));
  REQUIRE(none.has_value());
  CHECK(*none == nullptr);
}

TEST_CASE("aggregates: the length of their fields, then these") {
  is(shop::nothing{}, {0});
  is(shop::point{1, -1}, {8, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff});
  is(shop::order{"tea", 2, 1.0, true, {{1, 2}}},
     {27, 3,    't',  'e', 'a', 2, 0, 0, 0, 0, 0, 0, 0, 0,
      0,  0xf0, 0x3f, 1,   1,   8, 1, 0, 0, 0, 2, 0, 0, 0});
  is(shop::tree{1, {{2, {}}}}, {11, 1, 0, 0, 0, 1, 5, 2, 0, 0, 0, 0});
  const auto keyed = decode<shop::with_key>(
      bytes_of(shop::with_key{{'a', 'b', 'c', 0}, {{1, 2, 3}, {4, -5, 600}}}));
  REQUIRE(keyed.has_value());
  CHECK(std::string(keyed->key) == "abc");
  CHECK(keyed->grid[1][2] == 600);
  CHECK(keyed->grid[1][1] == -5);
  const auto linked = decode<shop::chain>(raw({12, 1, 0, 0, 0, 1, 6, 2, 0, 0, 0, 0}));
  CHECK(!linked.has_value());
}

TEST_CASE("old data read as defaults, and new data are skipped, also inside of nested values") {
  const shop::basket_before old{{{3}, {4}}, {5}, 6};
  const auto grown = decode<shop::basket_after>(bytes_of(old));
  REQUIRE(grown.has_value());
  REQUIRE(grown->all.size() == 2);
  CHECK(grown->all[1].a == 4);
  CHECK(grown->all[1].b == "unnamed");
  CHECK(grown->all[1].c == std::vector<int>{7, 8});
  CHECK(grown->last.a == 5);
  CHECK(grown->last.b == "last");
  CHECK(grown->end == 6);
  CHECK(grown->more == 2.5);

  const shop::basket_after fresh{{{3, "x", {1, 2, 3}}, {4, "", {}}}, {5, "y", {}}, 6, 1.0};
  const auto shrunk = decode<shop::basket_before>(bytes_of(fresh));
  REQUIRE(shrunk.has_value());
  REQUIRE(shrunk->all.size() == 2);
  CHECK(shrunk->all[0].a == 3);
  CHECK(shrunk->all[1].a == 4);
  CHECK(shrunk->last.a == 5);
  CHECK(shrunk->end == 6);
}

TEST_CASE("decoded elements replace those that a default-made value has") {
  const auto x = decode<shop::grown>(bytes_of(shop::grown{1, "", {}}));
  REQUIRE(x.has_value());
  CHECK(x->b.empty());
  CHECK(x->c.empty());
}

TEST_CASE("a class of one's own has a codec, which may need to know where it is") {
  const auto secret = decode<std::vector<shop::secret>>(bytes_of(std::vector{shop::secret(-7)}));
  REQUIRE(secret.has_value());
  CHECK(secret->at(0).x() == -7);

  shop::named n;
  n.set("second");
  CHECK(encode(n).error() == net_errc::not_encodable);
  const shop::known_names here{{{1, "first"}, {2, "second"}}};
  const auto p = encode(n, {.context = codec_context(here)});
  REQUIRE(p.has_value());
  const auto back = decode<shop::named>(p->bytes(), {}, codec_context(here));
  INFO(back.error().to_string());
  REQUIRE(back.has_value());
  CHECK(back->name() == "second");
  int something_else = 0;
  CHECK(!decode<shop::named>(p->bytes(), {}, codec_context(something_else)).has_value());
}

TEST_CASE("values that only the running program finds not encodable are an error, not a crash") {
  CHECK(encode(std::vector(3, shop::mute())).error() == net_errc::not_encodable);
  std::variant<int, shop::bomb> without = 1;
  CHECK_THROWS_AS(without.emplace<1>(7), int);
  REQUIRE(without.valueless_by_exception());
  CHECK(encode(without).error() == net_errc::not_encodable);

  shop::chain all;
  for (int i = 0; i != 63; ++i) {
    auto next = std::make_unique<shop::chain>();
    next->next = std::move(all.next);
    all.next = std::move(next);
  }
  const auto just = encode(all);
  REQUIRE(just.has_value());
  CHECK(decode<shop::chain>(just->bytes()).has_value());
  CHECK(!decode<shop::chain>(just->bytes(), {.depth = 63}).has_value());
  auto first = std::make_unique<shop::chain>();
  first->next = std::move(all.next);
  all.next = std::move(first);
  CHECK(encode(all).error() == net_errc::not_encodable);
}

TEST_CASE("which types can be encoded") {
  CHECK(is_encodable<shop::order>);
  CHECK(is_encodable<shop::chain>);
  CHECK(is_encodable<base::error>);
  CHECK(is_encodable<base::exit_reason>);
  CHECK(is_encodable<std::map<std::string, std::vector<shop::tree>>>);
  CHECK(!is_encodable<base::instant>);
  CHECK(!is_encodable<std::vector<std::optional<base::instant>>>);
  CHECK(!is_encodable<std::chrono::steady_clock::time_point>);
  CHECK(!is_encodable<int*>);
  CHECK(!is_encodable<long double>);
  CHECK(!is_encodable<wchar_t>);
  CHECK(!is_encodable<shop::old_style>);
  CHECK(!is_encodable<shop::derived>);
  CHECK(!is_encodable<shop::with_pointer>);
  CHECK(!is_encodable<shop::with_const>);
  CHECK(!is_encodable<shop::with_reference>);
  CHECK(!is_encodable<shop::without_default>);
  CHECK(!is_encodable<std::string_view>);
  CHECK(!is_encodable<std::shared_ptr<int>>);
  CHECK(!is_encodable<std::vector<std::tuple<>>>);
  CHECK(!is_encodable<std::unordered_multimap<int, int>>);
  using found = detail::found_by_wire_search<shop::with_pointer>;
  CHECK(std::is_same_v<found, base::detail::found<const char*, base::is_a_pointer, 1, 0, 1>>);
}

TEST_CASE("bad bytes are refused with a text that says where and why") {
  CHECK(refused<bool>({2}) == "byte 1: a flag that is neither 0 nor 1 (2)");
  CHECK(refused<int>({1, 2, 3}) == "byte 0: the bytes end too early");
  CHECK(refused<int>({1, 2, 3, 4, 5}) == "byte 4: bytes behind the end (1)");
  CHECK(refused<std::string>({4, 'a'}) == "byte 1: a count beyond the bytes that are left (4)");
  CHECK(refused<std::map<std::uint16_t, std::uint16_t>>({2, 1, 1, 1, 1, 2, 2}) ==
        "byte 1: a count beyond the bytes that are left (2)");
  CHECK(refused<shop::point>({5, 1, 0, 0, 0, 9}) ==
        "shop::point, field 1, byte 5: the bytes end too early");
  CHECK(refused<std::vector<shop::order>>({1, 3, 1, 'a', 0}) ==
        "shop::order, field 1, byte 4: the bytes end too early");
  CHECK(refused<std::variant<int, bool>>({2, 0}) ==
        "byte 1: an alternative that the variant does not have (2)");
  CHECK(refused<std::optional<int>>({7}).find("flag") != std::string::npos);
  CHECK(refused<std::set<std::uint8_t>>({2, 5, 5}).find("before") != std::string::npos);
  CHECK(refused<std::map<std::uint8_t, bool>>({2, 5, 1, 5, 1}).find("before") != std::string::npos);
  CHECK(refused<std::unordered_map<std::uint8_t, bool>>({2, 5, 1, 5, 1}).find("before") !=
        std::string::npos);
  CHECK(refused<std::unordered_set<std::uint8_t>>({2, 5, 5}).find("before") != std::string::npos);
}

TEST_CASE("a message expands to no more memory than is allowed") {
  std::vector<std::vector<std::vector<std::uint8_t>>> many(1000);
  const auto p = encode(many);
  REQUIRE(p.has_value());
  CHECK(decode<decltype(many)>(p->bytes(), {.memory = 24000}).has_value() == (sizeof(void*) == 8));
  CHECK(!decode<decltype(many)>(p->bytes(), {.memory = 23999}).has_value());
  const base::error no = decode<decltype(many)>(p->bytes(), {.memory = 1000}).error();
  const std::string wanted = std::to_string(1000 * sizeof(many.front()));
  CHECK_MESSAGE(no.to_string().ends_with(": it would take more memory than is allowed: " + wanted +
                                         " bytes more, and a message may take 1000 in all"),
                no.to_string());
  // The memory of containers beside each other is added up.
  std::pair<std::string, std::string> two{std::string(60, 'x'), std::string(60, 'y')};
  const auto q = encode(two);
  REQUIRE(q.has_value());
  CHECK(decode<decltype(two)>(q->bytes(), {.memory = 120}).has_value());
  CHECK(!decode<decltype(two)>(q->bytes(), {.memory = 119}).has_value());
  // Elements that are allocated one by one cost more than their bytes.
  const auto costs = []<class T>(const T& x) {
    const base::result<packet> bytes = encode(x);
    REQUIRE(bytes.has_value());
    std::size_t least = 0;
    while (!decode<T>(bytes->bytes(), {.memory = least}).has_value()) ++least;
    return least;
  };
  constexpr std::size_t each = 1 + detail::node_overhead;
  CHECK(costs(std::set<std::uint8_t>{1, 2, 3}) == 3 * each);
  CHECK(costs(std::list<std::uint8_t>{1, 2, 3}) == 3 * each);
  CHECK(costs(std::make_unique<std::uint8_t>()) == each);
  const base::error e = base::make_error(base::errc::timeout, "the letter", "is late");
  CHECK(costs(std::tuple(e)) ==
        e.category()->name().size() + e.message().size() + e.detail().size() + 1);
}

TEST_CASE("keys that were chosen to share a bucket are refused before they cost much") {
  // The standard hash of an integer is itself, and the number of buckets can be foretold.
  constexpr std::uint32_t count = 20000;
  std::unordered_set<std::uint32_t> probe;
  probe.reserve(count);
  const auto buckets = static_cast<std::uint32_t>(probe.bucket_count());
  std::vector<std::uint32_t> bad;
  for (std::uint32_t i = 0; i != count; ++i) bad.push_back(i * buckets);
  const auto p = encode(bad);
  REQUIRE(p.has_value());
  const auto back = decode<std::unordered_set<std::uint32_t>>(p->bytes());
  REQUIRE(!back.has_value());
  CHECK(back.error().detail().find("one hash") != std::string_view::npos);

  std::vector<std::uint32_t> good;
  for (std::uint32_t i = 0; i != count; ++i) good.push_back(i * 4096);
  CHECK(decode<std::unordered_set<std::uint32_t>>(encode(good)->bytes()).has_value());
}

TEST_CASE("an error arrives as the same error") {
  const auto same = [](const base::error& e) {
    const auto back = decode<base::exit_reason>(bytes_of(e));
    REQUIRE(back.has_value());
    CHECK(back->as_error() == e);
    CHECK(back->as_error().detail() == e.detail());
  };
  same({});
  same(base::errc::timeout);
  same(base::make_error(base::errc::user, "line 7", "bad"));
  same(base::make_error(shop::trouble::disk_full, "/dev/sda"));
  same(base::exit_code::kill);
  CHECK(bytes_of(base::error{}) == raw({7, 0, 0, 0, 0, 0, 0, 0}));
  // A field that is appended later is skipped.
  CHECK(decode<base::exit_reason>(raw({8, 0, 0, 0, 0, 0, 0, 0, 99})).has_value());
  CHECK(!decode<base::exit_reason>(raw({7, 0, 1, 0, 0, 0, 0, 0})).has_value());
}

TEST_CASE("an error of an unknown category arrives with its name and its texts, and goes on so") {
  static const shop::unlisted_category moon("moon");
  const base::error e(5, moon, "", "over the sea");
  const auto here = decode<base::exit_reason>(bytes_of(e));
  REQUIRE(here.has_value());
  const base::error& got = here->as_error();
  CHECK(got.code() == 5);
  REQUIRE(got.category() != nullptr);
  CHECK(got.category()->name() == "moon");
  CHECK(got.to_string() ==
        "another process's error 5 of the category moon: the moon is full: over the sea");
  CHECK(*decode<base::exit_reason>(bytes_of(e)) == *here);
  // A third process, which does not know the category, either, adds nothing.
  const auto there = decode<base::exit_reason>(bytes_of(got));
  REQUIRE(there.has_value());
  CHECK(there->as_error() == got);
  CHECK(there->as_error().detail() == got.detail());
}

namespace {

shop::tree random_tree(base::random_source& random, int depth) {
  shop::tree t{static_cast<int>(random()), {}};
  for (std::uint32_t n = depth == 0 ? 0 : random.below(4); n != 0; --n)
    t.branches.push_back(random_tree(random, depth - 1));
  return t;
}
struct all_kinds {
  shop::tree t;
  std::map<std::string, std::vector<std::int64_t>> m;
  std::optional<std::variant<double, std::string, shop::point>> o;
  std::vector<std::tuple<bool, std::uint16_t, std::list<std::string>>> v;
  std::unordered_map<std::int64_t, shop::order> u;
  bool operator==(const all_kinds&) const = default;
};
all_kinds random_value(base::random_source& random) {
  all_kinds x{random_tree(random, 4), {}, {}, {}, {}};
  const auto text = [&] { return std::string(random.below(300), static_cast<char>(random())); };
  for (std::uint32_t n = random.below(5); n != 0; --n)
    for (std::uint32_t k = random.below(5); k != 0; --k)
      x.m[text()].push_back(static_cast<std::int64_t>(random() >> random.below(64)));
  if (random.below(2) != 0) x.o = shop::point{1, static_cast<int>(random())};
  if (random.below(2) != 0) x.o = text();
  for (std::uint32_t n = random.below(5); n != 0; --n)
    x.v.push_back({random.below(2) != 0, static_cast<std::uint16_t>(random()), {text(), text()}});
  for (std::uint32_t n = random.below(5); n != 0; --n)
    x.u[static_cast<std::int64_t>(random())] = {text(), 7, random.unit(), true, {{1, 2}}};
  return x;
}

}  // namespace

TEST_CASE("random values come back; cut off or damaged, they are refused or are other values") {
  for (std::uint64_t seed = 0; seed != seeds(); ++seed) {
    INFO("seed " << seed);
    base::random_source random(seed);
    const all_kinds x = random_value(random);
    std::vector<std::byte> bytes = bytes_of(x);
    const auto back = decode<all_kinds>(bytes);
    REQUIRE(back.has_value());
    REQUIRE(*back == x);
    const std::size_t cut = random.below(static_cast<std::uint32_t>(bytes.size()));
    REQUIRE(!decode<all_kinds>(std::span(bytes).first(cut)).has_value());
    for (int i = 0; i != 20; ++i) {
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] ^=
          static_cast<std::byte>(1 + random.below(255));
      if (const auto other = decode<all_kinds>(bytes)) {
        const auto again = decode<all_kinds>(bytes_of(*other));  // the decoded value is sound
        REQUIRE(again.has_value());
      }
    }
  }
}
