// A chat between processes: a room is an actor of one node, and its members are actors of others.
//
//   68_chat_over_nodes room tcp://127.0.0.1:4042
//   68_chat_over_nodes join tcp://127.0.0.1:4042 ann     in one terminal
//   68_chat_over_nodes join tcp://127.0.0.1:4042 bob     in another one
//
// Without arguments all three run in this process, as three systems.
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../support/usage.hpp"

using namespace garrick;

// [protocol]
using member = protocol<void(std::string)>;
struct enter {
  std::string name;
  ref<member> who;
};
struct say {
  std::string name;
  std::string text;
};
/// The answers are the numbers of members that the text was sent to.
using room = protocol<result<int>(enter), int(say)>;
// [/protocol]

// [room]
class room_actor : public actor<room> {
 public:
  result<int> on(const enter& e) {
    if (!members_.emplace(e.name, e.who).second)
      return make_error(errc::user, "room", e.name + " is here already");
    // When a member's process ends, for any reason, a `down` arrives for each of its actors.
    monitor(e.who, [this, name = e.name](const down&) {
      members_.erase(name);
      tell(name + " has gone");
    });
    return tell(e.name + " is here");
  }
  int on(const say& s) { return tell(s.name + ": " + s.text); }

 private:
  int tell(const std::string& line) {
    for (const auto& [name, who] : members_) send(who, line);
    return static_cast<int>(members_.size());
  }
  std::map<std::string, ref<member>> members_;
};
// [/room]

/// Prints all lines.
class terminal : public actor<member> {
 public:
  void on(const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
  }
};

int fail(const error& why) { return std::puts(why.to_string().c_str()), 1; }

/// Sends each line of standard input to the room.
int join(const std::string& where, const std::string& name) {
  // [join]
  actor_system system;
  net::node node(system);
  const result<ref<room>> there = node.remote<room>(where, "room");
  if (!there) return fail(there.error());
  const auto mine = system.spawn<terminal>();
  const auto in = system.request(*there, enter{name, mine}).get();
  if (!in) return fail(in.error());
  for (std::string line; std::getline(std::cin, line);)
    if (const auto said = system.request(*there, say{name, line}).get(); !said)
      return fail(said.error());  // the room's process has ended
  // [/join]
  return 0;
}

struct lines {
  std::size_t at_least = 0;
};
/// Keeps all lines. Answers a request for a number of lines when it has so many.
class listener : public actor<protocol<void(std::string), std::vector<std::string>(lines)>> {
 public:
  void on(const std::string& line) {
    heard_.push_back(line);
    if (wanted_ != 0 && heard_.size() >= wanted_) answer_.deliver(heard_);
  }
  result<std::vector<std::string>> on(lines l) {
    if (heard_.size() >= l.at_least) return heard_;
    wanted_ = l.at_least;
    answer_ = make_promise<std::vector<std::string>>();
    return answer_;
  }

 private:
  std::vector<std::string> heard_;
  std::size_t wanted_ = 0;
  response_promise<std::vector<std::string>> answer_;
};

/// For the room it looks like a process of its own.
struct player {
  actor_system system;
  net::node node{system};
  ref<room> there;
  ref<protocol<void(std::string), std::vector<std::string>(lines)>> ears = system.spawn<listener>();

  explicit player(const std::string& where) : there(node.remote<room>(where, "room").value()) {}
  void enter_as(const std::string& name) {
    const auto in = system.request(there, enter{name, ears}).get();
    if (!in) std::printf("%s may not enter: %s\n", name.c_str(), in.error().to_string().c_str());
  }
  void print(const char* name, std::size_t count) {
    for (const std::string& line : system.request(ears, lines{count}).get().value())
      std::printf("%s hears: %s\n", name, line.c_str());
  }
};

int play(const std::string& where) {
  player ann(where);
  ann.enter_as("ann");
  {
    player bob(where);
    bob.enter_as("ann");
    bob.enter_as("bob");
    send(ann.there, say{"ann", "hello"});
    bob.print("bob", 2);
  }
  ann.print("ann", 4);
  return 0;
}

constexpr const char* usage =
    "68_chat_over_nodes                     a room and two members in one process\n"
    "68_chat_over_nodes room ADDRESS        a room until a line comes\n"
    "68_chat_over_nodes join ADDRESS NAME   a member; its lines go to the room\n"
    "An address: tcp://127.0.0.1:4042";

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv, usage)) return 0;
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "join" && argc == 4) return join(argv[2], argv[3]);
  if (argc != 1 && (role != "room" || argc != 3)) return misused(usage);
  actor_system system;
  net::node node(system);
  const result<net::endpoint> at = node.listen(argc > 2 ? argv[2] : "tcp://127.0.0.1:0");
  if (!at) return fail(at.error());
  if (const auto done = node.publish("room", system.spawn<room_actor>()); !done)
    return fail(done.error());
  if (role != "room") return play(at->to_string());
  std::printf("a room at %s until a line comes\n", at->to_string().c_str());
  std::fflush(stdout);  // another program may read the output from a pipe
  return std::getchar() == EOF ? 1 : 0;
}
