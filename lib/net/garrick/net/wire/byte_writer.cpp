#include "garrick/net/wire/byte_writer.hpp"

#include <algorithm>
#include <string>

namespace garrick::net {

byte_writer::byte_writer(const writer_settings& s)
    : packet_(packet::with_room(s.front, std::min(s.expected, s.largest))),
      base_(packet_.append(std::min(s.expected, s.largest))),
      at_(base_),
      end_(base_ + std::min(s.expected, s.largest)),
      depth_(s.depth),
      largest_(s.largest),
      context_(s.context) {}

bool byte_writer::grow(std::size_t n) {
  if (failure_) return false;
  const std::size_t used = size();
  if (n > largest_ || used > largest_ - n) {
    fail(base::make_error(net_errc::too_large, "encoding",
                          "more than " + std::to_string(largest_) + " bytes"));
    return false;
  }
  packet_.keep_front(used);
  const std::size_t more = std::min(std::max(n, used), largest_ - used);
  base_ = packet_.append(more) - used;
  at_ = base_ + used;
  end_ = at_ + more;
  return true;
}

void byte_writer::close_part(part opened) {
  ++depth_;
  if (failure_) return;
  const std::size_t length = size() - opened.at - opened.width;
  const std::size_t width = varint_size(length);
  if (width != opened.width) {
    if (width > opened.width && room(width - opened.width) == nullptr) return;
    std::byte* const from = base_ + opened.at + opened.width;
    std::memmove(base_ + opened.at + width, from, length);
    at_ = base_ + opened.at + width + length;
  }
  static_cast<void>(store_varint(base_ + opened.at, length));
}

void byte_writer::fail(base::error why) {
  if (!failure_) failure_ = std::move(why);
  at_ = end_ = base_;
}

void byte_writer::too_deep() {
  // `close_part` will count this part, too.
  --depth_;
  fail(base::make_error(net_errc::not_encodable, "encoding",
                        "aggregates lie too deep in each other"));
}

base::result<packet> byte_writer::finish() && {
  if (failure_) return failure_;
  packet_.keep_front(size());
  return std::move(packet_);
}

}  // namespace garrick::net
