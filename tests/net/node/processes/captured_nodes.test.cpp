// A session of nodes in two processes over real sockets, of which every byte was written down on
// its way, and which tools/wire/decode.py then understands. Its output is compared with the calls
// made here: how many frames of each kind there are, their contents, and that each handle that was
// given is released as often.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/guarantees/decoded_capture.hpp"
#include "net/guarantees/recording_relay.hpp"
#include "net/node/other_process.hpp"
#include "net/node/peer/conversation.hpp"
#include "net/node/peer/service.hpp"

namespace captured_nodes {

using namespace garrick;
using namespace garrick::tests;
using counts = std::map<std::string, std::size_t>;

constexpr int never = 60'000;         // ms until a silent peer is given up
constexpr std::uint64_t lines = 700;  // more than is granted at first
constexpr std::uint64_t urgent_line = 10;
const std::string nobody(32, '0');

struct seen {
  std::atomic<std::uint64_t> lines{0}, downs{0}, exits{0}, resumed{0};
};

class listener : public actor<listener_type> {
 public:
  explicit listener(seen& s) : seen_(s) {}
  void on(const line&) { ++seen_.lines; }

 private:
  seen& seen_;
};

enum class deed : std::uint8_t { monitor, demonitor, link, unlink };
struct act {
  deed what = deed::monitor;
  ref<guest_type> whom;
};
using watcher_type = protocol<void(act), void(down), void(exit_signal)>;
class watcher : public actor<watcher_type> {
 public:
  explicit watcher(seen& s) : seen_(s) { trap_exit(true); }
  void on(const act& a) {
    switch (a.what) {
      case deed::monitor: id_ = monitor(a.whom); return;
      case deed::demonitor: return demonitor(id_);
      case deed::link: return link(a.whom);
      case deed::unlink: return unlink(a.whom);
    }
  }
  void on(const down&) { ++seen_.downs; }
  void on(const exit_signal&) { ++seen_.exits; }

 private:
  seen& seen_;
  monitor_id id_;
};

class ears : public net::peer_listener {
 public:
  explicit ears(seen& s) : seen_(s) {}
  void changed(const net::peer_identity&, net::peer_change, const error&) override {}
  void noticed(const net::peer_identity&, const net::peer_evidence& e) override {
    seen_.resumed += e.what == net::peer_evidence::kind::resumed;
  }

