// Every form of co_await that guide 6 calls safe. The values that they handle count themselves, so
// a temporary that is destroyed twice is seen without a sanitizer, too. GCC 12 refuses the others
// where a function can see them.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace await_forms_test {

namespace {

using namespace garrick;
using namespace std::chrono_literals;

/// Owns memory, and counts itself.
class counted {
 public:
  using garrick_sendable = void;
  counted() : text_(100, 'x') { ++alive; }
  counted(const counted& o) : text_(o.text_) { ++alive; }
  counted(counted&& o) noexcept : text_(std::move(o.text_)) { ++alive; }
  counted& operator=(counted&&) noexcept = default;
  ~counted() { --alive; }
  static inline int alive = 0;

 private:
  std::string text_;
};

struct named {
  counted name;
  int number;
};
struct whole {
  named part;
  int factor;
};
struct flat {
  int a;
  int b;
};
using shop = protocol<int(named), int(whole), int(flat), int(counted), int(counted, int),
                      counted(std::string), int(int)>;

class shop_actor : public actor<shop> {
 public:
  int on(const named& m) { return m.number; }
  int on(const whole& m) { return m.part.number * m.factor; }
  int on(flat m) { return m.a + m.b; }
  int on(const counted&) { return 7; }
  int on(const counted&, int n) { return n; }
  counted on(const std::string&) { return {}; }
  int on(int n) { return n; }
};

/// Each member task is one safe form, and yields 7.
class buyer : public actor<protocol<int(int)>> {
 public:
  using form = task<int> (buyer::*)();

  buyer(ref<shop> s, any_ref any) : shop_(std::move(s)), any_(std::move(any)), all_({shop_}) {}
  task<int> on(int index) {
    task<int> run = (this->*forms[static_cast<std::size_t>(index)])();
    const result<int> r = co_await std::move(run);
    co_return *r;
  }

