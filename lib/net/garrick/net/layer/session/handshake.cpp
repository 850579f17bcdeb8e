#include "garrick/net/layer/session/handshake.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {
namespace {

constexpr std::array<char, 4> magic{'G', 'R', 'C', 'K'};
constexpr std::size_t length_size = 4;  // of a frame
constexpr std::byte resumes_flag{1};
constexpr std::byte anew_flag{2};

template <class T>
void put(packet& to, T number) {
  store_le(to.append(sizeof(T)), number);
}

/// Takes numbers from the front of some bytes; `ok` is false once there were too few bytes.
struct reader {
  std::span<const std::byte> rest;
  bool ok = true;

  template <class T>
  T number() {
    const std::span<const std::byte> from = bytes(sizeof(T));
    return ok ? load_le<T>(from.data()) : T{};
  }
  std::span<const std::byte> bytes(std::size_t n) {
    if (!ok || rest.size() < n) {
      ok = false;
      return {};
    }
    const std::span<const std::byte> taken = rest.first(n);
    rest = rest.subspan(n);
    return taken;
  }
};

void put_head(packet& to, session_packet kind) {
  put(to, static_cast<std::uint8_t>(kind));
  to.append(std::as_bytes(std::span(magic)));
}

void put_identity(packet& to, const peer_identity& who) {
  put(to, who.node.low);
  put(to, who.node.high);
  put(to, who.incarnation);
}

peer_identity read_identity(reader& from) {
  peer_identity who;
  who.node.low = from.number<std::uint64_t>();
  who.node.high = from.number<std::uint64_t>();
  who.incarnation = from.number<std::uint64_t>();
  return who;
}

bool read_head(reader& from) {
  from.bytes(1);
  const std::span<const std::byte> mark = from.bytes(magic.size());
  return from.ok && std::memcmp(mark.data(), magic.data(), magic.size()) == 0;
}

version_range read_versions(reader& from) {
  version_range v;
  v.lowest = from.number<std::uint16_t>();
  v.highest = from.number<std::uint16_t>();
  return v;
}

/// Returns a text from outside that is safe to show: all but printable ASCII becomes dots.
std::string shown(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    const auto c = static_cast<char>(b);
    text.push_back(c >= ' ' && c <= '~' ? c : '.');
  }
  return text;
}

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

}  // namespace

std::optional<std::uint16_t> version_range::common(const version_range& other) const noexcept {
  const std::uint16_t newest = std::min(highest, other.highest);
  if (newest < std::max(lowest, other.lowest)) return std::nullopt;
  return newest;
}

std::string version_range::to_string() const {
  return std::to_string(lowest) + " to " + std::to_string(highest);
}

void capability_set::add(std::size_t number) noexcept {
  GARRICK_ASSERT(number < size, "there are 256 capabilities");
  bits_[number / 8] |= std::byte{1} << (number % 8);
}

bool capability_set::has(std::size_t number) const noexcept {
  return number < size && (bits_[number / 8] >> (number % 8) & std::byte{1}) != std::byte{0};
}

capability_set capability_set::common(const capability_set& other) const noexcept {
  capability_set both;
  for (std::size_t i = 0; i != bits_.size(); ++i) both.bits_[i] = bits_[i] & other.bits_[i];
  return both;
}

std::span<const std::byte> capability_set::bytes() const noexcept {
  std::size_t used = bits_.size();
  while (used != 0 && bits_[used - 1] == std::byte{0}) --used;
  return std::span(bits_).first(used);
}

capability_set capability_set::from(std::span<const std::byte> bytes) noexcept {
  capability_set set;
  std::copy_n(bytes.begin(), std::min(bytes.size(), set.bits_.size()), set.bits_.begin());
  return set;
}

void encode_hello(session_packet kind, const hello& h, packet& to) {
  const std::span<const std::byte> capabilities = h.capabilities.bytes();
  const std::string_view program = std::string_view(h.program).substr(0, longest_program);
  put_head(to, kind);
  put(to, h.versions.lowest);
  put(to, h.versions.highest);
  put_identity(to, h.self);
  put(to, h.to);
  put(to, static_cast<std::uint8_t>((h.resumes ? resumes_flag : std::byte{0}) |
                                    (h.begins_anew ? anew_flag : std::byte{0})));
  put(to, h.interval);
  put(to, h.layers);
  put(to, static_cast<std::uint8_t>(capabilities.size()));
  to.append(capabilities);
  put(to, static_cast<std::uint8_t>(program.size()));
  to.append(std::as_bytes(std::span(program)));
  put(to, h.number);
  put(to, h.proof);
}

