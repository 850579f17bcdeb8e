// A layer that keeps the order in each lane, over a transport without order (paper 004, §5 and
// figure 5).
//
// Each message carries its lane and the lane's next number. The receiver passes up the next
// message, and copies and holds those that come too early. Held messages are released, beginning
// with the smallest number, when the missing message comes, when a held message has waited for the
// time-out, or when there is no room for another one. At a time-out or without room the gap is
// given up: if the missing message comes after all, it is late, and dropped.
//
// Over a reliable layer no message is missing for ever. So there is no time-out, and no gap is
// given up: the window of that layer bounds the held messages. A peer that goes further ends the
// link, because to drop its message would lose it silently.
//
// A peer chooses the order of its messages, so each costs at most the logarithm of the held ones.
//
// Numbers have 16 bits and are compared by their distance, so at most 32767 messages of a lane may
// be lost in a row. After more losses, the messages that follow count as late until the numbers
// have come round.
//
// Invariants:
//   O1  The numbers that are passed up in a lane only grow, by distance; none is passed up twice.
//   O2  In a lane with held messages, the smallest held number is beyond the next one: between
//       calls no message is held that could be passed up.
//   O3  Each datagram that has come was passed up, is held, or was counted as late, a duplicate or
//       malformed.
//   O4  Over a layer that is not reliable, no message is held for longer than the time-out, and a
//       lane holds at most `pending` messages. Everywhere, the messages held in ordinary lanes and
//       those held in the system's lanes stay within the limit in bytes, each group for itself.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "garrick/net/layer/detail/early_messages.hpp"
#include "garrick/net/layer/layer.hpp"

namespace garrick::net {

/// Settings of `ordering`.
struct ordering_settings {
  /// The most messages that a lane holds, if the layer below is not reliable.
  std::uint16_t pending = 64;
  /// The most bytes that all ordinary lanes hold; the lanes 0 and 255 have as much for themselves.
  /// Each message counts `overhead` bytes more.
  std::uint32_t bytes = 1u << 20;
  /// The time that a message waits for earlier ones, if the layer below is not reliable.
  base::duration timeout = base::duration::milliseconds(100);
  /// Over a reliable layer: the largest distance of a message from the next one of its lane. Not
  /// less than the messages that the layer below sends before the oldest of them is acknowledged,
  /// and at most 32767: over `reliability` at least `sequence_window`. A peer that goes further
  /// ends the link.
  std::uint16_t window = 16384;
  /// Like `bytes`, over a reliable layer, where more ends the link: at least the unacknowledged
  /// bytes that the layer below keeps.
  std::uint32_t window_bytes = 64u << 20;
};

/// Counters of `ordering`, since the link began.
struct ordering_counters {
  std::uint64_t gaps = 0;               ///< a lane without held messages had to hold one
  std::uint64_t given_up = 0;           ///< messages that were waited for no longer
  std::uint64_t late = 0;               ///< messages given up, or very old, that came: dropped
  std::uint64_t duplicates = 0;         ///< messages that came once more: dropped
  std::uint64_t malformed = 0;          ///< datagrams without a whole header: dropped
  std::uint64_t released_by_time = 0;   ///< gaps given up because the time-out had come
  std::uint64_t released_for_room = 0;  ///< gaps given up because there was no room
  std::uint64_t held = 0;               ///< messages held now
  std::uint64_t held_bytes = 0;         ///< their bytes, without `ordering::overhead`