  task<int> built_in_place() {
    const result<int> r = co_await request<named>(shop_, counted_, 7);
    co_return *r;
  }
  task<int> built_in_place_within() {
    const result<int> r = co_await request<named>(shop_, counted_, 7).within(1s);
    co_return *r;
  }
  task<int> built_in_place_of_a_temporary_with_a_constructor() {
    const result<int> r = co_await request<named>(shop_, counted(), 7);
    co_return *r;
  }
  task<int> moved_in_place() {
    named m{counted_, 7};
    const result<int> r = co_await request<named>(shop_, std::move(m));
    co_return *r;
  }
  task<int> nested_and_moved_in_place() {
    whole m{{counted_, 7}, 1};
    const result<int> r = co_await request<whole>(shop_, std::move(m));
    co_return *r;
  }
  task<int> part_moved_in_place() {
    named part{counted_, 7};
    const result<int> r = co_await request<whole>(shop_, std::move(part), 1);
    co_return *r;
  }
  task<int> variable_copied() {
    const named m{counted_, 7};
    const result<int> r = co_await request(shop_, m);
    co_return *r;
  }
  task<int> two_statements() {
    pending_response<int> p = request(shop_, named{counted_, 7});
    const result<int> r = co_await std::move(p);
    co_return *r;
  }
  task<int> two_statements_within() {
    pending_response<int> p = request(shop_, named{counted_, 7}, 1s);
    const result<int> r = co_await std::move(p);
    co_return *r;
  }
  task<int> two_statements_urgent() {
    pending_response<int> p = request_urgent(shop_, named{counted_, 7});
    const result<int> r = co_await std::move(p);
    co_return *r;
  }
  task<int> two_statements_to_any() {
    pending_response<int> p = request_as<int>(any_, named{counted_, 7}, 1s);
    const result<int> r = co_await std::move(p);
    co_return *r;
  }
  task<int> nothing_to_destroy() {
    const result<int> r = co_await request(shop_, flat{3, 4});
    co_return *r;
  }
  task<int> temporary_with_a_constructor() {
    const result<int> r = co_await request(shop_, counted());
    co_return *r;
  }
  task<int> several_parts_with_constructors() {
    const result<int> r = co_await request(shop_, counted(counted_), 7);
    co_return *r;
  }
  task<int> room() {
    const result<void> r = co_await send_when_room<named>(shop_, counted_, 7);
    co_return r ? 7 : 0;
  }
  task<int> room_moved() {
    named m{counted_, 7};
    const result<void> r = co_await send_when_room<named>(shop_, std::move(m));
    co_return r ? 7 : 0;
  }
  task<int> asked_all() {
    const named m{counted_, 7};
    const result<std::vector<result<int>>> r = co_await fan_out(*this, all_, m);
    co_return *(*r)[0];
  }
  task<int> asked_all_in_two_statements() {
    pending_response<std::vector<result<int>>> p = fan_out(*this, all_, named{counted_, 7});
    const result<std::vector<result<int>>> r = co_await std::move(p);
    co_return *(*r)[0];
  }
  task<int> asked_for_the_first() {
    const named m{counted_, 7};
    const result<int> r = co_await first_of(*this, all_, m);
    co_return *r;
  }
  task<int> routed_in_place() {
    const router<shop> pool(all_);
    const result<int> r = co_await request<named>(pool, counted_, 7);
    co_return *r;
  }
  task<int> routed_in_two_statements() {
    const router<shop> pool(all_);
    pending_response<int> p = request(pool, named{counted_, 7});
    const result<int> r = co_await std::move(p);
    co_return *r;
  }
  task<int> adapted() {
    pending_response<int> p =
        adapt<int>(*this, [kept = counted_](const completion<int>& done) { done(7); });
    const result<int> r = co_await std::move(p);
    co_return *r;
  }
  task<int> adapted_with_references_only() {
    const result<int> r =
        co_await adapt<int>(*this, [this](const completion<int>& done) { done(*seven_); });
    co_return *r;
  }
  task<int> helper(named m) {
    const result<int> r = co_await request<named>(shop_, std::move(m));
    co_return *r;
  }
  task<int> helper_given_a_variable() {
    named m{counted_, 7};
    const result<int> r = co_await helper(std::move(m));
    co_return *r;
  }
  task<named> made_by_a_task() { co_return named{counted_, 7}; }
  task<int> aggregate_returned() {
    const result<named> r = co_await made_by_a_task();
    co_return r->number;
  }
  task<int> braces_afterwards() {
    const result<counted> r = co_await request<std::string>(shop_, "name");
    const named m{*r, 7};
    co_return m.number;
  }
  task<int> constructor_around_it() {
    const std::pair<result<counted>, int> p(co_await request<std::string>(shop_, "name"), 7);
    co_return p.second;
  }
  task<int> if_and_else() {
    std::optional<counted> c;
    if (seven_ != nullptr) {
      result<counted> r = co_await request<std::string>(shop_, "name");
      c = std::move(*r);
    } else {
      c = counted_;
    }
    co_return c ? 7 : 0;
  }
  task<int> choice_between_numbers() {
    const int n = *seven_ == 7 ? *co_await request<int>(shop_, 7) : 0;
    co_return n;
  }
  task<int> switch_over_a_variable() {
    const result<int> r = co_await request<named>(shop_, counted_, 7);
    switch (*r) {
      case 7: co_return 7;
      default: co_return 0;
    }
  }

  static constexpr std::array forms{
      &buyer::built_in_place,
      &buyer::built_in_place_within,
      &buyer::built_in_place_of_a_temporary_with_a_constructor,
      &buyer::moved_in_place,
      &buyer::nested_and_moved_in_place,
      &buyer::part_moved_in_place,
      &buyer::variable_copied,
      &buyer::two_statements,
      &buyer::two_statements_within,
      &buyer::two_statements_urgent,
      &buyer::two_statements_to_any,
      &buyer::nothing_to_destroy,
      &buyer::temporary_with_a_constructor,
      &buyer::several_parts_with_constructors,
      &buyer::room,
      &buyer::room_moved,
      &buyer::asked_all,
      &buyer::asked_all_in_two_statements,
      &buyer::asked_for_the_first,
      &buyer::routed_in_place,
      &buyer::routed_in_two_statements,
      &buyer::adapted,
      &buyer::adapted_with_references_only,
      &buyer::helper_given_a_variable,
      &buyer::aggregate_returned,
      &buyer::braces_afterwards,
      &buyer::constructor_around_it,
      &buyer::if_and_else,
      &buyer::choice_between_numbers,
      &buyer::switch_over_a_variable,
  };

