// Mailboxes at their limit: the reaction of bounded mailboxes to one message too many, and a
// subscriber that gets the lost messages.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <string>
#include <thread>

struct job {
  int number;
};
using worker = garrick::protocol<void(job)>;

// A worker that handles no job until it has its tool. Until then jobs pile up.
class worker_actor : public garrick::actor<worker> {
 public:
  explicit worker_actor(garrick::any_ref boss) : boss_(std::move(boss)) {}
  void on_start() {
    request_as<std::string>(boss_, std::string("tool, please")).await([](const std::string&) {});
  }
  void on(job j) {
    if (j.number == 3) send(boss_, j.number);
  }

 private:
  garrick::any_ref boss_;
};

// [letters]
class listener : public garrick::actor<garrick::system::dead_letter_protocol> {
 public:
  explicit listener(garrick::any_ref to) : to_(std::move(to)) {}
  void on(const garrick::dead_letter& d) {
    send(to_, "dead letter: " + d.type + " " + d.content + ", " + d.reason.message());
  }

 private:
  garrick::any_ref to_;
};
// [/letters]

int main() {
  garrick::actor_system system;
  garrick::scoped_actor me(system.env());
  system.dead_letters().subscribe(system.spawn<listener>(garrick::any_ref(me->self())));

  // [bounded]
  garrick::spawn_options at_most_three;
  at_most_three.policy = garrick::mailbox_policy::reject;
  at_most_three.bound = 3;
  const auto w = system.spawn<worker_actor>(at_most_three, garrick::any_ref(me->self()));
  int taken = 0;
  for (int i = 1; i <= 4; ++i) {
    const garrick::error why = try_send(w, job{i});
    if (!why) ++taken;
  }
  // [/bounded]
  std::printf("taken: %d of 4\n", taken);

  me->receive([](const std::string& request) -> std::string { return "here it is: " + request; });
  me->receive([](int last) { std::printf("the worker has done number %d\n", last); });

  system.exit(w);
  while (system.actor_count() > 2) std::this_thread::yield();  // the listener and this thread
  send(w, job{5});
  me->receive([](const std::string& text) { std::printf("%s\n", text.c_str()); });
}
