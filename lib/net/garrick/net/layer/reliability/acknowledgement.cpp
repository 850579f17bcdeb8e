#include "garrick/net/layer/reliability/acknowledgement.hpp"

#include "garrick/net/little_endian.hpp"

namespace garrick::net {

void encode(std::byte* to, const acknowledgement& a) noexcept {
  store_le(to, a.next);
  store_le(to + 4, a.newest);
  store_le(to + 8, a.attempt);
  store_le(to + 9, a.delay);
  store_le(to + 11, a.range_count);
  to += acknowledgement::fixed_size;
  for (std::size_t i = 0; i < a.range_count; ++i, to += acknowledgement::range_size) {
    store_le(to, a.ranges[i].offset);
    store_le(to + 2, a.ranges[i].count);
  }
}

namespace {

bool decode(std::span<const std::byte> bytes, acknowledgement& into) noexcept {
  if (bytes.size() < acknowledgement::fixed_size) return false;
  const std::byte* at = bytes.data();
  into.next = load_le<std::uint32_t>(at);
  into.newest = load_le<std::uint32_t>(at + 4);
  into.attempt = load_le<std::uint8_t>(at + 8);
  into.delay = load_le<std::uint16_t>(at + 9);
  into.range_count = load_le<std::uint8_t>(at + 11);
  if (into.range_count > acknowledgement::most_ranges || bytes.size() < into.size()) return false;
  at += acknowledgement::fixed_size;
  std::uint32_t lowest = 1;  // the packet `next` itself has not come
  for (std::size_t i = 0; i < into.range_count; ++i, at += acknowledgement::range_size) {
    packet_range& r = into.ranges[i];
    r = {load_le<std::uint16_t>(at), load_le<std::uint16_t>(at + 2)};
    const std::uint32_t end = std::uint32_t{r.offset} + r.count;
    if (r.count == 0 || r.offset < lowest || end > sequence_window) return false;
    lowest = end + 1;
  }
  return true;
}

}  // namespace

bool decode(std::span<const std::byte> bytes, reliability_header& into) noexcept {
  if (bytes.empty()) return false;
  const std::byte flags = bytes[0];
  const auto known = reliability_header::with_packet | reliability_header::with_acknowledgement |
                     reliability_header::with_part;
  if (flags == std::byte{0} || (flags & ~known) != std::byte{0}) return false;
  into.has_packet = (flags & reliability_header::with_packet) != std::byte{0};
  into.acknowledges = (flags & reliability_header::with_acknowledgement) != std::byte{0};
  into.has_part = (flags & reliability_header::with_part) != std::byte{0};
  if (into.has_part && !into.has_packet) return false;
  into.size = reliability_header::flags_size;
  if (into.has_packet) {
    if (bytes.size() < into.size + reliability_header::packet_size) return false;
    into.number = load_le<std::uint32_t>(bytes.data() + into.size);
    into.attempt = load_le<std::uint8_t>(bytes.data() + into.size + 4);
    into.size += reliability_header::packet_size;
  }
  if (into.acknowledges) {
    if (!decode(bytes.subspan(into.size), into.received)) return false;
    into.size += into.received.size();
  }
  if (into.has_part) {
    if (bytes.size() < into.size + reliability_header::part_size) return false;
    into.part.size = load_le<std::uint16_t>(bytes.data() + into.size);
    into.part.offset = load_le<std::uint16_t>(bytes.data() + into.size + 2);
    into.size += reliability_header::part_size;
    const std::size_t part = bytes.size() - into.size;
    if (part == 0 || into.part.offset + part > into.part.size) return false;
  }
  return into.has_packet || into.size == bytes.size();
}

}  // namespace garrick::net
