// each: pointer view weak second wrapped answer actor deep function dynamic member
// each: elements maybe nested one_of owned shared answers reference constant_reference
// expect: cannot_be_sent<
// expect: a message or answer must own all it refers to
// A message that may not be sent is refused where a protocol is named, before any send: by a
// handle, an actor's class, a spawn, a behavior. A class of a user's is looked into by a spawn: a
// handle may be declared before it is defined.
#include <garrick/garrick.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct row {
  int number;
  std::vector<const char*> cells;
};
struct node {
  garrick::ref<garrick::protocol<void(node)>> next;  // declared where it is not complete
  std::vector<node> others;
};

#ifdef GARRICK_WITHOUT_pointer
struct holder {
  garrick::ref<garrick::protocol<void(int), void(const char*)>> to;
};
#elif defined(GARRICK_WITHOUT_view)
struct holder {
  garrick::ref<garrick::protocol<void(std::string_view)>> to;
};
#elif defined(GARRICK_WITHOUT_weak)
struct holder {
  garrick::weak_ref<garrick::protocol<void(std::string_view)>> to;
};
#elif defined(GARRICK_WITHOUT_second)
struct holder {
  garrick::ref<garrick::protocol<void(int, std::span<int>)>> to;
};
#elif defined(GARRICK_WITHOUT_wrapped)
struct holder {
  garrick::ref<garrick::protocol<void(std::reference_wrapper<int>)>> to;
};
#elif defined(GARRICK_WITHOUT_answer)
struct holder {
  garrick::ref<garrick::protocol<garrick::result<std::string_view>(int)>> to;
};
#elif defined(GARRICK_WITHOUT_elements)
struct holder {
  garrick::ref<garrick::protocol<void(std::vector<const char*>)>> to;
};
#elif defined(GARRICK_WITHOUT_maybe)
struct holder {
  garrick::ref<garrick::protocol<void(std::optional<std::string_view>)>> to;
};
#elif defined(GARRICK_WITHOUT_nested)
struct holder {
  garrick::ref<garrick::protocol<void(std::map<int, std::vector<std::span<int>>>)>> to;
};
#elif defined(GARRICK_WITHOUT_one_of)
struct holder {
  garrick::weak_ref<garrick::protocol<void(std::variant<int, int*>)>> to;
};
#elif defined(GARRICK_WITHOUT_owned)
struct holder {
  garrick::ref<garrick::protocol<void(std::unique_ptr<std::string_view>)>> to;
};
#elif defined(GARRICK_WITHOUT_shared)
struct holder {
  garrick::ref<garrick::protocol<void(std::vector<std::shared_ptr<int>>)>> to;
};
#elif defined(GARRICK_WITHOUT_answers)
struct holder {
  garrick::ref<garrick::protocol<std::vector<int*>(int)>> to;
};
#elif defined(GARRICK_WITHOUT_reference)
struct holder {
  garrick::ref<garrick::protocol<std::string&(int)>> to;
};
#elif defined(GARRICK_WITHOUT_constant_reference)
struct holder {
  garrick::ref<garrick::protocol<const std::string&(int)>> to;
};
#elif defined(GARRICK_WITHOUT_actor)
class server : public garrick::actor<garrick::protocol<void(const int*)>> {};
#elif defined(GARRICK_WITHOUT_deep)
class server : public garrick::actor<garrick::protocol<int(row)>> {
 public:
  int on(const row& r) { return r.number; }
};
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<server>()); }
#elif defined(GARRICK_WITHOUT_function)
using rows = garrick::protocol<void(int, row)>;
void test(garrick::actor_system& system) {
  static_cast<void>(system.spawn([](garrick::typed_actor<rows>&) -> garrick::typed_behavior<rows> {
    return {[](int, const row&) {}};
  }));
}
#elif defined(GARRICK_WITHOUT_dynamic)
void test(garrick::actor_system& system) {
  static_cast<void>(system.spawn([](garrick::dynamic_actor&) -> garrick::behavior {
    return {[](int) {}, [](int, std::string_view) {}};
  }));
}
#elif defined(GARRICK_WITHOUT_member)
struct line {
  int number;
  std::string_view text;
};
class server : public garrick::blocking_actor {
 public:
  void run() {
    receive([](int) {}, [](const line&) {});
  }
};
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<server>()); }
#else
struct later;
struct holder {
  garrick::ref<garrick::protocol<void(std::vector<later>), void(std::optional<std::string>),
                                 void(std::shared_ptr<const std::string>)>>
      to;
};
using nodes = garrick::protocol<int(node), void(const std::string&), void(std::less<int>),
                                void(std::vector<int>&), void(std::vector<long>&&)>;
class server : public garrick::actor<nodes> {
 public:
  int on(const node& n) { return static_cast<int>(n.others.size()); }
  void on(const std::string&) {}
  void on(std::vector<int>&) {}
  void on(std::vector<long>&&) {}
  void on(std::less<int>) {}
};
void test(garrick::actor_system& system) { send(system.spawn<server>(), std::string("fine")); }
#endif
