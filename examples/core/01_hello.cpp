// The smallest program: one actor, one message, one request from an ordinary thread.
// [whole]
#include <garrick/garrick.hpp>

#include <cstdio>
#include <string>

struct greet {
  std::string name;
};  // a message is a plain struct

using greeter = garrick::protocol<std::string(greet)>;  // takes a greet, answers with a string

class greeter_actor : public garrick::actor<greeter> {
  int greeted_ = 0;  // no other actor can touch this: no lock needed

 public:
  std::string on(const greet& g) {
    return "Hello, " + g.name + "! You are guest " + std::to_string(++greeted_) + ".";
  }
};

int main() {
  garrick::actor_system system;
  auto host = system.spawn<greeter_actor>();
  for (const char* name : {"Ada", "Grace"}) {
    std::puts(system.request(host, greet{name}).get().value().c_str());
  }
}
// [/whole]
