// Code that must wait: blocking actors and detached actors have a thread of their own, and any thread can take part for a while.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <string>

using stop = garrick::atom<"stop">;

// [blocking]
// Takes words until somebody says stop. `receive` handles one message that fits and leaves the others in their order.
void collector(garrick::blocking_actor& self, garrick::any_ref report_to) {
  std::string all;
  bool more = true;
  self.receive_while([&] { return more; }, [&](const std::string& word) { all += word + " "; }, [&](stop) { more = false; });
  self.send(report_to, all + "(complete)");
}
// [/blocking]

// [detached]
// An ordinary actor on a thread of its own: it may call what blocks without holding up the others.
struct read_line {};
using console = garrick::protocol<std::string(read_line)>;
class console_actor : public garrick::actor<console> {
 public:
  std::string on(read_line) { return "a line that took its time"; }
};
// [/detached]

int main() {
  garrick::actor_system system;

  // [scoped]
  garrick::scoped_actor me(system.env());  // this thread can receive now
  const garrick::any_ref words = system.spawn(collector, garrick::any_ref(me->self()));
  for (const char* word : {"one", "two", "three"}) send(words, std::string(word));
  send(words, stop{});
  me->receive([](const std::string& text) { std::printf("%s\n", text.c_str()); });

  const bool got_something =
      me->receive([](int) {}, garrick::after(garrick::duration::milliseconds(5)) >> [] { std::printf("nothing else came\n"); });
  // [/scoped]
  std::printf("received: %s\n", got_something ? "yes" : "no");

  const auto keyboard = system.spawn<console_actor>(garrick::spawn_options{.name = "keyboard", .detached = true});
  std::printf("%s\n", system.request(keyboard, read_line{}).get().value().c_str());
}
