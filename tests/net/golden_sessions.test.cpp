// Version 1 of the layers: whole sessions, byte by byte as both ends' transports saw them, one for
// each standard stack, and some with faults. tests/net/golden/README.md describes the format of a
// capture, and when one may change.
#include <garrick/net/wire/codec.hpp>
#include <garrick/net/wire/frame.hpp>
#include <garrick/net/wire/type_id.hpp>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "net/captured_pair.hpp"
#include "net/golden_files.hpp"

namespace golden_types {

struct note {
  std::string text;
};
struct question {
  std::int64_t number = 0;
};
struct answer {
  std::int64_t number = 0;
  std::string text;
};

}  // namespace golden_types

namespace golden_sessions_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;

namespace {

using garrick_test::captured_pair;
using golden_types::answer;
using golden_types::note;
using golden_types::question;

constexpr actor_id alice{0xa1, 0xa2}, anna{0xa3, 0xa4}, bob{0xb1, 0xb2};

const named_stack& stack_of(std::string_view name) {
  static const stack_catalogue stacks = standard_stacks();
  REQUIRE(stacks.all().size() == 5);
  const named_stack* found = stacks.find(name);
  REQUIRE(found != nullptr);
  return *found;
}

/// Two ends, their messages to each other, and their events.
class conversation {
 public:
  captured_pair pair;

  explicit conversation(std::string_view name) : pair(stack_of(name), settings_of(name)) {
    pair.written.declare<note>("{string}");
    pair.written.declare<question>("{i64}");
    pair.written.declare<answer>("{i64, string}");
    for (test_end& e : pair.ends) e.limit = stream() ? e.limit : 1280;
    pair.ends[1].on_incoming = [this](incoming m) {
      const base::result<frame> f = decode_frame(m.bytes);
      REQUIRE(f.has_value());
      if (f->kind == frame_kind::request) reply(*f);
      return true;
    };
  }

  void say(std::size_t from, actor_id sender, actor_id receiver, const std::string& text) {
    send(from, {.kind = frame_kind::message, .receiver = receiver, .sender = sender}, note{text});
  }
  /// Returns the beginnings of the notes of end `i`, and the kinds of its other frames.
  std::string heard(std::size_t i) const {
    std::string all;
    for (const auto& [lane, text] : pair.ends[i].messages) {
      const base::result<frame> f = decode_frame(bytes_of(text));
      REQUIRE(f.has_value());
      const base::result<note> n = decode<note>(f->payload);
      if (!all.empty()) all += ", ";
      all += f->kind == frame_kind::message ? n.value_or(note{"?"}).text.substr(0, 7)
                                            : std::string(to_text(f->kind));
    }
    return all;
  }

