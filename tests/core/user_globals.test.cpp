// GCC's -Wshadow says nothing of our headers, for any names of a user's globals, before and after
// the include. The pragma turns the warning into an error, so a failure is one of this file's
// compilation.

#include <doctest/doctest.h>
#pragma GCC diagnostic error "-Wshadow"

[[maybe_unused]] static int other, a, b, c, e, p, m, n, o, r, s, t, x, to, id, why, type, name,
    value, message, handle, count, size, data, args, next, limit, how, who, what, all, found, from,
    out, text, token, key, node, cell, options, reason, when, period, deadline, policy, bound,
    length, order, lot, guard, content, promise, response;

#include <garrick/garrick.hpp>

[[maybe_unused]] static int done, raw, first, rest, env, start, function, request, self;

namespace {

struct add {
  int amount;
};
struct total {};

class summing : public garrick::actor<garrick::protocol<void(add), int(total)>> {
 public:
  void on(add one) { sum_ += one.amount; }
  int on(total) const { return sum_; }

 private:
  int sum_ = 0;
};

}  // namespace

TEST_CASE("globals with the names of our parameters are no warning under -Wshadow") {
  garrick::actor_system system;
  const auto adder = system.spawn<summing>();
  send(adder, add{1});
  send(adder, garrick::make_message(add{2}));
  CHECK(system.request(adder, total{}).get().value() == 3);
  const garrick::any_ref wild = system.spawn([](garrick::dynamic_actor& me) -> garrick::behavior {
    return {[&me](int number) {
      me.quit();
      return number;
    }};
  });
  CHECK(system.request_as<int>(wild, 7).get().value() == 7);
}
