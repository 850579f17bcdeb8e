// A chat over lines: each member is an actor with its own connection, and a hub knows all members.
// With an address it serves until a line is typed: 63_chat_server tcp://127.0.0.1:4040, and then
// `nc 127.0.0.1 4040` in several terminals.
//
// No member can delay the others or use up memory: the next line of a member is read only after the
// hub has taken the last one, and a slow reader misses lines and is told their number.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../support/usage.hpp"
#include "chat.hpp"
#include "lines.hpp"
#include "visitor.hpp"

using namespace garrick;
namespace net = garrick::net;

namespace {

constexpr std::size_t longest_line = 512;

/// A text that is shared by all members but its author.
struct heard {
  std::shared_ptr<const std::string> text;
};
using member_protocol = net::broker_protocol<void(heard)>;

struct enter {
  std::string name;
  ref<member_protocol> who;
};
struct say {
  std::string name;
  std::string text;
};
struct who_is_here {};
/// The answers report that the hub has handled a line, so that the next one may follow.
using hub_protocol = protocol<result<std::string>(enter), bool(say), std::string(who_is_here)>;

// [hub]
class hub : public actor<hub_protocol> {
 public:
  result<std::string> on(const enter& e) {
    if (!members_.emplace(e.name, e.who).second) return make_error(errc::user, "the name is taken");
    tell_others(e.name, "* " + e.name + " is here\n");
    monitor(e.who, [this, name = e.name](const down&) {
      members_.erase(name);
      tell_others(name, "* " + name + " has gone\n");
    });
    return on(who_is_here{});
  }
  bool on(const say& s) {
    tell_others(s.name, s.name + ": " + s.text + '\n');
    return true;
  }
  std::string on(who_is_here) {
    std::string all = "* here:";
    for (const auto& [name, who] : members_) all += ' ' + name;
    return all + '\n';
  }

 private:
  void tell_others(const std::string& name, std::string text) {
    const auto shared = std::make_shared<const std::string>(std::move(text));
    for (const auto& [other, who] : members_)
      if (other != name) send(who, heard{shared});
  }
  std::map<std::string, ref<member_protocol>> members_;
};
// [/hub]

// [member]
class member : public net::broker<void(heard)> {
 public:
  member(net::bound_connection c, ref<hub_protocol> h) : broker(c.place()), hub_(std::move(h)) {
    peer_ = io().adopt(std::move(c));
    write("* what is your name?\n");
    read_on();
  }
  using broker::on;

  void on(const net::new_data& d) {
    lines_.feed(d.bytes.text(),
                [&](const line& l) { todo_.push_back({std::string(l.text), l.too_long}); });
    next();
  }
  void on(const heard& h) {
    if (io().writable(peer_))
      write(*h.text);
    else
      ++missed_;
  }
  void on(const net::writable_again&) {
    if (missed_ == 0 || !io().writable(peer_)) return;
    write("* you read too slowly, and have missed " + std::to_string(missed_) + " lines\n");
    missed_ = 0;
  }
  void on(const net::connection_closed&) { quit(); }
  // [/member]

 private:
  struct waiting_line {
    std::string text;
    bool too_long;
  };

  // Handles one line after the other: the next after the hub's answer to the last.
  void next() {
    while (!todo_.empty()) {
      const waiting_line l = std::move(todo_.front());
      todo_.pop_front();
      if (l.too_long)
        write("* a line has at most " + std::to_string(longest_line) + " bytes\n");
      else if (name_.empty() ? !introduce(l.text) : !handle(l.text))
        return;  // continued by a later call, or never
    }
    read_on();
  }
  bool introduce(const std::string& name) {
    if (!is_name(name)) {
      write("* a name has 1 to 20 letters and digits; what is yours?\n");
      return true;
    }
    request(hub_, enter{name, self()})
        .then(
            [this, name](const std::string& here) {
              name_ = name;
              write(here);
              next();
            },
            [this](const error& why) {
              write("* " + std::string(why.detail()) + "; what is yours?\n");
              next();
            });
    return false;
  }
  bool handle(std::string_view text) {
    const chat_line said = parse_chat_line(text);
    switch (said.what) {
      case chat_line::kind::say:
        request(hub_, say{name_, std::string(said.text)}).then([this](bool) { next(); });
        return false;
      case chat_line::kind::who:
        request(hub_, who_is_here{}).then([this](const std::string& here) {
          write(here);
          next();
        });
        return false;
      case chat_line::kind::quit:
        write("* bye\n");
        quit();
        return false;
      case chat_line::kind::wrong: break;
    }
    write("* " + std::string(said.text) + '\n');
    return true;
  }
  // An error means that the connection has ended; an event reports it later.
  void write(std::string_view text) { static_cast<void>(io().write(peer_, text)); }
  void read_on() { static_cast<void>(io().read(peer_, net::receive_policy::at_most(4096).once())); }

  const ref<hub_protocol> hub_;
  net::connection_handle peer_;
  line_splitter lines_{longest_line};
  std::deque<waiting_line> todo_;  ///< the lines of one piece of data
  std::string name_;
  std::uint64_t missed_ = 0;  ///< lines of other members
};

struct where_is_it {};

// [door]
class door : public net::broker<std::string(where_is_it)> {
 public:
  door(net::broker_place where, const std::string& at, ref<hub_protocol> h)
      : broker(where), hub_(std::move(h)) {
    net::socket_settings s;
    s.spread = true;  // the members live on all I/O threads
    s.transport.high_water = 64 << 10;
    s.transport.low_water = 16 << 10;
    door_ = io().listen(at, s).value();
  }
  using broker::on;
  std::string on(where_is_it) { return io().local(door_).to_string(); }
  void on(const net::new_connection& n) {
    if (!fork<member>(n.connection, hub_)) static_cast<void>(io().close(n.connection));
  }

 private:
  const ref<hub_protocol> hub_;
  net::acceptor_handle door_;
};
// [/door]

}  // namespace

constexpr const char* usage =
    "63_chat_server           the server and a client of its own\n"
    "63_chat_server ADDRESS   serve until a line comes on standard input\n"
    "An address: tcp://127.0.0.1:4040; then nc 127.0.0.1 4040 in several terminals";

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv, usage)) return 0;
  net::broker_threads threads;
  actor_system system;
  const auto centre = system.spawn<hub>();
  const auto server =
      threads.spawn<door>(system, std::string(argc > 1 ? argv[1] : "tcp://127.0.0.1:0"), centre);
  const auto at = system.request(server, where_is_it{}).get();
  if (!at) return std::puts(at.error().to_string().c_str()), 1;
  if (argc > 1) return serve_until_a_line_comes(*at);

  const auto ann = threads.spawn<visitor>(system, *at);
  const auto bob = threads.spawn<visitor>(system, *at);
  const auto show = [&](const char* who, const auto& visitor, talk t) {
    const std::string text = system.request(visitor, std::move(t)).get().value();
    std::printf("%s gets\n%s", who, text.c_str());
  };
  show("ann", ann, {"ann\n", "here: ann\n"});
  show("bob", bob, {"ann\nbob\n", "here: ann bob\n"});
  show("bob", bob, {"hello, ann\n/who\n/dance\n", "/quit\n"});
  show("ann", ann, {"", "bob: hello, ann\n"});
  show("bob", bob, {"/quit\n", ""});
  show("ann", ann, {"", "bob has gone\n"});
}
