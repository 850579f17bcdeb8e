// A user's strict warnings find nothing in our headers, not even a template parameter that has the
// name of one of the user's globals. The pragmas turn the warnings into errors, so this file does
// not compile if one is found.

#pragma GCC diagnostic error "-Wshadow"
#pragma GCC diagnostic error "-Wconversion"
#pragma GCC diagnostic error "-Wsign-conversion"
#pragma GCC diagnostic error "-Wold-style-cast"
#pragma GCC diagnostic error "-Wnon-virtual-dtor"
#pragma GCC diagnostic error "-Woverloaded-virtual"

#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <string>

// GCC looks up the parameters of a template's constructor again where it is instantiated, and then
// finds these.
[[maybe_unused]] static int done, id, self, raw, first, rest, env, start, supervisor, function,
    result, request, message;

namespace {

struct add {
  int n;
  std::string why;
};
struct total {};
using sums = garrick::protocol<void(add), int(total), std::string(int, double)>;

class summing : public garrick::actor<sums> {
 public:
  void on(const add& a) { sum_ += a.n; }
  int on(total) const { return sum_; }
  garrick::task<std::string> on(int, double) {
    const garrick::core::result<void> passed = co_await delay(garrick::duration::milliseconds(1));
    co_return passed ? std::string("later") : std::string();
  }

 private:
  int sum_ = 0;
};

garrick::behavior echo(garrick::dynamic_actor&) {
  return {[](int x) { return x; }, [](const std::string& text, double) { return text; }};
}

}  // namespace

TEST_CASE("a user's code compiles under strict warnings, under any names of its globals") {
  garrick::actor_system system;
  const auto a = system.spawn<summing>();
  send(a, add{1, "one"});
  send(a, garrick::make_message(add{2, "two"}));
  CHECK(system.request(a, total{}).within(garrick::duration::seconds(60)).get().value() == 3);
  CHECK(system.request(a, 1, 2.0).get().value() == "later");
  const auto top = system.spawn<garrick::supervisor>(
      garrick::supervision{}, garrick::child<summing>(), garrick::child(&echo));
  send(garrick::supervise<summing>(top), add{1, "supervised"});
  const garrick::any_ref wild(a);
  garrick::core::scoped_actor me(system.env());
  CHECK(me->get(me->request_as<int>(wild, total{})).value() == 3);
  CHECK(me->get(me->request(a, total{})).value() == 3);
}
