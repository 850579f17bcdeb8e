// each: two request_as promise pattern fan_out
// expect: cannot_be_sent<
// expect: "answer
// expect: a message or answer must own all it refers to
// Wherever an answer's type is named, it is checked like a message.
#include <garrick/garrick.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct question {};
struct name_of {
  std::string_view text;
};

template <class Answer>
using source = garrick::protocol<Answer(question)>;

#ifdef GARRICK_WITHOUT_two
class server : public garrick::actor<garrick::protocol<const char*(question), name_of(int)>> {
 public:
  const char* on(question) { return ""; }
  name_of on(int) { return {}; }
};
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<server>()); }
#elif defined(GARRICK_WITHOUT_request_as)
void test(garrick::actor_system& system, const garrick::any_ref& to) {
  static_cast<void>(system.request_as<std::vector<int*>>(to, 1).get());
}
#elif defined(GARRICK_WITHOUT_promise)
void test(garrick::dynamic_actor& self) {
  self.become([&self](question) { return self.make_promise<int, int*>(); });
}
#elif defined(GARRICK_WITHOUT_pattern)
garrick::behavior test() {
  return {garrick::on(1) >> [] { return name_of(); }};
}
#elif defined(GARRICK_WITHOUT_fan_out)
void test(garrick::dynamic_actor& self, std::vector<garrick::ref<source<name_of>>>& all) {
  static_cast<void>(garrick::fan_out(self, all, question()));
}
#else
class server : public garrick::actor<source<std::string>> {
 public:
  std::string on(question) { return ""; }
};
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<server>()); }
garrick::behavior test_case() {
  return {[](question) -> std::string { return ""; }};
}
#endif
