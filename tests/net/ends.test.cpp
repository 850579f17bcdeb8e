// Bad beginnings and ends of links: the owners' events, and the calls that are refused at once.
#include <garrick/net/stack/stacks.hpp>

#include <stdexcept>

#include <support/in_child.hpp>
#include <support/transports.hpp>

namespace ends_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

using kind = link_event::kind;

/// An end of a standard stack, which notes its events. Its messages are never in a mailbox.
class end final : public hosted, public link_owner {
 public:
  end(const named_stack& stack, carrier& below, bool connects, std::shared_ptr<notes> n)
      : notes_(std::move(n)) {
    link_settings s;
    s.session.self = {.node = {0, connects ? 1u : 2u}, .incarnation = connects ? 11u : 22u};
    s.session.connects = connects;
    link_ = stack.make(*this, below, s);
  }
  carried& stack() override { return *link_; }
  bool on_message(const incoming&) override {
    notes_->change([](notes::all& a) { ++a.count; });
    return false;
  }
  void on_event(const link_event& e) override {
    notes_->change([&](notes::all& a) {
      CHECK(a.ended == 0);
      a.events.push_back(e);
    });
  }
  void ended(const base::error& why) noexcept override { notes_->end(why); }
  void send(std::uint64_t report) {
    outgoing m = to_outgoing({.kind = frame_kind::message, .receiver = {2, 2}, .sender = {1, 1}},
                             packet::copy_of(bytes_of("text"), frame_room + 64));
    m.report = report;
    REQUIRE(!link_->send(std::move(m), base::real_clock().now()));
  }

 private:
  std::shared_ptr<notes> notes_;
  std::unique_ptr<any_link> link_;
};

auto accept_ends(const named_stack& stack, std::shared_ptr<notes> n) {
  return accept_each([&stack, n](const arrival&, carrier& c, const connection&) {
    return std::make_unique<end>(stack, c, false, n);
  });
}
auto open_end(const named_stack& stack, std::shared_ptr<notes> n) {
  return [&stack, n](carrier& c, const connection&) {
    return std::make_unique<end>(stack, c, true, n);
  };
}

std::string refused(const auto& result) {
  REQUIRE(!result);
  CHECK(result.error() == base::errc::invalid_setting);
  return std::string(result.error().detail());
}

}  // namespace

TEST_CASE("ends: when the I/O threads stop, open messages are reported, then the link is down") {
  const stack_catalogue stacks = standard_stacks();
  for (const char* name : {"stream", "datagrams"}) {
    CAPTURE(std::string(name));
    const named_stack& stack = *stacks.find(name);
    const bool streams = stack.transport == carrier_kind::stream;
    const auto here = std::make_shared<notes>();
    const auto there = std::make_shared<notes>();
    {
      io_threads io;
      auto door = listen(io, at(streams ? "tcp://127.0.0.1:0" : "udp://127.0.0.1:0"),
                         accept_ends(stack, there));
      auto link = connect(io, door->local(), open_end(stack, here));
      REQUIRE(here->wait_for(kind::opened));
      link->run([](hosted& h) {
        for (std::uint64_t i = 1; i <= 3; ++i) static_cast<end&>(h).send(i);
      });
      REQUIRE(there->wait_for_messages(3));
    }
    here->look([](const notes::all& a) {
      CHECK(a.seen(kind::unknown) == 3);
      REQUIRE(a.seen(kind::down) == 1);
      CHECK(a.events.back().why == base::errc::shutting_down);
      CHECK(a.why_ended.to_string() == "the system is shutting down: the I/O threads were stopped");
      for (const link_event& e : a.events)
        if (e.what == kind::unknown) {
          CHECK(e.why == net_errc::perhaps_delivered);
          CHECK(e.why.detail() == "the I/O threads were stopped");
        }
    });
    there->look([](const notes::all& a) { CHECK(a.seen(kind::down) == 1); });
  }
}

TEST_CASE("ends: a function that throws ends its link with its words") {
  io_threads io;
  const auto here = std::make_shared<notes>();
  const bare_socket there = bare_socket::listening();
  auto link = connect(
      io, at("tcp://127.0.0.1:" + std::to_string(there.port())),
      opening(here, [](stream_session&, incoming) -> void { throw std::runtime_error("boom"); }));
  there.accept().write(framed("x"));
  REQUIRE(here->wait_for_end());
  here->look([](const notes::all& a) {
    CHECK(a.why_ended == net_errc::owner_failed);
    CHECK(a.why_ended.to_string() == "a function of the link's owner has thrown: boom");
    CHECK(a.seen(kind::down) == 1);
  });
}