  /// Runs a session from its beginning to its end, with all events of a usual session.
  void run_all() {
    if (pair.kind.name == "datagrams") {
      pair.spared_below = 30;             // heartbeats
      pair.fates = {{1_ms}, {1_ms}, {}};  // hellos arrive; the first packet from above is lost
    }
    pair.connect();
    pair.run(20_ms);
    talk();
    pair.run(1200_ms);  // both are silent, so they beat
    stream() ? lose_the_stream() : lose_datagrams();
    pair.run(40_ms);
    pair.ends[0].stack->leave(pair.now);
    pair.run(5_ms);
    CHECK(pair.ends[0].count(link_event::kind::resumed) == (stream() ? 1 : 0));
    CHECK(pair.ends[1].down() == net_errc::peer_down);
  }
  /// Compares the capture with the file, by lines, so that a failure says where.
  void is(const std::string& name) const {
    const std::string path = garrick_test::golden_folder + "sessions/" + name + ".capture";
    INFO(path);
    std::ifstream file(path);
    if (!file && std::getenv("GARRICK_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(path) << pair.written.text();
      return;
    }
    REQUIRE(file.good());
    std::istringstream ours(pair.written.text());
    std::string expected, line;
    for (int number = 1; std::getline(file, expected); ++number) {
      INFO("line " << number);
      REQUIRE(std::getline(ours, line));
      REQUIRE(line == expected);
    }
    CHECK(!std::getline(ours, line));
  }

 private:
  bool stream() const { return pair.kind.transport == carrier_kind::stream; }
  static link_settings settings_of(std::string_view name) {
    link_settings s;
    s.slicing.piece = 200;
    s.mailbox.accepted_bytes = 16u << 20;  // as when the files were written
    s.session.probing.enabled = name == "plain_datagrams";
    return s;
  }
  template <class T>
  void send(std::size_t from, frame header, const T& value) {
    any_link& l = *pair.ends[from].stack;
    base::result<packet> p = encode(value, {.front = frame_room + l.header_size()});
    REQUIRE(p.has_value());
    header.type = type_id<T>;
    REQUIRE(!l.send(to_outgoing(header, std::move(*p)), pair.now));
  }
  void reply(const frame& f) {
    send(1, {.kind = frame_kind::response, .receiver = f.sender, .sender = bob, .number = f.number},
         answer{42, "yes"});
  }
  void ask() {
    send(0,
         {.kind = frame_kind::request,
          .receiver = bob,
          .sender = alice,
          .number = 7,
          .time_left = base::duration::milliseconds(1500)},
         question{-3});
  }
  void watch() {
    any_link& l = *pair.ends[0].stack;
    packet p = packet::copy_of({}, frame_room + l.header_size());
    const frame f{.kind = frame_kind::monitor, .receiver = bob, .sender = anna, .number = 1};
    REQUIRE(!l.send(to_outgoing(f, std::move(p)), pair.now));
  }

  /// A message, a question with its answer, and large messages beside small ones of other lanes.
  void talk() {
    say(0, alice, bob, "hello");
    pair.run(150_ms);
    ask();
    pair.run(10_ms);
    pair.ends[0].room = false;  // so messages wait, and the lanes take turns
    say(0, alice, bob, "large A " + std::string(600, 'a'));
    say(0, anna, bob, "large B " + std::string(300, 'b'));
    say(0, anna, bob, "small");
    watch();
    pair.ends[0].room = true;
    pair.ends[0].stack->carrier_writable(pair.now);
    say(1, bob, alice, "for A");
    say(1, bob, anna, "for B");
    pair.run(10_ms);
  }
  /// Breaks the stream while both ends send.
  void lose_the_stream() {
    say(0, alice, bob, "before");
    pair.run(2_ms);
    say(0, alice, bob, "large C " + std::string(500, 'c'));
    say(0, anna, bob, "beside");
    say(1, bob, alice, "large D " + std::string(500, 'd'));
    pair.cut();
    if (pair.kind.provides.confirmed) say(0, alice, bob, "between");
    pair.run(100_ms);
    for (const std::string which : {"G ", "H ", "I "})  // numbered as the one that was lost
      say(0, alice, bob, "large " + which + std::string(250, 'x'));
    say(0, alice, bob, "after");
    say(1, bob, alice, "after");
  }
  /// Two datagrams are lost, two come late, one twice.
  void lose_datagrams() {
    pair.spared_below = 48;  // acknowledgements, too
    pair.fates = {{}, {1_ms}};
    say(0, alice, bob, "lost");
    say(0, alice, bob, "behind");
    pair.run(200_ms);
    pair.fates = {{4_ms}, {1_ms}};
    say(0, alice, bob, "slow");
    say(0, alice, bob, "fast");
    pair.run(10_ms);
    pair.fates = {{1_ms, 2_ms}, {}};
    say(1, bob, alice, "twice");
    say(1, bob, alice, "large E " + std::string(500, 'e'));
    pair.run(2100_ms);  // until no end waits for its other pieces
    pair.fates = {{3_ms}, {1_ms}};
    say(1, bob, alice, "large F " + std::string(300, 'f'));
    pair.run(10_ms);
    say(1, bob, alice, "after");
  }
};

/// Runs a whole session over this stack, and compares it with these notes of the ends.
void session(const std::string& name, std::string_view end_a, std::string_view end_b) {
  conversation c(name);
  c.run_all();
  CHECK(c.heard(0) == end_a);
  CHECK(c.heard(1) == end_b);
  c.is(name);
}

}  // namespace

TEST_CASE("a session over streams is written as version 1 does it, also when one breaks") {
  session("stream", "response, for A, for B, large D, after",
          "hello, request, monitor, large B, small, large A, before, large C, beside, between, "
          "large G, large H, large I, after");
  session("plain_stream", "response, for A, for B, after",
          "hello, request, monitor, large B, small, large A, before, large G, large H, "
          "large I, after");
}

TEST_CASE("a session over datagrams is written as version 1 does it, also when some are lost") {
  session("datagrams", "response, for A, for B, twice, large E, large F, after",
          "hello, request, monitor, large A, large B, small, lost, behind, slow, fast");
  session("ordered_datagrams", "response, for A, for B, twice, large F, after",
          "hello, request, monitor, large B, small, large A, behind, slow, fast");
  session("plain_datagrams", "response, for A, for B, twice, large F, after",
          "hello, request, monitor, large B, small, large A, behind, fast, slow");
}

TEST_CASE("a peer that comes back with a new incarnation is challenged as version 1 does it") {
  conversation c("ordered_datagrams");
  c.pair.connect();
  c.pair.run(10_ms);
  c.say(0, alice, bob, "in time");
  c.pair.run(10_ms);
  c.pair.fates = {{300_ms}};
  c.say(0, alice, bob, "too late");
  c.pair.restart(0, {captured_pair::a.node, 0x1234});
  c.pair.run(3_ms);
  CHECK(c.pair.ends[1].down() == net_errc::peer_down);
  c.pair.restart(1, captured_pair::b);
  c.pair.run(300_ms);
  c.say(0, alice, bob, "of this life");
  c.pair.run(100_ms);
  CHECK(c.heard(1) == "in time, of this");
  c.is("restart");
}

TEST_CASE("a node that meets itself is refused as version 1 does it") {
  conversation c("plain_stream");
  c.pair.make(1, captured_pair::a);
  c.pair.connect();
  c.pair.run(10_ms);
  CHECK(c.pair.ends[0].down() == net_errc::refused);
  c.is("refusal");
}

TEST_CASE("ends with different stacks refuse each other as version 1 does it") {
  conversation c("plain_stream");
  c.pair.make(1, captured_pair::b, stack_of("stream"));
  c.pair.connect();
  c.pair.run(10_ms);
  CHECK(c.pair.ends[0].down() == net_errc::incompatible);
  CHECK(c.pair.ends[1].down() == net_errc::incompatible);
  c.is("other_layers");
}

TEST_CASE("an end without a common version is refused as version 1 does it") {
  conversation c("plain_stream");
  c.pair.settings.session.versions = {2, 3};
  c.pair.make(0, captured_pair::a);
  c.pair.connect();
  c.pair.run(10_ms);
  for (const std::size_t i : {0u, 1u}) {
    CHECK(c.pair.ends[i].down() == net_errc::incompatible);
    CHECK(c.pair.ends[i].down().to_string().find("versions") != std::string::npos);
  }
  c.is("other_versions");
}

TEST_CASE("a path that becomes narrower gets packets in parts as version 1 does it") {
  conversation c("datagrams");
  c.pair.connect();
  c.pair.run(20_ms);
  c.say(0, alice, bob, "wide");
  c.pair.run(50_ms);
  // The datagrams under way are too large already, and then some of the parts are, too.
  c.pair.spared_below = 121;
  c.pair.fates = {{}, {}, {}, {}};
  std::string numbers = "numbers";
  while (numbers.size() < 600) numbers += ' ' + std::to_string(numbers.size());
  c.say(0, alice, bob, numbers);
  c.pair.narrow(0, 120);
  c.pair.spared_below = 91;
  c.pair.fates = {{1_ms}, {}, {}};
  c.pair.run(5_ms);
  c.pair.narrow(0, 90);
  c.pair.run(300_ms);
  c.say(0, alice, bob, "after " + std::string(100, 'm'));
  c.pair.run(40_ms);
  c.pair.ends[0].stack->leave(c.pair.now);
  c.pair.run(5_ms);
  CHECK(c.heard(1) == "wide, numbers, after m");
  CHECK(c.pair.ends[1].down() == net_errc::peer_down);
  c.is("narrow_path");
}

}  // namespace golden_sessions_test
