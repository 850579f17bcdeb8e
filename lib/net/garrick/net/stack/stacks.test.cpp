#include "garrick/net/stack/stacks.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "garrick/base/types/fields.hpp"
#include "garrick/net/testkit/simulated_network.hpp"
#include "garrick/net/wire/codec.hpp"

namespace stacks_test {

using namespace garrick;
using namespace garrick::net;
using base::duration;

namespace {

constexpr actor_id alice{1, 11}, bob{2, 22};

/// An end: a stack by name on an endpoint of the simulated network.
struct end final : link_owner {
  std::unique_ptr<net::testkit::endpoint> socket;
  std::unique_ptr<net::any_link> mine;
  std::vector<std::string> texts;
  bool open = false;
  base::error over;

  end(const named_stack& kind, std::unique_ptr<net::testkit::endpoint> s, std::uint64_t incarnation,
      bool connects)
      : socket(std::move(s)) {
    link_settings settings;
    settings.session.self = {.node = {}, .incarnation = incarnation};
    settings.session.connects = connects;
    REQUIRE(!check(settings));
    mine = kind.make(*this, *socket, settings);
    socket->drive(*mine);
  }
  bool on_message(const incoming& m) override {
    const base::result<frame> f = decode_frame(m.bytes);
    REQUIRE(f.has_value());
    texts.push_back(decode<std::string>(f->payload).value_or("?"));
    return true;
  }
  void on_event(const link_event& e) override {
    open = open || e.what == link_event::kind::opened;
    if (e.what == link_event::kind::down) over = e.why;
  }
  base::error send(const std::string& text, base::instant now) {
    base::result<packet> p = encode(text, {.front = frame_room + mine->header_size()});
    return mine->send(
        to_outgoing({.kind = frame_kind::message, .receiver = bob, .sender = alice}, std::move(*p)),
        now);
  }
};

template <class Counters>
constexpr bool names_all =
    std::tuple_size_v<decltype(Counters().named())> == base::field_count<Counters>;
static_assert(names_all<actor_protocol_counters> && names_all<duplicate_suppression_counters> &&
              names_all<session_counters> && names_all<ordering_counters> &&
              names_all<redelivery_counters> && names_all<reliability_counters> &&
              names_all<slicing_counters>);

/// Returns the figure of this name.
std::uint64_t count_of(const any_link& l, std::string_view layer, std::string_view name) {
  for (const link_count& c : l.counters())
    if (c.layer == layer && c.name == name) return c.value;
  FAIL("the link has no such figure");
  return 0;
}

}  // namespace

TEST_CASE(
    "each standard stack carries messages of any size, and keeps the guarantees of its name") {
  const stack_catalogue stacks = standard_stacks();
  REQUIRE(stacks.all().size() == 5);
  for (const named_stack& kind : stacks.all()) {
    CAPTURE(kind.name);
    net::testkit::simulated_network world(1);
    std::unique_ptr<end> server;
    const auto accept = [&](std::unique_ptr<net::testkit::endpoint> e) {
      server = std::make_unique<end>(kind, std::move(e), 2, false);
    };
    const bool stream = kind.transport == carrier_kind::stream;
    auto& here = world.host("a");
    auto& there = world.host("b");
    const auto door = stream ? there.listen(7, accept) : there.listen_datagrams(7, accept);
    end client(kind, stream ? here.connect({"b", 7}) : here.datagrams(0, {"b", 7}), 1, true);
    REQUIRE(world.run_until([&] { return client.open && server && server->open; }));

    const std::vector<std::string> sent{"one", std::string(300'000, 'x'), "", "two"};
    for (const std::string& text : sent) REQUIRE(!client.send(text, here.now()));
    REQUIRE(
        world.run_until([&] { return server->texts.size() == sent.size(); }, duration::seconds(9)));
    if (kind.provides.ordered) CHECK(server->texts == sent);
    CHECK(kind.provides.messages);
    CHECK(kind.provides.once);
    CHECK(kind.provides.sessions);
    CHECK(kind.provides.confirmed == (kind.name == "stream" || kind.name == "datagrams"));
    CHECK(kind.provides.reliable ==
          (kind.name == "stream" || kind.name == "datagrams" || kind.name == "plain_stream"));

    CHECK(count_of(*client.mine, "slicing", "cut") == 1);
    CHECK(count_of(*server->mine, "slicing", "joined") == 1);
    CHECK(count_of(*client.mine, "failure_detection", "hellos_sent") >= 1);
    CHECK(count_of(*client.mine, "actor_protocol", "questions") == 0);

    client.mine->leave(here.now());
    REQUIRE(world.run_until([&] { return bool(server->over); }, duration::seconds(60)));
  }
}

TEST_CASE("a stack that is not there is refused with the names of those that are") {
  const stack_catalogue stacks = standard_stacks();
  CHECK(stacks.find("carrier pigeon") == nullptr);
  const base::error e = stacks.explain("carrier pigeon");
  CHECK(e == base::errc::invalid_setting);
  CHECK(e.to_string().find("'carrier pigeon'; there are: stream, plain_stream, datagrams") !=
        std::string::npos);
  CHECK(!stacks.explain("stream"));
}

TEST_CASE(
    "a link's settings have rows in a table, which refuse all values that a layer would refuse") {
  base::setting_table table;
  std::string stack = "stream";
  link_settings settings;
  add_settings(table, stack, settings);
  const base::setting* window = table.find("net.reconnect_messages");
  REQUIRE(window != nullptr);
  CHECK(base::check(*window, *base::parse(*window, "0")));
  base::store(*window, *base::parse(*window, "17"));
  CHECK(settings.mailbox.messages == 17);
  const base::setting* accepted = table.find("net.reconnect_accepted_messages");
  REQUIRE(accepted != nullptr);
  base::store(*accepted, *base::parse(*accepted, "100000"));
  CHECK(settings.mailbox.accepted_messages == 100'000);
  base::store(*table.find("net.stack"), *base::parse(*table.find("net.stack"), "datagrams"));
  CHECK(standard_stacks().find(stack) != nullptr);

  settings.session.self.incarnation = 1;
  CHECK(!check(settings));
  settings.session.resume_window = settings.session.down_after + duration::seconds(1);
  CHECK(check(settings) == base::errc::invalid_setting);
}

TEST_CASE("each row's ends are the layers' limits, and a pair that contradicts is named by key") {
  base::setting_table table;
  std::string stack = "stream";
  link_settings settings;
  settings.session.self.incarnation = 1;
  add_settings(table, stack, settings);
  int layered = 0;
  for (const base::setting& row : table.rows()) {
    if (row.key == "net.stack") continue;
    CAPTURE(row.key);
    ++layered;
    for (const std::int64_t end : {row.range.low, row.range.high}) {
      settings = {};
      settings.session.self.incarnation = 1;
      if (row.range.of_time)
        row.target.as<duration>() = duration::nanoseconds(end);
      else
        row.target.as<std::uint32_t>() = static_cast<std::uint32_t>(end);
      // Another setting may have to change with this one: then the error names one of these keys.
      const base::error e = check(settings);
      if (!e) continue;
      const std::string name(e.detail().substr(0, e.detail().find(':')));
      CAPTURE(name);
      CHECK(table.find(name) != nullptr);
    }
  }
  CHECK(layered == 17);
}

TEST_CASE("settings that forbid themselves are refused, by name and with their limits") {
  const auto refused = [](auto change) {
    link_settings s;
    s.session.self.incarnation = 1;
    change(s);
    const base::error e = check(s);
    CHECK((!e || e == base::errc::invalid_setting));
    return std::string(e.detail());
  };
  using l = link_settings;
  CHECK(refused([](l&) {}).empty());
  CHECK(refused([](l& s) { s.questions.most_questions = 0; }) ==
        "net.actor_protocol_most_questions: 0 is below 1");
  CHECK(refused([](l& s) { s.slicing.largest = 0; }) == "net.slicing_largest: 0 is below 1");
  CHECK(refused([](l& s) { s.slicing.piece = 63; }) == "net.slicing_piece: 63 is below 64");
  CHECK(refused([](l& s) { s.slicing.queue_messages = 0; }) ==
        "net.slicing_queue_messages: 0 is below 1");
  CHECK(refused([](l& s) { s.slicing.queue_bytes = 0; }) ==
        "net.slicing_queue_bytes: 0 is below 1");
  CHECK(refused([](l& s) { s.slicing.partial_messages = 0; }) ==
        "net.slicing_partial_messages: 0 is below 1");
  CHECK(refused([](l& s) { s.slicing.expiry = {}; }) ==
        "net.slicing_expiry: a time above zero is needed");
  CHECK(refused([](l& s) { s.ordering.bytes = 0; }) == "net.ordering_bytes: 0 is below 1");
  CHECK(refused([](l& s) { s.ordering.timeout = duration::nanoseconds(-1); }) ==
        "net.ordering_timeout: -1 ns is below 0 ns");
  CHECK(refused([](l& s) { s.ordering.window = 32768; }) ==
        "net.ordering_window: 32768 is above 32767");
  CHECK(refused([](l& s) { s.ordering.window = 8191; }) ==
        "net.ordering_window: 8191 is below 8192");
  CHECK(refused([](l& s) { s.ordering.window_bytes = 100; }) ==
        "net.ordering_window_bytes: 100 is below 8388608");
  CHECK(refused([](l& s) { s.reliability.most_packets = 0; }) ==
        "net.reliability_most_packets: 0 is below 1");
  CHECK(refused([](l& s) { s.reliability.most_bytes = 0; }) ==
        "net.reliability_most_bytes: 0 is below 1");
  CHECK(refused([](l& s) { s.reliability.most_unsent_bytes = 0; }) ==
        "net.reliability_most_unsent_bytes: 0 is below 1");
  CHECK(refused([](l& s) { s.reliability.most_urgent_packets = 0; }) ==
        "net.reliability_most_urgent_packets: 0 is below 1");
  CHECK(refused([](l& s) { s.reliability.most_urgent_bytes = 0; }) ==
        "net.reliability_most_urgent_bytes: 0 is below 1");
  CHECK(refused([](l& s) { s.reliability.shortest_timeout = duration::milliseconds(1); }) ==
        "net.reliability_shortest_timeout: 1000000 ns is below 2000000 ns");
  CHECK(refused([](l& s) { s.reliability.longest_timeout = duration::milliseconds(1); }) ==
        "net.reliability_longest_timeout: it is below shortest_timeout");
  CHECK(refused([](l& s) { s.reliability.first_timeout = {}; }) ==
        "net.reliability_first_timeout: a time above zero is needed");
  CHECK(refused([](l& s) { s.framing.largest = 511; }) == "net.framing_largest: 511 is below 512");
  CHECK(refused([](l& s) { s.mailbox.accepted_bytes = 0; }) ==
        "net.reconnect_accepted_bytes: 0 is below 1");
  CHECK(refused([](l& s) { s.mailbox.ack_after = duration::seconds(-1); }) ==
        "net.reconnect_ack_after: -1000000000 ns is below 0 ns");
  CHECK(refused([](l& s) { s.session.hello_most = {}; }) ==
        "net.failure_detection_hello_most: a time above zero is needed");
}

}  // namespace stacks_test
