"""Errors in the layers of lib/net that lose nothing: reliability, redelivery, actor_protocol."""

from mutation import mutation

LAYER = "lib/net/garrick/net/layer/"
PACKET = "lib/net/garrick/net/packet.cpp"
RELIABILITY = LAYER + "reliability.cpp"
RECEIVING = LAYER + "reliability_receive.cpp"
ACKNOWLEDGEMENT = LAYER + "reliability/acknowledgement.cpp"
RECEIVED = LAYER + "reliability/received_packets.cpp"
SENT = LAYER + "reliability/sent_packets.hpp"
CONGESTION = LAYER + "reliability/congestion.cpp"
ROUND_TRIP = LAYER + "reliability/round_trip.cpp"
REDELIVERY = LAYER + "redelivery.cpp"
COUNTS = LAYER + "redelivery_counts.cpp"
PROTOCOL = LAYER + "actor_protocol.cpp"
by_packet = ("net.packet",)
by_reliability = ("net.reliability", "net.reliability_limits")
by_link = ("net.reliability_link",)
by_acknowledgement = ("net.acknowledgement",)
by_congestion = ("net.congestion",)
by_redelivery = ("net.redelivery",)
by_lies = ("net.redelivery_lies",)
by_protocol = ("net.actor_protocol",)