  /// Returns all counters with their names.
  [[nodiscard]] auto named() const noexcept {
    return std::array{layer_count{"gaps", gaps},
                      layer_count{"given_up", given_up},
                      layer_count{"late", late},
                      layer_count{"duplicates", duplicates},
                      layer_count{"malformed", malformed},
                      layer_count{"released_by_time", released_by_time},
                      layer_count{"released_for_room", released_for_room},
                      layer_count{"held", held},
                      layer_count{"held_bytes", held_bytes}};
  }
};

/// Keeps messages of a lane in order, over datagrams. Carries the lane.
class ordering : public layer_defaults {
 public:
  /// The layer's name on the wire; see layer/layer.hpp.
  static constexpr std::string_view wire_name = "ordering";
  static constexpr std::size_t header_size = 3;  ///< the lane, and the number
  static constexpr std::size_t overhead = 64;    ///< bytes that count for each held message
  /// Returns the reason why the layer does not fit on `below`, or `none`.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    if (!below.messages) return misfit::needs_messages_as_framing_makes_them;
    return below.ordered ? misfit::what_is_below_has_order_already : misfit::none;
  }
  /// Returns `below` with order in each lane, and lanes. Requires messages without order.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept;

  /// Checks the settings. Returns `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const ordering_settings& s);

  /// Makes a layer that has seen no message.
  explicit ordering(ordering_settings s = {}) noexcept : settings_(s) {}

  /// Puts lane and number in front and sends the message.
  void send(outgoing&& m, layer_context& c);
  /// Passes up the next message, and those that were held for it.
  void receive(const incoming& m, layer_context& c);
  /// Passes up the held messages before a peer's end, unless a reliable layer promised the missing
  /// ones.
  void notice(const link_event& e, layer_context& c);
  /// Gives up the gaps before messages that have waited long enough.
  void advance(layer_context& c);
  /// Returns the time at which the oldest held message has waited long enough.
  [[nodiscard]] base::instant deadline() const noexcept { return deadline_; }

  /// Returns the counters so far.
  [[nodiscard]] const ordering_counters& counters() const noexcept { return counters_; }

 private:
  /// A lane that was used. The history has a bit for each of the 32 numbers before `next_in`, the
  /// lowest for the last: set if that number was given up and has not come since.
  struct lane_state {
    std::uint16_t next_out = 0;
    std::uint16_t next_in = 0;
    std::uint32_t given_up = 0;
  };
  static constexpr std::size_t lanes_in_page = 16;
  using page = std::array<lane_state, lanes_in_page>;

  /// A lane that holds messages. Never empty.
  struct waiting_lane {
    lane_number lane = 0;
    detail::early_messages<packet> messages;
  };

  [[nodiscard]] lane_state& state(lane_number lane);
  [[nodiscard]] waiting_lane* waiting(lane_number lane) noexcept;
  [[nodiscard]] std::uint64_t& bytes_held(lane_number lane) noexcept;

  void come_late(lane_state& s, std::uint16_t behind) noexcept;
  void come_early(const incoming& m, std::uint16_t number, layer_context& c);
  [[nodiscard]] bool is_held(lane_number lane, std::uint16_t number);
  [[nodiscard]] bool has_room(lane_number lane, std::size_t bytes) noexcept;
  void make_room(lane_number lane, std::uint16_t number, layer_context& c);
  void hold(const incoming& m, std::uint16_t number, layer_context& c);
  void take(lane_state& s) noexcept;
  void skip_to(lane_state& s, std::uint16_t number) noexcept;
  void give_up(lane_number lane, layer_context& c);
  void release(lane_number lane, layer_context& c);
  void release_all(layer_context& c);
  [[nodiscard]] packet take_front(waiting_lane& w) noexcept;
  void forget_held() noexcept;
  void find_deadline() noexcept;
  void end(layer_context& c);

  ordering_settings settings_;
  ordering_counters counters_;
  std::array<std::unique_ptr<page>, 256 / lanes_in_page> pages_;
  std::vector<waiting_lane> waiting_;
  std::array<std::uint64_t, 2> bytes_held_{};  ///< of ordinary lanes, and of 0 and 255
  base::instant deadline_ = base::instant::never();
  bool ended_ = false;
};

constexpr properties ordering::provides(properties below) noexcept {
  below.once = true;
  below.ordered = true;
  below.lanes = true;
  return below;
}

}  // namespace garrick::net
