// Two nodes: one shows an actor over a Unix domain socket, the other one finds and asks it.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "shop.hpp"

/// Returns false with the reason on the screen.
bool asks_across(const std::string& at) {
  garrick::actor_system here, elsewhere;
  garrick::net::node server(here), client(elsewhere);
  if (const auto shown = server.publish("counter", here.spawn<shop::counter>()); !shown)
    return std::puts(shown.error().to_string().c_str()), false;
  if (const auto door = server.listen(at); !door)
    return std::puts(door.error().to_string().c_str()), false;
  const auto found = client.remote<shop::counter_type>(at, "counter");
  if (!found) return std::puts(found.error().to_string().c_str()), false;
  const auto answer = elsewhere.request(*found, shop::order{"tea"}).get();
  std::puts(answer ? answer->c_str() : answer.error().to_string().c_str());
  return answer && *answer == "one tea";
}

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "garrick_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const bool done = asks_across("unix://" + folder + "/node");
  std::filesystem::remove_all(folder);
  return done ? 0 : 1;
}
