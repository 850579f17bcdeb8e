// Two ends with the layer `session`, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/layer/framing.hpp"
#include "garrick/net/layer/session.hpp"
#include "garrick/net/layer/session/secrets.hpp"
#include "garrick/net/stack/internal/simulated_pair.hpp"
#include "garrick/net/stack/stack.hpp"

namespace garrick::net::tests {

/// Carries the lane in a byte, as `slicing` does.
class lane_byte : public layer_defaults {
 public:
  static constexpr std::size_t header_size = 1;
  [[nodiscard]] static constexpr properties provides(properties below) noexcept {
    below.lanes = true;
    return below;
  }
  void send(outgoing m, layer_context& c) {
    *m.bytes.prepend(1) = static_cast<std::byte>(m.lane);
    c.down(std::move(m));
  }
  void receive(const incoming& m, layer_context& c) {
    if (m.bytes.empty()) return;
    static_cast<void>(c.up({m.bytes.subspan(1), static_cast<lane_number>(m.bytes[0])}));
  }
};

/// A transport for tests only: all its datagrams arrive, in order.
struct reliable_datagrams {
  static constexpr properties offers{.messages = true, .ordered = true, .reliable = true};
};

/// Messages over a stream, and over datagrams.
using stream_stack = stack<byte_stream, session, framing>;
using datagram_stack = stack<datagrams, session>;

/// Returns the settings of end `i`: end 0 connects.
inline session_settings settings_of(int i) {
  session_settings s;
  s.self = {{7, static_cast<std::uint64_t>(i) + 1}, static_cast<std::uint64_t>(i) * 1000 + 111};
  s.connects = i == 0;
  s.program = i == 0 ? "zero 1.0" : "one 2.0";
  s.seed = static_cast<std::uint64_t>(i) + 1;
  s.secret = 0x5ec0 + static_cast<std::uint64_t>(i);
  s.probing.enabled = false;
  return s;
}

/// Returns the first hello of end `i`, or its answer to the first hello of the other end.
inline hello first_of(int i, session_packet kind, std::uint32_t layers) {
  const session_settings s = settings_of(i);
  hello h;
  h.layers = layers;
  h.versions = s.versions;
  h.self = s.self;
  h.interval = 500;
  h.number = s.secret;
  if (kind == session_packet::hello) return h;
  h.to = settings_of(1 - i).self.incarnation;
  h.proof = settings_of(1 - i).secret;
  return h;
}

/// Returns the hello, or the answer to one, by which end `i` goes on with the session.
inline hello resumption_of(int i, session_packet kind, std::uint64_t number, std::uint32_t layers) {
  hello h = first_of(i, kind, layers);
  h.to = settings_of(1 - i).self.incarnation;
  h.resumes = true;
  h.number = number;
  h.proof = resume_proof(session_key(settings_of(0).secret, settings_of(1).secret), kind, h);
  return h;
}

/// Rebuilds end `i`.
inline void build(simulated_pair& p, int i, bool stream, session_settings s) {
  test_end& e = p.ends[static_cast<std::size_t>(i)];
  if (stream)
    e.stack = std::make_unique<stream_stack>(e, e, session(std::move(s)), framing());
  else
    e.stack = std::make_unique<datagram_stack>(e, e, session(std::move(s)));
}

/// A pair of ends with these settings, not yet connected.
struct pair_of : simulated_pair {
  bool stream;
  explicit pair_of(bool is_stream, session_settings zero = settings_of(0),
                   session_settings one = settings_of(1), std::uint64_t seed = 1)
      : simulated_pair(is_stream, seed), stream(is_stream) {
    build(*this, 0, stream, std::move(zero));
    build(*this, 1, stream, std::move(one));
  }
  session& layer(std::size_t i) {
    if (stream) return static_cast<stream_stack&>(*ends[i].stack).get<session>();
    return static_cast<datagram_stack&>(*ends[i].stack).get<session>();
  }
  void say(std::size_t i, std::string_view text) {
    const base::error refused = ends[i].stack->send(message(text), now);
    GARRICK_ASSERT(!refused, "the message was refused");
  }
};

}  // namespace garrick::net::tests