TEST_CASE("ends: a newcomer for which no stack is made is counted as refused") {
  for (const bool throws : {true, false}) {
    io_threads io;
    auto door = listen(io, at("tcp://127.0.0.1:0"),
                       accept_each([throws](const arrival&, carrier&,
                                            const connection&) -> std::unique_ptr<hosted> {
                         if (throws) throw std::runtime_error("no");
                         return nullptr;
                       }));
    const bare_socket peer = bare_socket::connected(door->local().port());
    CHECK(peer.read(1).empty());
    wait_until([&] { return door->counters().connections == 0; });
    CHECK(door->counters().refused == 1);
  }
}

TEST_CASE(
    "ends: settings and addresses that can never work are refused before anything is opened") {
  io_threads io;
  const auto n = std::make_shared<notes>();
  const endpoint to = at("tcp://127.0.0.1:1"), free = at("tcp://127.0.0.1:0");
  CHECK(refused(connect(io, to, std::unique_ptr<hosted_maker>())) ==
        "connect: the maker of the link is null");
  CHECK(refused(listen(io, free, nullptr)) == "listen: there is no policy");
  const auto setting = [&](const transport_settings& s) {
    const std::string why = refused(listen(io, free, accepting(n), s));
    CHECK(why == refused(connect(io, to, opening(n), s)));
    return why;
  };
  CHECK(setting({.high_water = 0, .low_water = 0, .most_queued = 0}) ==
        "transport_settings.high_water: nothing could be sent");
  CHECK(setting({.high_water = 10, .low_water = 11}) ==
        "transport_settings.low_water: it is above high_water");
  CHECK(setting({.high_water = 1000, .low_water = 0, .most_queued = 999}) ==
        "transport_settings.most_queued: it is below high_water");
  CHECK(setting({.attempt_limit = {}}) == "transport_settings.attempt_limit: it is not above zero");
  CHECK(setting({.largest_datagram = 100}) ==
        "transport_settings.largest_datagram: 100 is below 548, which every path takes");
  const auto limit = [&](const accept_limits& l) {
    return refused(listen(io, free, accepting(n), {}, l));
  };
  CHECK(limit({.connections = 0}) ==
        "accept_limits.connections: must be above zero: no peer could connect");
  CHECK(limit({.pending = 0}) ==
        "accept_limits.pending: must be above zero: no peer could connect");
  CHECK(limit({.admission = {}}) == "accept_limits.admission: it is not above zero");
}

TEST_CASE(
    "ends: an address of another machine, and a folder that is not there, are not listened at") {
  io_threads io;
  const auto n = std::make_shared<notes>();
  for (const char* where : {"tcp://192.0.2.7:0", "udp://192.0.2.7:0", "unix:///nosuch/folder/x"})
    CHECK(listen(io, at(where), accepting(n)).error() == net_errc::io);
  CHECK(listen(io, at("tcp://[::ffff:127.0.0.1]:0"), accepting(n)).has_value());
}

TEST_CASE("ends: a stack on the wrong kind of transport is refused by its name") {
  const stack_catalogue stacks = standard_stacks();
  const named_stack& streams = *stacks.find("stream");
  const named_stack& datagrams = *stacks.find("plain_datagrams");
  CHECK(!streams.fits(at("tcp://x:1")));
  CHECK(!streams.fits(at("unix:///x")));
  CHECK(!datagrams.fits(at("udp://x:1")));
  CHECK(streams.fits(at("udp://x:1")) == base::errc::invalid_setting);
  CHECK(streams.fits(at("udp://x:1")).detail() ==
        "net.stack: stream stands on a stream, and udp://x:1 is datagrams");
  CHECK(datagrams.fits(at("unix:///x")) == base::errc::invalid_setting);
  for (const auto& [stack, where] :
       {std::pair(&streams, "udp://127.0.0.1:0"), std::pair(&datagrams, "tcp://127.0.0.1:0")}) {
    const auto [words, status] = in_child([&, s = stack, w = where] {
      io_threads io;
      const auto n = std::make_shared<notes>();
      auto link = connect(io, at(w).with_port(1), open_end(*s, n));
      while (!link->is_over()) std::this_thread::yield();
    });
    CHECK(has_aborted(status));
    CHECK(words.find("ask named_stack::fits") != std::string::npos);
  }
}

TEST_CASE("ends: a stack with settings that `check` refuses says which, and ends the program") {
  const stack_catalogue stacks = standard_stacks();
  const auto [words, status] = in_child([&] {
    struct : link_owner {
      bool on_message(const incoming&) override { return true; }
      void on_event(const link_event&) override {}
    } owner;
    struct : carrier {
      void transmit(packet) override {}
      [[nodiscard]] bool writable() const override { return true; }
      [[nodiscard]] std::size_t largest() const override { return 1000; }
      void reopen() override {}
      void close() override {}
    } below;
    link_settings s;
    s.session.self.incarnation = 1;
    s.session.down_after = base::duration::seconds(1);
    static_cast<void>(stacks.find("stream")->make(owner, below, s));
  });
  CHECK(has_aborted(status));
  CHECK(words.find("net.failure_detection_down_after: must not be below the resume window") !=
        std::string::npos);
}

}  // namespace ends_test
