// Protocols are sets of signatures; handles convert to any subset and to nothing else; atoms,
// several arguments, several results.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <string>
#include <type_traits>

namespace protocols_test {

namespace {

using namespace garrick;

struct a_message {};
struct b_message {};
struct c_message {};

using abc = protocol<void(a_message), int(b_message), std::string(c_message)>;
using cab = protocol<std::string(c_message), void(a_message), int(b_message)>;
using ab = protocol<void(a_message), int(b_message)>;
using other_answer = protocol<void(a_message), long(b_message)>;
using none = protocol<>;

// order does not matter
static_assert(std::is_convertible_v<ref<abc>, ref<cab>> &&
              std::is_convertible_v<ref<cab>, ref<abc>>);
// to any subset
static_assert(std::is_convertible_v<ref<abc>, ref<ab>> &&
              std::is_convertible_v<const ref<abc>&, ref<none>>);
static_assert(std::is_nothrow_convertible_v<ref<abc>, ref<ab>>);
// and to nothing else
static_assert(!std::is_convertible_v<ref<ab>, ref<abc>>);
static_assert(!std::is_constructible_v<ref<abc>, ref<ab>>);
static_assert(!std::is_convertible_v<ref<ab>, ref<other_answer>>);
static_assert(!std::is_constructible_v<ref<ab>, any_ref>);
static_assert(!std::is_assignable_v<ref<abc>&, ref<ab>>);
// the wildcard only on request
static_assert(!std::is_convertible_v<ref<abc>, any_ref> &&
              std::is_constructible_v<any_ref, ref<abc>>);
// one pointer
static_assert(sizeof(ref<abc>) == sizeof(void*) && sizeof(any_ref) == sizeof(void*));

// R, result<R>, task<R> and response_promise<R> are one signature
static_assert(
    std::is_convertible_v<ref<protocol<int(b_message)>>, ref<protocol<result<int>(b_message)>>>);
static_assert(std::is_convertible_v<ref<protocol<task<int>(b_message)>>,
                                    ref<protocol<response_promise<int>(b_message)>>>);
static_assert(std::is_convertible_v<ref<protocol<task<result<int>>(b_message)>>,
                                    ref<protocol<int(b_message)>>>);
static_assert(
    std::is_convertible_v<ref<protocol<result<void>(b_message)>>, ref<protocol<void(b_message)>>>);
// arguments decay: by value, by const reference, by reference are one signature
static_assert(std::is_convertible_v<ref<protocol<void(const std::string&, int)>>,
                                    ref<protocol<void(std::string, const int)>>>);
static_assert(
    std::is_convertible_v<ref<protocol<int(std::string&)>>, ref<protocol<int(std::string)>>>);
// a tuple is one argument, two arguments are two
static_assert(!std::is_constructible_v<ref<protocol<void(int, int)>>,
                                       ref<protocol<void(std::tuple<int, int>)>>>);

template <class Handle, class... Args>
concept can_request = requires(dynamic_actor& self, const Handle& to, Args... args) {
  typename Handle::protocol_type;
  requires Handle::protocol_type::template accepts<core::content_of<Args...>>;
};
static_assert(can_request<ref<abc>, a_message> && !can_request<ref<ab>, c_message> &&
              can_request<any_ref, c_message>);

using plus = atom<"plus">;
using a_name_of_more_than_ten_characters =
    atom<"a name of more than ten characters, spaces and all">;

static_assert(std::is_empty_v<plus> && !std::is_same_v<plus, atom<"minus">> &&
              std::is_same_v<plus, atom<"plus">>);
static_assert(plus{} == plus{});
static_assert(base::is_sendable<plus>);

using math = protocol<int(plus, int, int), result<int, int>(atom<"divide">, int, int),
                      std::string(a_name_of_more_than_ten_characters)>;

class math_actor : public actor<math> {
 public:
  int on(plus, int a, int b) { return a + b; }
  result<int, int> on(atom<"divide">, int a, int b) {
    if (b == 0) return make_error(errc::user, "divide", "by zero");
    return {a / b, a % b};
  }
  std::string on(a_name_of_more_than_ten_characters name) { return name.to_string(); }
};

TEST_CASE("atoms select signatures of several arguments") {
  actor_system system;
  const ref<math> m = system.spawn<math_actor>();
  CHECK(system.request(m, plus{}, 2, 3).get().value() == 5);
  CHECK(system.request(m, a_name_of_more_than_ten_characters{}).get().value() ==
        "a name of more than ten characters, spaces and all");
}

TEST_CASE("atom prints its name") {
  CHECK(plus{}.to_string() == "plus");
  CHECK(base::to_string(plus{}) == "plus");
  CHECK(plus::name == "plus");
  CHECK(make_message(plus{}, 1, 2).to_string().find("plus, 1, 2") != std::string::npos);
}

TEST_CASE("a signature may have several results") {
  actor_system system;
  const ref<math> m = system.spawn<math_actor>();
  auto r = system.request(m, atom<"divide">{}, 17, 5).get();
  REQUIRE(r.has_value());
  const auto [quotient, rest] = *r;
  CHECK(quotient == 3);
  CHECK(rest == 2);
  CHECK(system.request(m, atom<"divide">{}, 17, 0).get().error() == errc::user);
}

TEST_CASE("several results arrive as several arguments of a continuation") {
  actor_system system;
  const ref<math> m = system.spawn<math_actor>();
  const any_ref a = system.spawn(
      [](dynamic_actor& self, const ref<math>& to) -> behavior {
        return {[&self, to](int x) {
          auto p = self.make_promise<int>();
          self.request(to, atom<"divide">{}, x, 10).then([p = std::move(p)](int q, int r) mutable {
            p.deliver(q * 1000 + r);
          });
          return result<int>(p);
        }};
      },
      m);
  CHECK(system.request_as<int>(a, 57).get().value() == 5007);
}

TEST_CASE("handle to a subset reaches the same actor") {
  actor_system system;
  const ref<math> m = system.spawn<math_actor>();
  const ref<protocol<int(plus, int, int)>> adder = m;
  CHECK(system.request(adder, plus{}, 40, 2).get().value() == 42);
  CHECK(adder == m);
  ref<protocol<>> nothing = adder;
  CHECK(nothing == m);
  nothing = m;
  CHECK(nothing.id() == m.id());
}

TEST_CASE("messages of several arguments and function actors have readable names") {
  CHECK(make_message(1, std::string("two")).type_name() == "(int, std::string)");
  actor_system system;
  const any_ref f = system.spawn([](dynamic_actor&) -> behavior { return {[](int) {}}; });
  const std::string name = f.to_string();
  CAPTURE(name);
  CHECK(name.starts_with("function actor at "));
  CHECK(name.find("lambda") == std::string::npos);
  CHECK(name.find("  ") == std::string::npos);
}

}  // namespace

}  // namespace protocols_test