 private:
  seen& seen_;
};

/// The fields of all types of the conversation, in the words of decode.py.
garrick_test::capture capture_of(const std::string& stack) {
  garrick_test::capture c(stack, base::real_clock().now());
  c.declare<line>("{u64, string}");
  c.declare<query>("{i64}");
  c.declare<retire>("{}");
  c.declare<introduce>("{handle}");
  c.declare<guests_wanted>("{u32}");
  c.declare<smudged>("u32");
  c.declare<std::int64_t>("i64");
  c.declare<std::vector<ref<guest_type>>>("vector<handle>");
  return c;
}

std::string text_of_line(std::uint64_t n) {
  return n == lines / 2 ? std::string(100'000, 'x') : "line " + std::to_string(n);
}

/// Another process, the relay in front of it, and the node here.
struct conversation {
  seen s;
  other_process other;
  recording_relay relay;
  std::string via;
  actor_system system{quiet()};
  std::optional<net::node> here;

  conversation(const std::string& stack, const std::string& scheme)
      : other(scheme + "://127.0.0.1:0", never),
        relay(capture_of(stack), "127.0.0.1", at(other.at).port(),
              scheme == "tcp" ? SOCK_STREAM : SOCK_DGRAM),
        via(scheme + "://127.0.0.1:" + std::to_string(relay.port())) {
    here.emplace(system, node_with(never));
    here->subscribe(std::make_shared<ears>(s));
  }

  std::uint64_t count_there(const std::string& name) {
    other.order("count " + name);
    return std::stoull(other.answer());
  }
  std::uint64_t count_here(const std::string& name) {
    std::uint64_t sum = 0;
    for (const net::peer_identity& p : here->peers())
      for (const net::link_count& c : here->counters(p))
        if (c.layer == "node" && c.name == name) sum += c.value;
    return sum;
  }

  void look_names_up(ref<host_type>& there) {
    const auto found = here->remote<host_type>(via, host_name, duration::seconds(60));
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    there = *found;
    using other_type = protocol<std::string(guests_wanted)>;
    CHECK(here->remote<other_type>(via, "nobody").error() == registry_errc::not_found);
    CHECK(here->remote<other_type>(via, host_name).error() == net::net_errc::incompatible);
  }
  /// Sends the lines. If `is_cut`, the stream is lost meanwhile and comes back.
  void send_lines(const ref<host_type>& there, bool is_cut) {
    const ref<listener_type> me = system.spawn<listener>(lent(s));
    send(there, introduce{me});
    for (std::uint64_t n = 0; n != lines; ++n) {
      if (n == urgent_line) {
        // The urgent line must not overtake the introduction.
        wait_until([&] { return s.lines != 0; });
        send_urgent(there, line{n, text_of_line(n)});
      } else {
        send(there, line{n, text_of_line(n)});
      }
      if (!is_cut || n != lines / 3) continue;
      relay.cut();
      wait_until([&] { return s.resumed == 1; });
    }
    wait_until([&] { return s.lines == lines; });
    CHECK(here->remote<listener_type>(via, listener_name).value() == me);
    send(there, introduce{});
  }
  void ask(const ref<guest_type>& whom) {
    CHECK(system.request(whom, query{21}).get().value() == 42);
    CHECK(system.request(whom, query{22}, duration::seconds(50)).get().value() == 44);
    CHECK(system.request(whom, query{-1}).get().error() == errc::user);
    auto in_vain = system.request(whom, query{0});
    in_vain.within(duration::milliseconds(20));
    CHECK(in_vain.get().error() == errc::timeout);
  }
  void watch(const std::vector<ref<guest_type>>& guests) {
    const auto who = system.spawn<watcher>(lent(s));
    send(who, act{deed::monitor, guests[0]});
    wait_until([&] { return count_there("monitors") == 1; });
    send(who, act{deed::demonitor, {}});
    wait_until([&] { return count_there("monitors") == 0; });
    send(who, act{deed::monitor, guests[1]});
    wait_until([&] { return count_there("monitors") == 1; });
    send(guests[1], retire{});
    wait_until([&] { return s.downs == 1; });

    send(who, act{deed::link, guests[2]});
    wait_until([&] { return count_there("links") == 1; });
    send(who, act{deed::unlink, guests[2]});
    wait_until([&] { return count_there("links") == 0; });
    send(who, act{deed::link, guests[2]});
    wait_until([&] { return count_there("links") == 1; });
    send(guests[2], retire{});
    wait_until([&] { return s.exits == 1; });

    const auto second = system.spawn<watcher>(lent(s));
    send(second, act{deed::link, guests[0]});
    wait_until([&] { return count_there("links") == 1; });
    system.kill(second);
    wait_until([&] { return count_there("links") == 0; });
  }
  void spawn_there() {
    const auto who = system.spawn<watcher>(lent(s));
    for (const bool kills : {true, false}) {
      const auto made = here->spawn<guest_type>(via, guest_name, "spade", std::int64_t{3});
      REQUIRE_MESSAGE(made.has_value(), made.error().to_string());
      CHECK(system.request(*made, query{5}).get().value() == 15);
      const std::uint64_t before = s.downs;
      send(who, act{deed::monitor, *made});
      wait_until([&] { return count_there("monitors") == 1; });
      kills ? system.kill(*made) : system.exit(*made);
      wait_until([&] { return s.downs == before + 1; });
    }
    CHECK(here->spawn<guest_type>(via, "nobody").error() == net::net_errc::denied);
  }
  void say_nonsense(const ref<host_type>& there) {
    send(there, smudged());
    wait_until([&] { return system.dead_letter_count(net::net_errc::decode_failed) == 1; });
  }
  /// Has the whole conversation. At its end neither side has a handle, and the node here leaves.
  std::string talk(bool is_cut) {
    {
      ref<host_type> there;
      look_names_up(there);
      send_lines(there, is_cut);
      const auto guests = system.request(there, guests_wanted{3}).get().value();
      REQUIRE(guests.size() == 3);
      ask(guests[0]);
      watch(guests);
      spawn_there();
      say_nonsense(there);
    }
    wait_until([&] { return count_there("exports") == 0 && count_here("exports") == 0; });
    here.reset();
    wait_until([&] {  // the relay has passed on that this node leaves
      other.order("downs");
      return other.answer().substr(0, 2) == "1 ";
    });
    return relay.end();
  }
};

/// Returns all texts between `from` and one of `ends`.
std::vector<std::string> texts(const std::string& said, const std::string& from, const char* ends) {
  std::vector<std::string> all;
  for (std::size_t at = said.find(from); at != std::string::npos; at = said.find(from, at)) {
    at += from.size();
    all.push_back(said.substr(at, said.find_first_of(ends, at) - at));
  }
  return all;
}

bool is_of_kind(const std::string& frame, const std::string& kind) {
  return frame.starts_with(kind + ",");
}

/// Returns how often one end gave each number: in handles, and in answers to resolve and spawn.
counts given(const std::vector<std::string>& frames) {
  counts all;
  for (const std::string& f : frames) {
    for (const std::string& numbers : texts(f, ", handles ", ",")) {
      std::istringstream words(numbers);
      for (std::string number; words >> number;) ++all[number];
    }
    if (!is_of_kind(f, "resolved") && !is_of_kind(f, "spawned")) continue;
    if (const std::string number = texts(f, "from ", ",").at(0); number != nobody) ++all[number];
  }
  return all;
}

/// Returns the sums of the numbers in `release` or `credit` frames, by the number of their actor.
counts sums(const std::vector<std::string>& frames, const std::string& kind) {
  counts all;
  for (const std::string& f : frames)
    if (is_of_kind(f, kind))
      all[texts(f, "to ", ",").at(0)] += std::stoull(texts(f, "number ", ",").at(0));
  return all;
}

/// Checks that the lines are in order, but for the urgent one, which may overtake others.
void check_lines(const std::vector<std::string>& frames) {
  const std::string type(base::wire_name<line>);
  const auto content = [](std::uint64_t n) {
    return ", {" + std::to_string(n) + ", '" + text_of_line(n) + "'}";
  };
  std::uint64_t n = 0;
  std::size_t urgent_ones = 0;
  for (const std::string& f : frames) {
    if (!is_of_kind(f, "message") || f.find(' ' + type + ',') == std::string::npos) continue;
    if (f.ends_with(content(urgent_line))) {
      ++urgent_ones;
      continue;
    }
    n += n == urgent_line ? 1 : 0;
    if (!f.ends_with(content(n))) FAIL_CHECK(f.substr(0, 200), " is not ", n);
    ++n;
  }
  CHECK(n == lines);
  CHECK(urgent_ones == 1);
}

/// Checks that messages had credit, and that some actor was sent more than the first credit.
void check_credit(const std::vector<std::string>& sent, const std::vector<std::string>& back) {
  counts all;
  for (const std::string& f : sent)
    if (is_of_kind(f, "message") || is_of_kind(f, "request")) ++all[texts(f, "to ", ",").at(0)];
  counts granted = sums(back, "credit");
  std::size_t most = 0;
  for (const auto& [who, number] : all) {
    most = std::max(most, number);
    CHECK(number <= net::first_credit + granted[who]);
  }
  CHECK(most >= lines);
}

std::string text_of(const counts& all) {
  std::string text;
  for (const auto& [what, number] : all)
    text += (text.empty() ? "" : ", ") + what + ' ' + std::to_string(number);
  return text;
}

std::size_t lines_with(const std::vector<std::string>& frames, const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(frames.begin(), frames.end(),
                    [&](const std::string& f) { return f.find(text) != std::string::npos; }));
}

void talk_and_look(const std::string& stack, const std::string& scheme) {
  CAPTURE(stack);
  const bool is_cut = scheme == "tcp";
  std::string said;
  {
    conversation c(stack, scheme);
    said = decoded(c.talk(is_cut));
  }
  const auto there = frames(said, "a>b"), back = frames(said, "b>a");

  // The decoder has understood all: no type is unknown, and no bytes were only copied.
  CHECK(lines_with(there, " unknown") + lines_with(back, " unknown") == 0);
  CHECK(lines_with(there, ", payload ") + lines_with(back, ", payload ") == 0);

  counts to_there = kinds_of(there), to_here = kinds_of(back);
  CHECK(to_there.count("release") == 1);  // their number in a frame and their time may vary
  CHECK(to_here.count("release") == 1);
  CHECK(to_here["credit"] > 1);
  CHECK(to_there["credit"] > 1);
  for (const char* kind : {"release", "credit"}) to_there.erase(kind), to_here.erase(kind);
  CHECK(text_of(to_there) ==
        "cancel 1, demonitor 1, exit 2, kill 1, link 3, message 705, monitor 4, request 7, "
        "resolve 4, spawn 3, unlink 1");
  CHECK(text_of(to_here) ==
        "decode_error 1, down 3, error 4, exit 1, message 700, resolved 2, response 5, "
        "spawned 2");
  check_lines(there);
  check_lines(back);
  CHECK(given(there).size() == 1);
  CHECK(given(back).size() == 6);
  // The name that leads home belongs to the actor of the one handle that this end gave away.
  CHECK(lines_with(back, "resolved, to " + given(there).begin()->first + ", from " + nobody) == 1);
  CHECK(sums(back, "release") == given(there));
  CHECK(sums(there, "release") == given(back));
  check_credit(there, back);
  check_credit(back, there);

  CHECK(lines_with(there, ", urgent, ") == 1);
  CHECK(lines_with(there, "deadline in ") == 1);
  CHECK(lines_with(there, "{'host', ") == 2);
  CHECK(lines_with(there, "{'guest', [5, 115, 112, 97, 100, 101, 6], ") == 2);
  CHECK(lines_with(back, ", 42") == 1);
  CHECK(lines_with(back, "less than nothing") == 1);
  CHECK(lines_with(back, "enough") == 2);
  CHECK(lines_with(back, "it is smudged") == 1);
  CHECK(said.find(" a>b failure_detection: leave") != std::string::npos);
  CHECK((said.find("goes on") != std::string::npos) == is_cut);
}

TEST_CASE("captured nodes: a session over TCP agrees with docs/wire.md, and with the calls") {
  talk_and_look("stream", "tcp");
}
TEST_CASE("captured nodes: a session over UDP agrees with docs/wire.md, and with the calls") {
  talk_and_look("datagrams", "udp");
}

}  // namespace captured_nodes
