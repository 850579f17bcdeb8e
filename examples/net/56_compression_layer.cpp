// A layer of one's own: it compresses messages with zstd, and is put on top of a stack that cuts
// them into datagrams and keeps their order.
#include <garrick/net/error.hpp>
#include <garrick/net/layer/ordering.hpp>
#include <garrick/net/layer/slicing.hpp>
#include <garrick/net/stack/stack.hpp>

#include <zstd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::net;

// [layer]
// One byte in front says whether a message is compressed. What a peer has compressed may have any
// size when it is unpacked, so there is a limit, and the size is asked for before memory is.
class compression : public layer_defaults {
 public:
  static constexpr std::size_t header_size = 1;
  static constexpr std::size_t worth_it = 128;  // bytes

  explicit compression(std::size_t largest)
      : largest_(largest), packer_(ZSTD_createCCtx()), unpacker_(ZSTD_createDCtx()) {}

  void send(outgoing m, layer_context& c) {
    const std::size_t size = m.bytes.size();
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
    *m.bytes.prepend(1) = kind;
    c.down(std::move(m));
  }

  void receive(incoming m, layer_context& c) {
    const bool is_packed = !m.bytes.empty() && m.bytes[0] == compressed;
    if (!is_packed && (m.bytes.empty() || m.bytes[0] != as_it_is)) return refuse(c);
    m.bytes = m.bytes.subspan(1);
    std::vector<std::byte> whole;
    if (is_packed) {
      // Also larger than any limit: a size that is not known.
      const unsigned long long size = ZSTD_getFrameContentSize(m.bytes.data(), m.bytes.size());
      if (size > largest_) return refuse(c);
      whole.resize(size);
      const std::size_t n = ZSTD_decompressDCtx(unpacker_.get(), whole.data(), whole.size(),
                                                m.bytes.data(), m.bytes.size());
      if (ZSTD_isError(n) || n != size) return refuse(c);
      m.bytes = whole;
    }
    static_cast<void>(c.up(m));
  }

  [[nodiscard]] std::size_t largest() const { return largest_; }
  [[nodiscard]] int refused() const { return refused_; }

 private:
  static constexpr std::byte as_it_is{0};
  static constexpr std::byte compressed{1};
  static constexpr int level = 3;

  // Where a message may be lost anyway, it is dropped. Over a reliable layer the link has to end.
  void refuse(layer_context& c) {
    ++refused_;
    if (!c.below().reliable) return;
    c.notify({link_event::kind::down, 0, net_errc::decode_failed});
    c.close();
  }

  struct free_context {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::size_t largest_;
  std::unique_ptr<ZSTD_CCtx, free_context> packer_;
  std::unique_ptr<ZSTD_DCtx, free_context> unpacker_;
  int refused_ = 0;
};

using compressed_stack = stack<datagrams, compression, slicing, ordering>;
// [/layer]

// One end of a wire in memory: what it is given to send, it keeps until the other end takes it.
struct memory_end : carrier, link_owner {
  std::vector<packet> sent;
  std::size_t messages = 0;
  std::size_t bytes = 0;

  void transmit(packet p) override { sent.push_back(std::move(p)); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
  bool on_message(incoming m) override {
    ++messages;
    bytes += m.bytes.size();
    return true;
  }
  void on_event(const link_event&) override {}
};

// Hands over what was sent, and returns how many bytes that were.
std::size_t carry(memory_end& from, compressed_stack& to) {
  std::size_t bytes = 0;
  for (const packet& p : from.sent) {
    to.receive(p.bytes(), base::instant());
    bytes += p.size();
  }
  from.sent.clear();
  return bytes;
}

int main() {
  memory_end here;
  memory_end there;
  constexpr std::size_t limit = 1 << 20;
  compressed_stack sender(here, here, compression(32 * limit), slicing(), ordering());
  compressed_stack receiver(there, there, compression(limit), slicing(), ordering());
  const auto send = [&](const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    const base::error error = sender.send({packet::copy_of(bytes, sender.header_size())}, {});
    if (error) std::printf("not sent: %s\n", error.to_string().c_str());
    return carry(here, receiver);
  };

  std::size_t on_the_wire = 0;
  for (int hour = 0; hour < 24; ++hour) {
    std::string report;
    for (int minute = 0; minute < 60; ++minute)
      report += "station 7, hour " + std::to_string(hour) + ", minute " + std::to_string(minute) +
                ": wind from the west, " + std::to_string((hour * 60 + minute) % 9) + " knots\n";
    on_the_wire += send(report);
  }
  std::printf("%zu reports, %zu bytes\n", there.messages, there.bytes);
  std::printf("saved more than 80 %%: %s\n", on_the_wire * 5 < there.bytes ? "yes" : "no");

  // 32 megabytes of nothing fit into a few datagrams, but not into what the other end takes.
  const std::size_t bomb = send(std::string(32 * limit, '\0'));
  std::printf("a bomb of less than 10000 bytes: %s\n", bomb < 10'000 ? "yes" : "no");
  std::printf("refused: %d, reports: %zu\n", receiver.get<compression>().refused(), there.messages);
}
