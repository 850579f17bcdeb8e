// Sessions of two processes over real sockets, of which every byte was written down on its way, and
// which tools/wire/decode.py then understands: it is written from docs/wire.md alone, and shares
// nothing with what has sent them. No two sessions are the same, so their figures are compared.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>

#include <support/in_child.hpp>
#include <support/transports.hpp>

#include "net/guarantees/programs.hpp"
#include "net/guarantees/recording_relay.hpp"

using namespace garrick;
using namespace garrick::tests;

namespace {

/// What decode.py says about a capture. It must understand all of it.
std::string decoded(const std::string& capture) {
  scratch_folder folder;
  const std::string path = folder.file("session.capture");
  std::ofstream(path) << capture;
  const auto [text, status] = in_child([&] {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execl(GARRICK_PYTHON, GARRICK_PYTHON, GARRICK_WIRE_DECODER, path.c_str(), nullptr);
  });
  const bool understood = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  CHECK_MESSAGE(understood, text.substr(text.size() - std::min<std::size_t>(text.size(), 1000)));
  return text;
}

/// How many frames of each kind have come one way, `a>b` or `b>a`.
std::map<std::string, std::size_t> frames(const std::string& said, const std::string& way) {
  std::map<std::string, std::size_t> all;
  const std::string mark = " " + way + " actor_protocol: in lane ";
  for (std::size_t at = said.find(mark); at != std::string::npos; at = said.find(mark, at)) {
    at = said.find(": ", at + mark.size()) + 2;
    ++all[said.substr(at, said.find_first_of(",\n", at) - at)];
  }
  return all;
}

/// Two processes talk through a relay, and all that they have said is found in what passed it.
void talk_through_a_relay(const std::string& stack, const std::string& scheme, int port, int cuts) {
  CAPTURE(stack);
  const std::string where = own_address(scheme.c_str(), port);
  const std::string host = where.substr(scheme.size() + 3, where.rfind(':') - scheme.size() - 3);
  recording_relay relay(stack, host, static_cast<std::uint16_t>(port),
                        scheme == "tcp" ? SOCK_STREAM : SOCK_DGRAM);
  const std::string via = scheme + "://127.0.0.1:" + std::to_string(relay.port());
  two_processes both({.stack = stack, .where = where, .messages = 150, .via = via});
  for (int i = 0; i != cuts && both_receive(both); ++i) {
    const std::size_t a = both.seen().of(0).resumed, b = both.seen().of(1).resumed;
    relay.cut();
    both.until([&] { return both.seen().of(0).resumed > a && both.seen().of(1).resumed > b; },
               "the session was resumed at both ends");
  }
  both.until([&] { return both.seen().received() == 300; }, "everything had arrived");
  settle_without_loss(both);
  const witness::figures listener = both.seen().of(listener_role);
  const witness::figures connector = both.seen().of(connector_role);
  CHECK_MESSAGE(both.end().empty(), both.failure());

  const std::string said = decoded(relay.end());
  const auto to_listener = frames(said, "a>b"), to_connector = frames(said, "b>a");
  using counts = std::map<std::string, std::size_t>;
  CHECK(connector.sent == 150);
  CHECK(listener.sent == 150);
  CHECK(to_listener == counts{{"message", connector.sent},
                              {"request", connector.asked},
                              {"response", listener.asked}});
  CHECK(to_connector == counts{{"message", listener.sent},
                               {"request", listener.asked},
                               {"response", connector.asked}});
  std::size_t begun = 0;
  for (std::size_t at = 0; (at = said.find("goes on", at)) != std::string::npos; ++at) ++begun;
  CHECK(begun >= 2 * static_cast<std::size_t>(cuts));
}

}  // namespace

TEST_CASE("captured: a session over TCP is what docs/wire.md says, also when it is resumed") {
  talk_through_a_relay("stream", "tcp", 7051, 3);
}
TEST_CASE("captured: a session over TCP without acknowledgements is what docs/wire.md says") {
  talk_through_a_relay("plain_stream", "tcp", 7052, 0);
}
TEST_CASE("captured: a session over UDP is what docs/wire.md says") {
  talk_through_a_relay("datagrams", "udp", 7053, 0);
}