MUTATIONS = [
    # ---- reliability
    mutation(
        "reliability: messages that wait for the window have no limit of their own",
        RELIABILITY,
        "  if (unsent_ >= settings_.most_unsent_bytes) full_ = true;\n",
        "",
        by_reliability,
    ),
    mutation(
        "reliability: room that the pace has made is not told",
        RELIABILITY,
        "  pump(c);\n  make_room(c);\n  if (acknowledge_at_",
        "  pump(c);\n  if (acknowledge_at_",
        by_reliability,
    ),
    mutation(
        "reliability: a message that passes at once counts as waiting",
        RELIABILITY,
        "  pump(c);\n  if (unsent_ >= settings_.most_unsent_bytes) full_ = true;\n",
        "  if (unsent_ >= settings_.most_unsent_bytes) full_ = true;\n  pump(c);\n",
        by_reliability,
    ),
    mutation(
        "reliability: room that there is when the peer is heard again is not told",
        RELIABILITY,
        "      c.notify(e);\n      make_room(c);\n",
        "      c.notify(e);\n",
        by_link,
    ),
    mutation(
        "reliability: room that the transport has made is not told",
        RELIABILITY,
        "      pump(c);\n      make_room(c);\n      return;",
        "      pump(c);\n      return;",
        by_reliability,
    ),
    mutation(
        "reliability: the newest packet that came may be one that was never sent",
        RECEIVING,
        "sequence_distance(a.newest, next) <= 0",
        "sequence_distance(a.newest, next) < 0",
        by_reliability,
    ),
    mutation(
        "reliability: ranges of packets that were never sent are believed",
        RECEIVING,
        "if (sequence_distance(a.next + last.offset + last.count, next) < 0) return false;",
        "static_cast<void>(last);",
        by_reliability,
    ),
    mutation(
        "reliability: an acknowledgement from long ago is understood",
        RECEIVING,
        "  if (sequence_distance(a.next, sent_.oldest()) > oldest_understood) return false;\n",
        "",
        by_reliability,
    ),
    mutation(
        "reliability: an attempt that was never made may have come",
        RECEIVING,
        "return !sent_.waits(a.newest) || a.attempt <= sent_[a.newest].attempt;",
        "return true;",
        by_reliability,
    ),
    mutation(
        "reliability: a packet sent again is in flight twice",
        RELIABILITY,
        "  if (p.list == sent_packets::in_flight) flight_ -= charge_of(p.bytes);\n  sent_.move_to",
        "  sent_.move_to",
        by_reliability + by_link,
    ),
    mutation(
        "reliability: a peer is believed about any delay",
        RECEIVING,
        "times_.sample(plausible ? all - delay : all);",
        "static_cast<void>(plausible);\n  times_.sample(all - delay);",
        by_reliability,
    ),
    mutation(
        "reliability: time-outs count on although something was acknowledged",
        RECEIVING,
        "  in_a_row_ = 0;\n  progress_ = now;",
        "  progress_ = now;",
        by_reliability + by_link,
    ),
    mutation(
        "reliability: there is room again although most bytes are not acknowledged",
        RECEIVING,
        " ||\n      bytes_[0] > settings_.most_bytes / 4 * 3 ||",
        " ||",
        by_reliability,
    ),
    mutation(
        "packet: a handle writes in front of bytes that another one sends",
        PACKET,
        "if (is_shared()) *this",
        "if (false) *this",
        by_packet,
    ),
    mutation(
        "packet: a handle that keeps bytes under way keeps the right to write in front of them",
        PACKET,
        "std::exchange(may_write_front_, false)",
        "may_write_front_",
        by_packet,
    ),
    mutation(
        "reliability: an acknowledgement with ranges is written into the room of one without",
        RELIABILITY,
        "if (unacknowledged_ != 0 && !received_.has_gaps()) {",
        "if (unacknowledged_ != 0) {",
        by_reliability + by_link,
    ),
    mutation(
        "reliability: ordinary packets use the numbers that are kept for urgent ones",
        RELIABILITY,
        "(urgent ? sequence_window : sequence_window - urgent_numbers)",
        "sequence_window",
        by_reliability + by_link,
    ),
    mutation(
        "reliability: urgent packets have no window",
        RELIABILITY,
        "waits(pressure::urgent) && flight_ <= congestion_.window() + urgent_credit",
        "waits(pressure::urgent)",
        by_reliability,
    ),
    mutation(
        "reliability: a peer that is heard again is not asked at once",
        RELIABILITY,
        "    case kind::trusted:\n",
        "",
        by_reliability + by_link,
    ),
    mutation(
        "reliability: a path that takes more is not used for more",
        RELIABILITY,
        "    case kind::connected:\n    case kind::path: congestion_.packet_size(full_charge(c));",
        "    case kind::connected: congestion_.packet_size(full_charge(c));",
        by_reliability + by_link,
    ),
    mutation(
        "reliability: a path that has reordered once is taken to do so for ever",
        RECEIVING,
        "if (++events_in_order_ % calm_events == 0) {",
        "if (false) {",
        by_reliability + by_link,
    ),
    mutation(
        "reliability: packets that a peer that is down has not acknowledged are sent on",
        RELIABILITY,
        "case kind::down: forget_all(); break;",
        "case kind::down: break;",
        by_reliability + by_link,
    ),
    mutation(
        "reliability: the second packet without an acknowledgement waits, too",
        RECEIVING,
        "|| unacknowledged_ > 1)",
        "|| unacknowledged_ > 2)",
        by_reliability,
    ),
    mutation(
        "acknowledgement: ranges may reach beyond the window",
        ACKNOWLEDGEMENT,
        " || end > sequence_window)",
        ")",
        by_acknowledgement + by_reliability,
    ),
    mutation(
        "acknowledgement: ranges may touch",
        ACKNOWLEDGEMENT,
        "lowest = end + 1;",
        "lowest = end;",
        by_acknowledgement + by_reliability,
    ),
    mutation(
        "acknowledgement: more ranges are read than there is room for",
        ACKNOWLEDGEMENT,
        "into.range_count > acknowledgement::most_ranges || bytes.size()",
        "bytes.size()",
        by_acknowledgement + by_reliability,
    ),
    mutation(
        "received_packets: the window is one number too wide",
        RECEIVED,
        "distance >= static_cast<std::int32_t>(sequence_window)",
        "distance > static_cast<std::int32_t>(sequence_window)",
        ("net.received_packets",),
    ),
    mutation(
        "sent_packets: numbers from before the oldest count as sent",
        SENT,
        "    if (left > span()) return;\n",
        "",
        ("net.sent_packets",),
    ),
    mutation(
        "congestion: losses of before a collapse count with those after it",
        CONGESTION,
        "  recovered_at_ = next;\n  losses_ = 0;\n",
        "  recovered_at_ = next;\n",
        by_congestion,
    ),
    mutation(
        "congestion: a loss that was sent before the window shrank shrinks it again",
        CONGESTION,
        "  if (order < recovered_at_) return false;\n",
        "  static_cast<void>(order);\n",
        by_congestion,
    ),
    mutation(
        "round_trip: the shortest sample is the first",
        ROUND_TRIP,
        "  shortest_ = std::min(shortest_, time);\n",
        "",
        ("net.round_trip",),
    ),
    # ---- redelivery
    mutation(
        "redelivery: messages that come before the session is open are counted",
        REDELIVERY,
        "  if (over_ || !open_) return;\n  if (c.below().lanes) return",
        "  if (over_) return;\n  if (c.below().lanes) return",
        by_redelivery + by_lies,
    ),
    mutation(
        "redelivery: a time for counts outlives its stream",
        REDELIVERY,
        "      open_ = false;\n      ack_at_ = instant::never();\n      return c.notify(e);",
        "      open_ = false;\n      return c.notify(e);",
        by_redelivery,
    ),
    mutation(
        "redelivery: messages of an earlier stream may be acknowledged by this one",
        COUNTS,
        "e.delivered > lanes_[e.lane]->next ||",
        "e.delivered > lanes_[e.lane]->handed ||",
        by_redelivery + by_lies,
    ),
    mutation(
        "redelivery: goes on before the other end has told its counts",
        COUNTS,
        "waits_for_counts_ = streams_ && ever_handed_;",
        "waits_for_counts_ = false;",
        by_redelivery,
    ),
    mutation(
        "redelivery: messages in flight still count as such by a new stream",
        COUNTS,
        "->known_there;\n    recount();",
        "->known_there;",
        by_redelivery,
    ),
    mutation(
        "redelivery: messages of the system wait for their turn",
        REDELIVERY,
        "  while (ready() && lanes_[system_lane] && may_hand_down(system_lane, c)) "
        "hand_down(system_lane, c);\n"
        "  for (std::size_t idle = 0; ready() && idle < used_.size();) {\n"
        "    turn_ = (turn_ + 1) % used_.size();\n"
        "    const lane_number n = used_[turn_];\n"
        "    ++idle;\n"
        "    if (n == system_lane || !may",
        "  for (std::size_t idle = 0; ready() && idle < used_.size();) {\n"
        "    turn_ = (turn_ + 1) % used_.size();\n"
        "    const lane_number n = used_[turn_];\n"
        "    ++idle;\n"
        "    if (!may",
        by_redelivery,
    ),
    mutation(
        "redelivery: the system's messages have no window",
        REDELIVERY,
        "first_window), system_window,",
        "first_window), amount{1u << 30, 1u << 30},",
        by_redelivery,
    ),
    mutation(
        "redelivery: before the session is open as many are kept as afterwards",
        REDELIVERY,
        "  window_ = {smaller({s.messages, s.bytes}, first_window),",
        "  window_ = {amount{s.messages, s.bytes},",
        by_redelivery,
    ),
    mutation(
        "redelivery: large and other messages together are more than the other end takes",
        REDELIVERY,
        "below(sum_of(in_flight_[0], in_flight_[2]), taken_there_) && ",
        "",
        by_redelivery,
    ),
    mutation(
        "redelivery: a message that never went down was perhaps delivered",
        REDELIVERY,
        "number < l.handed ? perhaps : never_sent",
        "number <= l.handed ? perhaps : never_sent",
        by_redelivery,
    ),
    mutation(
        "redelivery: an acknowledged message is not known to be there",
        COUNTS,
        "    l.known_there = std::max(l.known_there, l.acked);\n",
        "",
        equivalent="a beginning with counts below acknowledged ones is refused by that, "
        "and one that is taken says for each lane how many have come",
    ),
    mutation(
        "redelivery: all counts go in one message, however large",
        COUNTS,
        "if (p.size() + ack_entry > most) send_own",
        "if (false) send_own",
        by_redelivery,
    ),
    mutation(
        "redelivery: a beginning may take counts back",
        COUNTS,
        " || e.received < l.known_there) return false;",
        ") return false;",
        by_lies,
    ),
    mutation(
        "redelivery: a beginning may name a lane twice",
        COUNTS,
        "!lanes_[e.lane] || std::exchange(named[e.lane], true)",
        "!lanes_[e.lane] || (named[e.lane] = true, false)",
        by_lies,
    ),
    mutation(
        "redelivery: counts are told after a whole window",
        REDELIVERY,
        "std::max<std::uint64_t>(ours.messages / 2, 1)",
        "std::max<std::uint64_t>(ours.messages + 1, 1)",
        by_redelivery,
    ),
    mutation(
        "redelivery: an end that leaves keeps its last counts to itself",
        REDELIVERY,
        "  if (open_ && unacked_.messages != 0) send_ack(c);\n",
        "",
        by_redelivery,
    ),
    mutation(
        "redelivery: messages are confirmed behind one that is in no mailbox yet",
        REDELIVERY,
        "while (!l.waiting.empty() && l.waiting.front().there) {",
        "while (!l.waiting.empty()) {",
        by_redelivery,
    ),
    # ---- actor_protocol
    mutation(
        "actor_protocol: a frame that comes while a message is read overwrites it",
        PROTOCOL,
        "if (is_lent_ || !decode",
        "if (!decode",
        by_protocol,
    ),
    mutation(
        "actor_protocol: the end of the link answers no question",
        PROTOCOL,
        "  if (e.what == link_event::kind::down)\n    answer_all(",
        "  if (false)\n    answer_all(",
        by_protocol,
    ),
    mutation(
        "actor_protocol: a kill waits behind messages",
        PROTOCOL,
        "    case frame_kind::exit:\n    case frame_kind::kill: return true;",
        "    case frame_kind::exit: return true;",
        by_protocol,
    ),
    mutation(
        "actor_protocol: a refusal goes to the end that refuses",
        PROTOCOL,
        ".receiver = f.sender, .sender = f.receiver}",
        ".receiver = f.receiver, .sender = f.sender}",
        by_protocol,
    ),
    mutation(
        "actor_protocol: an error may be followed by anything",
        PROTOCOL,
        "  in.expect_end();\n",
        "",
        by_protocol,
    ),
    mutation(
        "actor_protocol: an answer in time leaves its time behind",
        PROTOCOL,
        "  if (!closed.second.deadline.is_never()) "
        "by_time_.erase({closed.second.deadline, closed.first});\n",
        "",
        by_protocol,
    ),
    mutation(
        "actor_protocol: a pair of actors may have the lane of the layers",
        PROTOCOL,
        "% (layer_lane - 1)",
        "% layer_lane",
        by_protocol,
    ),
    mutation(
        "redelivery: the system's messages have no limit at the receiver",
        LAYER + "redelivery.cpp",
        "if (!below(undelivered_[which], accepted_[which]))",
        "if (which == 0 && !below(undelivered_[which], accepted_[which]))",
        by_lies,
    ),
    mutation(
        "redelivery: an end that takes little refuses messages that may always be sent",
        LAYER + "redelivery.cpp",
        "amount{std::max<std::uint64_t>(s.accepted_messages, first_window.messages)",
        "amount{std::min<std::uint64_t>(s.accepted_messages, first_window.messages)",
        by_lies,
    ),
]
