#include "garrick/net/wire/byte_reader.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "garrick/net/error.hpp"

namespace garrick::net {

namespace {

constexpr std::uint64_t more_follows = 0x8080'8080'8080'8080u;

/// Returns the low seven bits of each byte, side by side. To move bits down by n places, the code
/// subtracts 2^n - 1 times their value at the new place.
constexpr std::uint64_t gathered(std::uint64_t bytes) noexcept {
  std::uint64_t x = bytes & ~more_follows;
  x -= (x >> 1) & 0x3f80'3f80'3f80'3f80u;
  x -= ((x >> 2) & 0x0fff'c000'0fff'c000u) * 3;
  x -= ((x >> 4) & 0x00ff'ffff'f000'0000u) * 15;
  return x;
}

}  // namespace

std::uint64_t byte_reader::long_varint() noexcept {
  // If eight bytes are left, they are read at once. The loop below takes the other cases, and finds
  // the reason of a failure.
  const auto left = static_cast<std::size_t>(end_ - at_);
  if (left >= 8) [[likely]] {
    const auto bytes = load_le<std::uint64_t>(at_);
    if (const std::uint64_t ends = ~bytes & more_follows; ends != 0) [[likely]] {
      const int last = std::countr_zero(ends);  // the highest bit of the last byte
      const std::uint64_t own = bytes & (~std::uint64_t{0} >> (63 - last));
      if (own >> (last - 7) != 0) [[likely]] {
        at_ += (last + 1) / 8;
        return gathered(own);
      }
    } else if (left >= 10) {
      // All eight bits of the ninth byte belong to the number: its highest bit says that a tenth
      // byte follows, and that byte can only be 1.
      const auto ninth = std::to_integer<std::uint64_t>(at_[8]);
      const std::uint64_t tenth = ninth >> 7;
      if (ninth != 0 && (tenth == 0 || at_[9] == std::byte{1})) [[likely]] {
        at_ += 9 + tenth;
        return gathered(bytes) | ninth << 56;
      }
    }
  }
  std::uint64_t x = 0;
  const std::byte* at = at_;
  for (unsigned shift = 0; at != end_; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(*at++);
    if (shift == 63 && byte > 1) {
      fail("a number above 64 bits");
      return 0;
    }
    x |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte >= 0x80) continue;
    if (byte == 0 && shift != 0) {
      fail("a number that is longer than it needs to be", x);
      return 0;
    }
    at_ = at;
    return x;
  }
  fail("the bytes end too early");
  return 0;
}

byte_reader::part byte_reader::open_part() noexcept {
  const std::size_t length = count(1);
  const part outer{end_};
  if (depth_ == 0) fail("aggregates lie too deep in each other");
  if (failed()) return outer;
  --depth_;
  end_ = at_ + length;
  return outer;
}

void byte_reader::fail(std::string_view why, std::uint64_t number, bool has_number) noexcept {
  if (!failed()) {
    why_ = why.empty() ? "no reason" : why;
    number_ = number;
    has_number_ = has_number;
  }
  end_ = at_;
}

bool byte_reader::too_much(std::size_t count, std::size_t size) noexcept {
  if (failed()) return false;
  std::size_t wanted = 0;
  if (__builtin_mul_overflow(count, size, &wanted))
    wanted = std::numeric_limits<std::size_t>::max();
  fail("it would take more memory than is allowed", wanted, false);
  wants_memory_ = true;
  return false;
}

void byte_reader::blame(std::string_view type, std::size_t field) noexcept {
  if (!failed() || !type_.empty()) return;
  type_ = type;
  field_ = field;
}

base::error byte_reader::failure() const {
  if (!failed()) return {};
  std::string where;
  if (!type_.empty()) where = std::string(type_) + ", field " + std::to_string(field_) + ", ";
  where += "byte " + std::to_string(position());
  std::string why(why_);
  if (wants_memory_)
    why += ": " + std::to_string(number_) + " bytes more, and a message may take " +
           std::to_string(most_memory_) + " in all";
  if (has_number_) why += " (" + std::to_string(number_) + ")";
  return base::make_error(net_errc::decode_failed, where, why);
}

}  // namespace garrick::net
