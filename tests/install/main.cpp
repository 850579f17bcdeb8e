// Uses Garrick the way a project elsewhere would: its installed headers and its libraries, nothing
// of its sources.
#include <garrick/garrick.hpp>

#include <garrick/base/values/error.hpp>

#include <cstdio>
#include <string>

struct greet {
  std::string name;
};
class host : public garrick::actor<garrick::protocol<std::string(greet)>> {
 public:
  std::string on(const greet& g) { return "Hello, " + g.name; }
};

/// Memory that the program takes comes back to the library, and the other way round.
bool actors_come_and_go() {
  for (int i = 0; i < 50; ++i) {
    garrick::actor_system system;
    const auto h = system.spawn<host>();
    for (int k = 0; k < 20; ++k)
      if (system.request(h, greet{"Ada"}).get().value() != "Hello, Ada") return false;
  }
  return true;
}

int main() {
  // An error's text lies in the compiled library, so this also proves that it was linked.
  const garrick::base::error refused(garrick::base::errc::spawn_failed, "consumer",
                                     "to see the text");
  std::puts(refused.to_string().c_str());
  return !refused.message().empty() && actors_come_and_go() ? 0 : 1;
}
