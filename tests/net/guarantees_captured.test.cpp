// Sessions of two processes over real sockets, of which every byte was written down on its way, and
// which tools/wire/decode.py then understands: it is written from docs/wire.md alone, and shares
// nothing with the senders. No two sessions are the same, so their figures are compared.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "net/guarantees/decoded_capture.hpp"
#include "net/guarantees/programs.hpp"
#include "net/guarantees/recording_relay.hpp"

namespace guarantees_captured_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

/// Waits for answers, which show that the streams are in use. Answers do not end before the session
/// does, while on a slow machine all messages may have arrived before the last cut.
bool both_are_answered(two_processes& p) {
  const std::size_t a = p.seen().of(0).right_answers + 20, b = p.seen().of(1).right_answers + 20;
  return p.until(
      [&] { return p.seen().of(0).right_answers >= a && p.seen().of(1).right_answers >= b; },
      "both had some more answers");
}

/// Returns the counts as a text: "3 message, 2 request".
std::string in_words(const std::map<std::string, std::size_t>& kinds) {
  std::string all;
  for (const auto& [kind, n] : kinds)
    all += (all.empty() ? "" : ", ") + std::to_string(n) + ' ' + kind;
  return all;
}

/// Lets two processes talk through a relay; each of their frames is found in the relay's capture.
void talk_through_a_relay(const std::string& stack, const std::string& scheme, int port, int cuts) {
  CAPTURE(stack);
  const std::string where = own_address(scheme.c_str(), port);
  const std::string host = where.substr(scheme.size() + 3, where.rfind(':') - scheme.size() - 3);
  recording_relay relay(stack, host, static_cast<std::uint16_t>(port),
                        scheme == "tcp" ? SOCK_STREAM : SOCK_DGRAM);
  const std::string via = scheme + "://127.0.0.1:" + std::to_string(relay.port());
  // No question is given up: its cancel would be a frame, however slow the machine.
  two_processes both(
      {.stack = stack, .where = where, .messages = 150, .via = via, .answer_within_ms = 600'000});
  for (int i = 0; i != cuts && both_are_answered(both); ++i) {
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
  const auto to_listener = kinds_of(frames(said, "a>b")),
             to_connector = kinds_of(frames(said, "b>a"));
  const auto frames_of = [](std::size_t sent, std::size_t asked, std::size_t answered) {
    return in_words({{"message", sent}, {"request", asked}, {"response", answered}});
  };
  CHECK(connector.sent == 150);
  CHECK(listener.sent == 150);
  CHECK(in_words(to_listener) == frames_of(connector.sent, connector.asked, listener.asked));
  CHECK(in_words(to_connector) == frames_of(listener.sent, listener.asked, connector.asked));
  std::size_t begun = 0;
  for (std::size_t at = 0; (at = said.find("goes on", at)) != std::string::npos; ++at) ++begun;
  CHECK(begun >= 2 * static_cast<std::size_t>(cuts));
}

}  // namespace

TEST_CASE("captured: a session over TCP agrees with docs/wire.md, also when it is resumed") {
  talk_through_a_relay("stream", "tcp", 7051, 3);
}
TEST_CASE("captured: a session over TCP without acknowledgements agrees with docs/wire.md") {
  talk_through_a_relay("plain_stream", "tcp", 7052, 0);
}
TEST_CASE("captured: a session over UDP agrees with docs/wire.md") {
  talk_through_a_relay("datagrams", "udp", 7053, 0);
}

}  // namespace guarantees_captured_test
