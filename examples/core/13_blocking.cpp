// Code that must wait: blocking actors and detached actors have a thread of their own, and any
// thread can take part for a while.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <string>
#include <utility>

using stop = garrick::atom<"stop">;

// [blocking]
// Takes words until it gets a stop message. `receive` handles one message that fits and leaves the
// others in their order.
void collector(garrick::blocking_actor& self, garrick::any_ref report_to) {
  std::string all;
  bool more = true;
  self.receive_while([&] { return more; }, [&](const std::string& word) { all += word + " "; },
                     [&](stop) { more = false; });
  self.send(report_to, all + "(complete)");
}
// [/blocking]

// [class]
// The same as a class, for actors with more state. `run` is the actor's whole life; `on_start` and
// `on_exit`, if any, run before and after it.
class counting_collector : public garrick::blocking_actor {
  garrick::any_ref report_to_;
  std::size_t letters_ = 0;

 public:
  explicit counting_collector(garrick::any_ref report_to) : report_to_(std::move(report_to)) {}
  void run() {
    bool more = true;
    receive_while([&] { return more; },
                  [this](const std::string& word) { letters_ += word.size(); },
                  [&](stop) { more = false; });
    send(report_to_, std::to_string(letters_) + " letters");
  }
};
// [/class]

// [detached]
// An ordinary actor on a thread of its own: it may make blocking calls without delaying other
// actors.
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
      me->receive([](int) {}, garrick::after(garrick::duration::milliseconds(5)) >>
                                  [] { std::printf("nothing else came\n"); });
  // [/scoped]
  std::printf("received: %s\n", got_something ? "yes" : "no");

  const garrick::any_ref letters = system.spawn<counting_collector>(garrick::any_ref(me->self()));
  for (const char* word : {"one", "two", "three"}) send(letters, std::string(word));
  send(letters, stop{});
  me->receive([](const std::string& text) { std::printf("%s\n", text.c_str()); });

  const auto keyboard =
      system.spawn<console_actor>(garrick::spawn_options{.name = "keyboard", .detached = true});
  std::printf("%s\n", system.request(keyboard, read_line{}).get().value().c_str());
}
