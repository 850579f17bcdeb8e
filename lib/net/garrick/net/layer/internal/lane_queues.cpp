#include "garrick/net/layer/internal/lane_queues.hpp"

#include <algorithm>
#include <utility>

#include "garrick/net/layer/internal/reserved_lanes.hpp"

namespace garrick::net::internal {

lane_queues::lane_queue& lane_queues::queue(lane_number lane) {
  std::unique_ptr<page>& p = pages_[lane / lanes_in_page];
  if (!p) p = std::make_unique<page>();
  return (*p)[lane % lanes_in_page];
}

bool lane_queues::lane_empty(lane_number lane) const noexcept {
  const std::unique_ptr<page>& p = pages_[lane / lanes_in_page];
  return !p || (*p)[lane % lanes_in_page].messages.empty();
}

void lane_queues::push_turn(lane_number lane) noexcept {
  turns_[(first_turn_ + turn_count_++) % turns_.size()] = lane;
}

lane_number lane_queues::pop_turn() noexcept {
  const lane_number lane = turns_[first_turn_];
  first_turn_ = (first_turn_ + 1) % turns_.size();
  --turn_count_;
  return lane;
}

void lane_queues::count(lane_number lane, std::size_t size, bool is_new) noexcept {
  sum& used = used_[is_reserved(lane) ? 1 : 0];
  const std::uint64_t large = size > large_message && !is_reserved(lane) ? size : 0;
  used.messages = is_new ? used.messages + 1 : used.messages - 1;
  used.bytes = is_new ? used.bytes + size : used.bytes - size;
  large_bytes_ = is_new ? large_bytes_ + large : large_bytes_ - large;
}

void lane_queues::push(outgoing m) {
  const lane_number lane = m.lane;
  const std::size_t size = m.bytes.size();
  lane_queue& q = queue(lane);
  q.messages.push_back(std::move(m));
  if (q.messages.size() == 1 && !is_reserved(lane)) push_turn(lane);
  count(lane, size, true);
}

bool lane_queues::may_go(lane_number lane, std::size_t whole) {
  const lane_queue& q = queue(lane);
  const std::size_t size = q.messages.front().bytes.size();
  if (q.begun || size <= whole) return true;
  const sum& now = under_way_[is_reserved(lane) ? 1 : 0];
  return now.messages == 0 ||
         (now.messages < limits_.messages && now.bytes + size <= limits_.bytes);
}

bool lane_queues::take(turn& t, std::size_t whole, std::size_t piece) {
  for (const lane_number lane : {system_lane, layer_lane}) {
    if (lane_empty(lane) || !may_go(lane, whole)) continue;
    take_from(lane, t, whole, piece);
    return true;
  }
  for (std::size_t tried = turn_count_; tried != 0; --tried) {
    const lane_number lane = turns_[first_turn_];
    const bool goes = may_go(lane, whole);
    if (goes) take_from(lane, t, whole, piece);
    static_cast<void>(pop_turn());
    if (!lane_empty(lane)) push_turn(lane);
    if (goes) return true;
  }
  return false;
}

void lane_queues::take_from(lane_number lane, turn& t, std::size_t whole, std::size_t piece) {
  lane_queue& q = queue(lane);
  if (q.begun || q.messages.front().bytes.size() > whole) {
    take_piece(lane, t, piece);
    return;
  }
  count(lane, q.messages.front().bytes.size(), false);
  t = {.m = std::move(q.messages.front()), .is_whole = true};
  q.messages.pop_front();
}

void lane_queues::take_piece(lane_number lane, turn& t, std::size_t piece) {
  lane_queue& q = queue(lane);
  const outgoing& m = q.messages.front();
  const std::size_t total = m.bytes.size();
  const std::size_t size = std::min(piece, total - q.offset);
  // The piece has as much room in front as the message: the layers below need no more.
  packet bytes = packet::copy_of(m.bytes.bytes().subspan(q.offset, size), m.bytes.room_in_front());
  const std::size_t kind = is_reserved(lane) ? 1 : 0;
  const bool is_first = !std::exchange(q.begun, true);
  if (is_first) {
    q.id = next_id_++;
    ++under_way_[kind].messages;
    under_way_[kind].bytes += total;
  }
  t = {.m = {std::move(bytes), lane},
       .id = q.id,
       .total = static_cast<std::uint32_t>(total),
       .offset = q.offset,
       .is_first = is_first};
  q.offset += static_cast<std::uint32_t>(size);
  if (q.offset != total) return;
  q.messages.pop_front();
  q.offset = 0;
  q.begun = false;
  --under_way_[kind].messages;
  under_way_[kind].bytes -= total;
  count(lane, total, false);
}

}  // namespace garrick::net::internal