 private:
  ref<shop> shop_;
  any_ref any_;
  std::vector<ref<shop>> all_;
  counted counted_;
  std::unique_ptr<int> seven_ = std::make_unique<int>(7);
};

}  // namespace

TEST_CASE("every form of co_await that the guide calls safe destroys its arguments once") {
  {
    testkit::test_system system;
    const auto s = system.spawn<shop_actor>();
    const auto b = system.spawn<buyer>(s, any_ref(s));
    const int idle = counted::alive;
    for (std::size_t i = 0; i < buyer::forms.size(); ++i) {
      CAPTURE(i);
      CHECK(system.request(b, static_cast<int>(i)).get().value() == 7);
      CHECK(counted::alive == idle);
    }
  }
  CHECK(counted::alive == 0);
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
TEST_CASE("GCC 12: a request with an aggregate or a closure that owns memory is not awaited") {
  using core::detail::destroyed_twice;
  const auto capturing = [c = counted()] { static_cast<void>(c); };
  const auto referring = [&capturing] { static_cast<void>(capturing); };
  CHECK(destroyed_twice<named>);
  CHECK(destroyed_twice<const named>);
  CHECK(destroyed_twice<std::array<counted, 2>>);
  CHECK(destroyed_twice<std::remove_const_t<decltype(capturing)>>);
  CHECK_FALSE(destroyed_twice<named&>);
  CHECK_FALSE(destroyed_twice<const named&>);
  CHECK_FALSE(destroyed_twice<flat>);
  CHECK_FALSE(destroyed_twice<counted>);
  CHECK_FALSE(destroyed_twice<std::string>);
  CHECK_FALSE(destroyed_twice<std::function<void()>>);
  CHECK_FALSE(destroyed_twice<std::remove_const_t<decltype(referring)>>);
}

TEST_CASE("GCC 12: each function that takes a message gives a response that is not awaited") {
  using core::detail::asked_with_temporary;
  using one = asked_with_temporary<named, int>;
  using several = asked_with_temporary<named, std::vector<result<int>>>;
  const auto check = [](buyer& b, const ref<shop>& s, const any_ref& any) {
    const std::vector<ref<shop>> all{s};
    const router<shop> pool(all);
    static_assert(std::is_same_v<decltype(b.request(s, named())), one>);
    static_assert(std::is_same_v<decltype(b.request(s, named(), 1s)), one>);
    static_assert(std::is_same_v<decltype(b.request(s, named()).within(1s)), one&&>);
    static_assert(std::is_same_v<decltype(b.request_urgent(s, named())), one>);
    static_assert(std::is_same_v<decltype(b.request_as<int>(any, named())), one>);
    static_assert(std::is_same_v<decltype(b.request_as<int>(any, named(), 1s)), one>);
    static_assert(
        std::is_same_v<decltype(b.send_when_room(s, named())), asked_with_temporary<named>>);
    static_assert(std::is_same_v<decltype(b.request(pool, named())), one>);
    static_assert(std::is_same_v<decltype(first_of(b, all, named())), one>);
    static_assert(std::is_same_v<decltype(fan_out(b, all, named())), several>);
    static_assert(std::is_same_v<decltype(b.request<named>(pool)), pending_response<int>>);
    static_assert(std::is_same_v<decltype(b.request<named>(s)), pending_response<int>>);
  };
  static_cast<void>(check);
  CHECK(std::is_base_of_v<pending_response<int>, one>);
}
#endif

}  // namespace await_forms_test
