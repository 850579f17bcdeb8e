// Any first bytes of a connection are a hello, foreign, or incomplete. A hello that is found means
// the same when it is encoded again.
#include <garrick/base/platform/assert.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/session/handshake.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garrick::net;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const peeked& p : {peek_datagram(bytes), peek_stream(bytes)}) {
    if (p.what == peeked::kind::foreign)
      GARRICK_ASSERT(p.why == net_errc::not_garrick, "a stranger without a reason");
    if (p.what == peeked::kind::incomplete)
      GARRICK_ASSERT(size < largest_hello + 4, "an incomplete hello above the largest size");
    if (p.what != peeked::kind::found) continue;
    GARRICK_ASSERT(p.says.self.incarnation != 0 && p.says.program.size() <= longest_program,
                   "a hello out of its limits");
    packet again;
    encode_hello(session_packet::hello, p.says, again);
    GARRICK_ASSERT(decode_hello(again.bytes()) == p.says, "it was understood differently");
  }
  static_cast<void>(decode_refusal(bytes));
  return 0;
}
