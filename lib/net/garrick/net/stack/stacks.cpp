#include "garrick/net/stack/stacks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/layer/internal/setting_checks.hpp"

namespace garrick::net {
namespace {

/// Ends the program if the carrier is of the wrong kind, which would go unnoticed otherwise: bytes
/// of a stream have no borders, and datagrams get lost.
void require_kind(const carrier& below, const properties& offered) {
  const std::optional<carrier_kind> kind = below.carries();
  GARRICK_ASSERT(!kind || (*kind == carrier_kind::datagrams) == offered.messages,
                 "the stack stands on another kind of transport: ask named_stack::fits");
}

std::string_view name_of(carrier_kind k) {
  return k == carrier_kind::stream ? "a stream" : "datagrams";
}

}  // namespace

link_settings detail::settings_of(const link_settings& s, std::string_view name,
                                  const carrier& below, const properties& offered) {
  if (const base::error wrong = check(s))
    base::assertion_failed(__FILE__, __LINE__, "!check(settings)", wrong.to_string().c_str());
  require_kind(below, offered);
  link_settings named = s;
  if (named.session.stack.empty()) named.session.stack = name;
  return named;
}

void add_settings(base::setting_table& table, std::string& stack, link_settings& s) {
  using base::duration;
  using base::note;
  using range = base::setting_range;
  constexpr std::int64_t most = 0xffff'ffff;
  const duration some = duration::milliseconds(1);
  const duration hour = duration::seconds(3600);
  table.add({"net.stack", &stack, range::at_most_bytes(64), "",
             note("The layers over the transport, by the name of their stack"),
             note("net/stack/stacks.cpp")});
  const auto time = [&](std::string_view key, duration& which, duration least,
                        std::string_view help, std::string_view used) {
    table.add({key, &which, {least, hour}, "", help, used});
  };
  const auto count = [&](std::string_view key, std::uint32_t& which, std::int64_t least,
                         std::string_view unit, std::string_view help, std::string_view used) {
    table.add({key, &which, {least, most}, unit, help, used});
  };
  constexpr std::string_view detection = note("net/layer/session.cpp");
  time("net.failure_detection_interval", s.session.interval, some,
       note("A peer hears something so often, at least"), detection);
  time("net.failure_detection_down_after", s.session.down_after, some,
       note("Silence that ends a session for good; above the interval"), detection);
  time("net.failure_detection_resume_window", s.session.resume_window, some,
       note("How long a session survives the loss of its stream, at least: until down_after has "
            "passed since the peer was last heard; at most down_after"),
       detection);
  time("net.failure_detection_handshake_limit", s.session.handshake_limit, some,
       note("How long a peer's handshake may take"), detection);
  constexpr std::string_view redelivery = note("net/layer/redelivery.cpp");
  count("net.reconnect_messages", s.mailbox.messages, 1, "messages",
        note("Messages to a peer that are not in a mailbox yet, at most; not above its "
             "accepted_messages"),
        redelivery);
  count("net.reconnect_accepted_messages", s.mailbox.accepted_messages, 1, "messages",
        note("Messages of a peer that are not in a mailbox yet, at most"), redelivery);
  constexpr std::string_view slicing = note("net/layer/slicing.cpp");
  count("net.slicing_largest", s.slicing.largest, 1, "bytes",
        note("Bytes of a message, at most; both ends should say the same"), slicing);
  count("net.slicing_queue_bytes", s.slicing.queue_bytes, 1, "bytes",
        note("Bytes that wait to be sent, at most; those of large messages do not count"), slicing);
  time("net.slicing_expiry", s.slicing.expiry, some,
       note("How long a message waits for its next piece, where pieces can be lost"), slicing);
  constexpr std::string_view ordering = note("net/layer/ordering.cpp");
  time("net.ordering_timeout", s.ordering.timeout, {},
       note("How long a message waits for those before it, where they can be lost"), ordering);
  count("net.ordering_bytes", s.ordering.bytes, 1, "bytes",
        note("Bytes that wait for those before them, at most"), ordering);
  constexpr std::string_view reliability = note("net/layer/reliability.cpp");
  count("net.reliability_most_packets", s.reliability.most_packets, 1, "packets",
        note("Datagrams that are not acknowledged yet, at most"), reliability);
  time("net.reliability_shortest_timeout", s.reliability.shortest_timeout,
       duration::milliseconds(2),
       note("Until a datagram is sent again of which nothing is heard, at least"), reliability);
  time("net.reliability_longest_timeout", s.reliability.longest_timeout, duration::milliseconds(2),
       note("The same, at most; not below shortest_timeout"), reliability);
  time("net.reliability_first_timeout", s.reliability.first_timeout, some,
       note("The same, while the round-trip time is not known"), reliability);
  count("net.framing_largest", s.framing.largest, std::int64_t{largest_hello}, "bytes",
        note("Bytes of a frame on a stream, at most; a longer one ends the connection"),
        note("net/layer/framing.cpp"));
  count("net.actor_protocol_most_questions", s.questions.most_questions, 1, "requests",
        note("Requests of a link without an answer, at most"),
        note("net/layer/actor_protocol.cpp"));
}

base::error check(const link_settings& s) {
  using internal::check_range;
  if (base::error e = session::check(s.session)) return e;
  if (base::error e = actor_protocol::check(s.questions)) return e;
  if (base::error e = redelivery::check(s.mailbox)) return e;
  if (base::error e = slicing::check(s.slicing)) return e;
  if (base::error e = ordering::check(s.ordering)) return e;
  if (base::error e = reliability::check(s.reliability)) return e;
  if (base::error e = framing::check(s.framing)) return e;
  // The last three are demands of a layer on the layer below.
  if (base::error e = check_range("framing.largest", s.framing.largest, largest_hello)) return e;
  if (base::error e = check_range("ordering.window", s.ordering.window, sequence_window)) return e;
  return check_range("ordering.window_bytes", s.ordering.window_bytes, s.reliability.most_bytes);
}

base::error named_stack::fits(const endpoint& e) const {
  const carrier_kind there =
      e.kind() == transport_kind::udp ? carrier_kind::datagrams : carrier_kind::stream;
  if (there == transport) return {};
  return base::make_error(base::errc::invalid_setting, "net.stack",
                          std::string(name) + " stands on " + std::string(name_of(transport)) +
                              ", and " + e.to_string() + " is " + std::string(name_of(there)));
}

void stack_catalogue::add(const named_stack& s) {
  GARRICK_ASSERT(find(s.name) == nullptr, "two stacks have one name");
  stacks_.push_back(s);
}

const named_stack* stack_catalogue::find(std::string_view name) const noexcept {
  for (const named_stack& s : stacks_)
    if (s.name == name) return &s;
  return nullptr;
}

base::error stack_catalogue::explain(std::string_view name) const {
  if (find(name) != nullptr) return {};
  std::string names;
  for (const named_stack& s : stacks_) names.append(names.empty() ? "" : ", ").append(s.name);
  return base::make_error(base::errc::invalid_setting,
                          "there is no stack '" + std::string(name) + "'; there are: " + names);
}

stack_catalogue standard_stacks() {
  stack_catalogue all;
  all.add<"stream", stream_stack>();
  all.add<"plain_stream", plain_stream_stack>();
  all.add<"datagrams", datagram_stack>();
  all.add<"ordered_datagrams", ordered_datagram_stack>();
  all.add<"plain_datagrams", plain_datagram_stack>();
  return all;
}

}  // namespace garrick::net