std::optional<hello> decode_hello(std::span<const std::byte> packet) {
  reader from{packet};
  if (packet.size() > largest_hello || !read_head(from)) return std::nullopt;
  hello h;
  h.versions = read_versions(from);
  h.self = read_identity(from);
  h.to = from.number<std::uint64_t>();
  const std::byte flags{from.number<std::uint8_t>()};
  h.resumes = (flags & resumes_flag) != std::byte{0};
  h.begins_anew = (flags & anew_flag) != std::byte{0};
  h.interval = from.number<std::uint32_t>();
  h.layers = from.number<std::uint32_t>();
  h.capabilities = capability_set::from(from.bytes(from.number<std::uint8_t>()));
  const std::span<const std::byte> program = from.bytes(from.number<std::uint8_t>());
  h.number = from.number<std::uint64_t>();
  h.proof = from.number<std::uint64_t>();
  if (!from.ok || h.self.incarnation == 0 || h.number == 0 ||
      h.versions.lowest > h.versions.highest)
    return std::nullopt;
  h.program = shown(program.first(std::min(program.size(), longest_program)));
  return h;
}

void encode_refusal(const refusal_notice& r, packet& to) {
  put_head(to, session_packet::refuse);
  put(to, r.versions.lowest);
  put(to, r.versions.highest);
  put(to, r.to);
  put(to, r.proof);
  put(to, static_cast<std::uint8_t>(r.why));
  const std::string_view words = std::string_view(r.words).substr(0, longest_words);
  const bool names_itself = r.self.incarnation != 0;
  if (words.empty() && !names_itself) return;
  put(to, static_cast<std::uint8_t>(words.size()));
  to.append(std::as_bytes(std::span(words)));
  if (names_itself) put_identity(to, r.self);
}

std::optional<refusal_notice> decode_refusal(std::span<const std::byte> packet) {
  reader from{packet};
  if (packet.size() > largest_hello || !read_head(from)) return std::nullopt;
  refusal_notice r;
  r.versions = read_versions(from);
  r.to = from.number<std::uint64_t>();
  r.proof = from.number<std::uint64_t>();
  r.why = static_cast<refusal>(from.number<std::uint8_t>());
  if (!from.ok) return std::nullopt;
  const std::span<const std::byte> words = from.bytes(from.number<std::uint8_t>());
  if (from.ok) r.words = shown(words.first(std::min(words.size(), longest_words)));
  const peer_identity self = read_identity(from);
  if (from.ok) r.self = self;
  return r;
}

void encode_parting(std::string_view words, packet& to) {
  words = words.substr(0, longest_words);
  put(to, static_cast<std::uint8_t>(parting::refused));
  to.append(std::as_bytes(std::span(words)));
}

std::string parting_text(std::span<const std::byte> body) {
  const auto why = body.empty() ? parting{} : static_cast<parting>(body[0]);
  if (why == parting::given_up)
    return "the peer has heard nothing of this end, and has given it up";
  if (why != parting::refused) return "the peer has left";
  const std::span<const std::byte> words = body.subspan(1);
  return "the peer has ended the session: " +
         shown(words.first(std::min(words.size(), longest_words)));
}

bool has_mark(std::span<const std::byte> packet) noexcept {
  reader from{packet};
  return read_head(from);
}

base::error foreign_protocol(std::span<const std::byte> first_bytes) {
  if (first_bytes.empty())
    return base::make_error(net_errc::not_garrick, "handshake", "the first packet is empty");
  constexpr std::array<std::string_view, 6> http{"GET ", "POST", "HEAD", "PUT ", "HTTP", "OPTI"};
  const auto is_http = [&](std::string_view word) { return begins_with(first_bytes, word); };
  const std::string begin = shown(first_bytes.first(std::min<std::size_t>(first_bytes.size(), 16)));
  if (std::any_of(http.begin(), http.end(), is_http))
    return base::make_error(net_errc::not_garrick, "handshake",
                            "the other end speaks HTTP: \"" + begin + "\"");
  if (begins_with(first_bytes, "\x16\x03"))
    return base::make_error(net_errc::not_garrick, "handshake", "the other end speaks TLS");
  return base::make_error(net_errc::not_garrick, "handshake",
                          "the first bytes are \"" + begin + "\"");
}

peeked peek_datagram(std::span<const std::byte> datagram) {
  peeked result;
  if (!datagram.empty() && static_cast<session_packet>(datagram[0]) == session_packet::hello) {
    if (std::optional<hello> h = decode_hello(datagram)) {
      result.what = peeked::kind::found;
      result.says = *std::move(h);
      return result;
    }
  }
  result.what = peeked::kind::foreign;
  result.why = foreign_protocol(datagram);
  return result;
}

peeked peek_stream(std::span<const std::byte> bytes) {
  if (bytes.size() < length_size) return {};
  const std::size_t size = load_le<std::uint32_t>(bytes.data());
  if (size > largest_hello || size == 0)
    return {peeked::kind::foreign, {}, foreign_protocol(bytes)};
  const std::span<const std::byte> rest = bytes.subspan(length_size);
  if (rest.size() >= size) return peek_datagram(rest.first(size));
  // A stranger is recognised by its first bytes, so it does not wait for the rest of a hello.
  constexpr std::array<char, 5> head{static_cast<char>(session_packet::hello), 'G', 'R', 'C', 'K'};
  if (std::memcmp(rest.data(), head.data(), std::min(rest.size(), head.size())) != 0)
    return {peeked::kind::foreign, {}, foreign_protocol(bytes)};
  return {};
}

}  // namespace garrick::net
