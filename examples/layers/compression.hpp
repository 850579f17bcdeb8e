// Your own layer: it compresses messages with zstd.
#pragma once

#include <garrick/net/error.hpp>
#include <garrick/net/layer/layer.hpp>
#include <garrick/net/stack/stacks.hpp>

#include <zstd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::net;

// [layer]
// One byte in front marks a compressed message. Unpacked data of a peer may have any size, so a
// limit is checked before memory is allocated.
class compression : public layer_defaults {
 public:
  static constexpr std::string_view wire_name = "compression";
  static constexpr std::size_t header_size = 1;
  static constexpr std::size_t worth_it = 128;  // bytes

  explicit compression(std::size_t largest)
      : largest_(largest), packer_(ZSTD_createCCtx()), unpacker_(ZSTD_createDCtx()) {}
  // For a catalogue of stacks.
  explicit compression(const link_settings& s) : compression(s.slicing.largest) {}

  void send(outgoing&& m, layer_context& c) {
    const std::size_t size = m.bytes.size();
    counters_.bytes += size;
    std::byte kind = as_it_is;
    if (size >= worth_it) {
      const std::size_t most = ZSTD_compressBound(size);
      packet packed = packet::with_room(m.bytes.room_in_front(), most);
      const std::size_t n = ZSTD_compressCCtx(packer_.get(), packed.append(most), most,
                                              m.bytes.bytes().data(), size, level);
      if (!ZSTD_isError(n) && n < size) {
        packed.keep_front(n);
        m.bytes = std::move(packed);
        kind = compressed;
      }
    }
    counters_.packed += m.bytes.size();
    *m.bytes.prepend(1) = kind;
    c.down(std::move(m));
  }

  void receive(const incoming& m, layer_context& c) {
    const bool is_packed = !m.bytes.empty() && m.bytes[0] == compressed;
    if (!is_packed && (m.bytes.empty() || m.bytes[0] != as_it_is)) return refuse(c);
    std::span<const std::byte> bytes = m.bytes.subspan(1);
    std::vector<std::byte> whole;
    if (is_packed) {
      // An unknown size is also larger than any limit.
      const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
      if (size > largest_) return refuse(c);
      whole.resize(size);
      const std::size_t n = ZSTD_decompressDCtx(unpacker_.get(), whole.data(), whole.size(),
                                                bytes.data(), bytes.size());
      if (ZSTD_isError(n) || n != size) return refuse(c);
      bytes = whole;
    }
    static_cast<void>(c.up(m.with(bytes)));
  }

  [[nodiscard]] std::size_t largest() const { return largest_; }
  [[nodiscard]] int refused() const { return refused_; }

  // The counts of sent messages, which any_link::counters and node::counters show.
  struct sent {
    std::uint64_t bytes = 0;
    std::uint64_t packed = 0;
    [[nodiscard]] auto named() const {
      return std::array{layer_count{"bytes", bytes}, layer_count{"packed", packed}};
    }
  };
  [[nodiscard]] const sent& counters() const { return counters_; }

 private:
  static constexpr std::byte as_it_is{0};
  static constexpr std::byte compressed{1};
  static constexpr int level = 3;

  // Drops the message if the layer below may lose messages anyway. Over a reliable layer it ends
  // the link, and tells the peer the reason.
  void refuse(layer_context& c) {
    ++refused_;
    if (c.below().reliable) c.end(net_errc::decode_failed);
  }

  struct free_context {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::size_t largest_;
  std::unique_ptr<ZSTD_CCtx, free_context> packer_;
  std::unique_ptr<ZSTD_DCtx, free_context> unpacker_;
  int refused_ = 0;
  sent counters_;
};
// [/layer]
