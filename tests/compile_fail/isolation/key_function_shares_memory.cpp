// each: reference value wrapped second
// expect: cannot_be_a_key<
// expect: key function
// expect: garrick: every sender calls a router's key function, on any thread
// max-lines: clang 16: garrick.hpp reaches the routers through another header of theirs
// A router's key function runs on every sender's thread: it shares nothing, unless it is lent.
#include <garrick/garrick.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

struct put {
  std::string key;
};
using store = garrick::protocol<void(put)>;

/// Its seed is its own.
class seeded {
 public:
  explicit seeded(std::size_t seed) : seed_(seed) {}
  std::size_t operator()(const put& p) const { return p.key.size() ^ seed_; }

 private:
  std::size_t seed_;
};

void test(const std::vector<garrick::ref<store>>& members, std::size_t& seed) {
  const auto by_reference = [&seed](const put& p) { return p.key.size() ^ seed; };
#ifdef GARRICK_WITHOUT_reference
  static_cast<void>(garrick::route_by_key(members, by_reference));
#elif defined(GARRICK_WITHOUT_value)
  static_cast<void>(
      garrick::route_by_key(members, [p = &seed](const put& m) { return m.key.size() ^ *p; }));
#elif defined(GARRICK_WITHOUT_wrapped)
  using wrapped = std::function<std::size_t(const put&)>;
  static_cast<void>(
      garrick::router<store, garrick::by_key<wrapped>>(members, wrapped(by_reference)));
#elif defined(GARRICK_WITHOUT_second)
  static_cast<void>(garrick::route_by_key(members, &put::key, by_reference));
#else
  send(garrick::route_by_key(members, &put::key), put{"a"});
  send(garrick::route_by_key(members, [](const put& p) { return p.key; }), put{"a"});
  send(garrick::route_by_key(members, +[](const put& p) { return p.key.size(); }), put{"a"});
  send(garrick::route_by_key(members, seeded(seed)), put{"a"});
  send(garrick::route_by_key(members, garrick::lent(by_reference)), put{"a"});
#endif
}
