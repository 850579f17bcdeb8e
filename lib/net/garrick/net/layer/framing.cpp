#include "garrick/net/layer/framing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/internal/setting_checks.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {
namespace {

constexpr std::size_t size_of_length = framing::header_size;

/// Returns the four bytes of a length as text if all are printable ASCII: then the other end
/// probably speaks a text protocol. Returns an empty text otherwise.
std::string as_text(const std::byte* length) {
  std::string text;
  for (std::size_t i = 0; i != size_of_length; ++i) {
    const auto c = static_cast<char>(length[i]);
    if (c < ' ' || c > '~') return {};
    text.push_back(c);
  }
  return text;
}

}  // namespace

base::error framing::check(const framing_settings& s) {
  return internal::check_range("framing.largest", s.largest, 1);
}

void framing::send(outgoing&& m, layer_context& c) {
  const auto size = static_cast<std::uint32_t>(m.bytes.size());
  store_le(m.bytes.prepend(size_of_length), size);
  c.down(std::move(m));
}

std::size_t framing::frame_size(const std::byte* length, layer_context& c) {
  const std::size_t size = load_le<std::uint32_t>(length);
  if (size <= limit_) return size_of_length + size;
  broken_ = true;
  partial_.clear();
  const std::string text = as_text(length);
  c.notify(
      {link_event::kind::disconnected, 0,
       base::make_error(net_errc::too_large, "framing",
                        "a frame of " + std::to_string(size) + " bytes" +
                            (text.empty() ? "" : ", or the text \"" + text + "\"") +
                            (limit_ < settings_.largest ? ", where the handshake takes at most "
                                                        : ", where net.framing_largest allows ") +
                            std::to_string(limit_))});
  c.close();
  return 0;
}

std::span<const std::byte> framing::complete(std::span<const std::byte> bytes, layer_context& c) {
  const auto take = [&](std::size_t n) {
    n = std::min(n, bytes.size());
    partial_.insert(partial_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    bytes = bytes.subspan(n);
  };
  if (partial_.size() < size_of_length) take(size_of_length - partial_.size());
  if (partial_.size() < size_of_length) return {};
  const std::size_t size = frame_size(partial_.data(), c);
  if (size == 0) return {};
  take(size - partial_.size());
  if (partial_.size() < size) return {};
  // The layers above do not call this layer's `receive`, but the owner may end the stack's
  // connection during `up`, which clears partial_ (F1).
  const std::vector<std::byte> whole = std::exchange(partial_, {});
  static_cast<void>(c.up({std::span(whole).subspan(size_of_length)}));
  return bytes;
}

void framing::receive(const incoming& m, layer_context& c) {
  std::span<const std::byte> bytes = m.bytes;
  if (broken_) return;
  if (!partial_.empty()) bytes = complete(bytes, c);
  while (bytes.size() >= size_of_length && !broken_) {
    const std::size_t size = frame_size(bytes.data(), c);
    if (size == 0) return;
    if (size > bytes.size()) break;
    static_cast<void>(c.up({bytes.subspan(size_of_length, size - size_of_length)}));
    bytes = bytes.subspan(size);
  }
  if (!broken_) partial_.insert(partial_.end(), bytes.begin(), bytes.end());
}

void framing::expect_at_most(std::size_t bytes, layer_context&) noexcept {
  limit_ = std::min<std::size_t>(bytes, settings_.largest);
}

void framing::notice(const link_event& e, layer_context& c) {
  if (e.what == link_event::kind::connected || e.what == link_event::kind::disconnected) {
    limit_ = settings_.largest;
    partial_ = {};
    broken_ = e.what == link_event::kind::disconnected;
  }
  c.notify(e);
}

}  // namespace garrick::net
