// One packet, sent by several handles over several links. A test of tests/net sends one twice over
// one link.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "garrick/net/stack/internal/simulated_pair.hpp"
#include "garrick/net/stack/stacks.hpp"
#include "garrick/net/testkit/simulated_network.hpp"

namespace shared_packets_test {

using namespace garrick;
using namespace garrick::net;
using base::duration;

namespace {

using counts = std::map<std::string, int>;

/// An end that counts texts in its host's mailbox.
struct end final : link_owner {
  std::unique_ptr<net::testkit::endpoint> socket;
  std::unique_ptr<any_link> link;
  counts& texts;
  bool open = false;

  end(const named_stack& kind, std::unique_ptr<net::testkit::endpoint> s, std::uint64_t incarnation,
      bool connects, counts& mailbox)
      : socket(std::move(s)), texts(mailbox) {
    link_settings settings;
    settings.session.self = {.node = {incarnation, 0}, .incarnation = incarnation};
    settings.session.connects = connects;
    link = kind.make(*this, *socket, settings);
    socket->drive(*link);
  }
  bool on_message(const incoming& m) override {
    const base::result<frame> f = decode_frame(m.bytes);
    REQUIRE(f.has_value());
    ++texts[tests::text_of(f->payload)];
    return true;
  }
  void on_event(const link_event& e) override { open = open || e.what == link_event::kind::opened; }
};

/// "a" has a link to "b" and one to "c".
struct two_links {
  net::testkit::simulated_network world;
  std::vector<std::unique_ptr<end>> servers;
  std::vector<std::unique_ptr<net::testkit::listener>> doors;
  std::vector<std::unique_ptr<end>> clients;
  std::map<std::string, counts> got;  ///< by the host

  two_links(const named_stack& kind, std::uint64_t seed, double loss) : world(seed) {
    const bool streams = kind.transport == carrier_kind::stream;
    for (const char* name : {"b", "c"}) {
      world.both("a", name, {.delay = duration::milliseconds(5), .loss = loss});
      auto accept = [this, &kind, name](std::unique_ptr<net::testkit::endpoint> e) {
        const std::uint64_t life = 100 + servers.size();
        servers.push_back(std::make_unique<end>(kind, std::move(e), life, false, got[name]));
      };
      net::testkit::simulated_host& there = world.host(name);
      doors.push_back(streams ? there.listen(7, accept) : there.listen_datagrams(7, accept));
      net::testkit::simulated_host& a = world.host("a");
      auto socket = streams ? a.connect({name, 7}) : a.datagrams(0, {name, 7});
      clients.push_back(
          std::make_unique<end>(kind, std::move(socket), 1 + clients.size(), true, got["a"]));
    }
    world.run_until([&] { return clients[0]->open && clients[1]->open; }, duration::seconds(30));
    REQUIRE(clients[0]->open);
    REQUIRE(clients[1]->open);
  }
  outgoing message(const std::string& text) {
    return to_outgoing({.kind = frame_kind::message, .receiver = {2, 2}, .sender = {1, 1}},
                       packet::copy_of(tests::bytes_of(text), 200));
  }
  [[nodiscard]] base::error send(std::size_t by, outgoing m) {
    return clients[by]->link->send(std::move(m), world.host("a").now());
  }
};

outgoing shared(const outgoing& m) { return {m.bytes.share(), m.lane, m.report}; }

}  // namespace

TEST_CASE("one packet over several links: each carries it whole, also if it has to send it again") {
  const stack_catalogue stacks = standard_stacks();
  for (const char* name : {"datagrams", "stream"})
    for (std::uint64_t seed = 1; seed <= tests::seeds(40); ++seed) {
      CAPTURE(std::string(name));
      CAPTURE(seed);
      two_links w(*stacks.find(name), seed, 0.2);
      // The links' numbers differ, so a header of the wrong link is seen.
      REQUIRE(!w.send(1, w.message("to c alone")));
      for (int i = 0; i < 20; ++i) {
        const outgoing m = w.message(std::to_string(i));
        REQUIRE(!w.send(0, shared(m)));
        REQUIRE(!w.send(1, shared(m)));
        w.world.run_for(duration::milliseconds(3));
      }
      w.world.run_for(duration::seconds(20));
      for (const char* host : {"b", "c"})
        for (int i = 0; i < 20; ++i) REQUIRE(w.got[host][std::to_string(i)] == 1);
    }
}

}  // namespace shared_packets_test
