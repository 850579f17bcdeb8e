// For any bytes of a peer, and with a full layer below or not: each question ends once, by a frame
// with its number, and bytes that are not a frame are counted.
//
// Each step is a byte. Its lowest three bits choose the action, the others its object: a question
// is asked, time passes, the peer answers one of the questions, or the peer sends a number of the
// following bytes. The first byte sets how many questions may be open.
#include "garrick/net/layer/actor_protocol.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/stack/stack.hpp"

using namespace garrick;
using namespace garrick::net;

namespace {

constexpr actor_id alice{1, 11}, bob{2, 22};

/// The count of question numbers: so small that the peer often answers an open question by chance.
constexpr std::uint64_t numbers = 8;

[[nodiscard]] bool is_answer(frame_kind k) {
  return k == frame_kind::response || k == frame_kind::error || k == frame_kind::resolved ||
         k == frame_kind::spawned;
}

class end final : carrier, link_owner {
 public:
  explicit end(std::uint32_t most_questions)
      : link_(*this, *this, actor_protocol({.most_questions = most_questions})) {
    link_.connected(now_);
  }

  void step(std::span<const std::byte>& input) {
    const auto what = std::to_integer<unsigned>(input[0]);
    input = input.subspan(1);
    const unsigned rest = what / 8;
    switch (what % 8) {
      case 0:
      case 1:
      case 2: ask(rest, what % 8 == 1, what % 8 == 2); break;
      case 3: now_ = now_ + base::duration::milliseconds(rest); break;
      case 4: answer(rest, frame_kind::response); break;
      case 5: answer(rest, rest % 2 == 0 ? frame_kind::resolved : frame_kind::error); break;
      case 6: full_ = rest % 2 == 0; break;
      default: {
        const std::size_t size = std::min<std::size_t>(rest, input.size());
        receive(input.first(size));
        input = input.subspan(size);
      }
    }
    if (link_.deadline() <= now_) link_.advance(now_);
    GARRICK_ASSERT(link_.deadline() > now_, "a question outlives its time");
    GARRICK_ASSERT(link_.get<actor_protocol>().open_questions() == open_.size(),
                   "the asker and the layer count differently");
  }
  void leave() {
    link_.leave(now_);
    GARRICK_ASSERT(open_.empty(), "a question has no answer");
  }

 private:
  void transmit(packet p) override {
    GARRICK_ASSERT(decode_frame(p.bytes()).has_value(), "a sent message is a frame");
  }
  [[nodiscard]] bool writable() const override { return !full_; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
  void on_event(const link_event&) override {}
  bool on_message(const incoming& m) override {
    GARRICK_ASSERT(m.decoded != nullptr, "a frame comes up decoded");
    const base::result<frame> again = decode_frame(m.bytes);
    GARRICK_ASSERT(again && again->kind == m.decoded->kind && again->number == m.decoded->number,
                   "decoded is another frame");
    if (is_answer(m.decoded->kind))
      GARRICK_ASSERT(open_.erase(m.decoded->number) == 1, "an answer to no open question");
    return true;
  }

  void ask(unsigned rest, bool limited, bool name) {
    frame f{.kind = name ? frame_kind::resolve : frame_kind::request,
            .receiver = name ? actor_id{} : bob,
            .sender = alice,
            .number = rest % numbers};
    if (limited) f.time_left = base::duration::milliseconds(rest);
    if (open_.contains(f.number)) return;
    const std::uint64_t number = f.number;
    open_.emplace(number, f.kind);
    const base::error refused = link_.send(to_outgoing(f, packet::with_room(frame_room, 0)), now_);
    if (refused) open_.erase(number);
  }
  void answer(unsigned rest, frame_kind kind) {
    packet p = packet::with_room(frame_room, 0);
    prepend_header({.kind = kind,
                    .receiver = rest & 8 ? actor_id{} : alice,
                    .sender = rest & 16 ? alice : bob,
                    .number = rest % numbers},
                   p);
    receive(p.bytes());
  }
  void receive(std::span<const std::byte> bytes) {
    const std::uint64_t before = counters().malformed;
    link_.receive(bytes, now_);
    const bool is_frame = decode_frame(bytes).has_value();
    GARRICK_ASSERT(counters().malformed - before == (is_frame ? 0 : 1),
                   "a message that is no frame is counted, and nothing else");
  }
  [[nodiscard]] const actor_protocol_counters& counters() const {
    return link_.get<actor_protocol>().counters();
  }

  std::unordered_map<std::uint64_t, frame_kind> open_;
  base::instant now_{};
  bool full_ = false;
  stack<datagrams, actor_protocol> link_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  end here(data[0] % 16 + 1u);
  for (auto input = std::as_bytes(std::span(data, size)).subspan(1); !input.empty();)
    here.step(input);
  here.leave();
  return 0;
}
