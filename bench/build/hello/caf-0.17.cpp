// The smallest useful program: one actor answers another. The figure is the cost to compile it.
#include <caf/all.hpp>
#include <iostream>
#include <string>

caf::behavior mirror(caf::event_based_actor*) {
  return {
      [](const std::string& what) { return std::string(what.rbegin(), what.rend()); },
  };
}

void hello(caf::event_based_actor* self, const caf::actor& buddy) {
  self->request(buddy, caf::infinite, std::string("!dlroW olleH"))
      .then([](const std::string& what) { std::cout << what << std::endl; });
}

int main() {
  caf::actor_system_config config;
  caf::actor_system system(config);
  system.spawn(hello, system.spawn(mirror));
}
