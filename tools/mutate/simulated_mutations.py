"""Errors in the layers of lib/net that the guarantee programs find in the simulated network. No
test of the layer itself is asked, so it is seen that the programs find their kinds of errors. The
last errors are in the network itself.
"""

from mutation import mutation

LAYER = "lib/net/garrick/net/layer/"
RELIABILITY = LAYER + "reliability.cpp"
RECEIVED = LAYER + "reliability/received_packets.cpp"
PARTS = LAYER + "reliability/packet_parts.cpp"
ORDERING = LAYER + "ordering.cpp"
REDELIVERY = LAYER + "redelivery.cpp"
COUNTS = LAYER + "redelivery_counts.cpp"
SESSION = LAYER + "session.cpp"
PROTOCOL = LAYER + "actor_protocol.cpp"
by_programs = ("net_testkit.standard_guarantees",)
by_questions = ("net_testkit.questions",)
STREAM_END = "lib/net/garrick/net/testkit/internal/stream_end.cpp"
by_streams = ("net_testkit.simulated_streams",)
SOURCE = "lib/net/garrick/net/testkit/simulated_source.cpp"
by_links = ("tests.net.simulated_source",)

MUTATIONS = [
    # ---- reliability
    mutation(
        "simulated: reliability acknowledges missing packets before the newest one",
        RELIABILITY,
        "  a.next = received_.next();",
        "  a.next = newest_ + 1;",
        by_programs,
    ),
    mutation(
        "simulated: reliability does not send packets again that a time-out says are lost",
        RELIABILITY,
        "  // tells which of them are lost.\n  probe_waits_ = true;",
        "  // tells which of them are lost.\n  probe_waits_ = false;",
        by_programs,
    ),
    mutation(
        "simulated: reliability takes a gap that is filled for the last one",
        RECEIVED,
        "    next_ += 1 + follow;",
        "    next_ = end_;",
        by_programs,
    ),
    mutation(
        "simulated: reliability joins parts at the beginning of their packet",
        PARTS,
        "std::copy(part.begin(), part.end(), p->bytes.begin() + first);",
        "std::copy(part.begin(), part.end(), p->bytes.begin());",
        by_programs,
    ),
    # ---- ordering
    mutation(
        "simulated: ordering passes up held messages although one before them is missing",
        ORDERING,
        "    if (w->messages.first() != s.next_in) break;",
        "    if (w->messages.size() == 1 && w->messages.first() != s.next_in) break;",
        by_programs,
    ),
    mutation(
        "simulated: ordering numbers all lanes together",
        ORDERING,
        "  lane_state& s = state(m.lane);\n  std::byte* header",
        "  lane_state& s = state(1);\n  std::byte* header",
        by_programs,
    ),
    mutation(
        "simulated: ordering passes up late messages",
        ORDERING,
        "    come_late(s, distance(number, s.next_in));",
        "    come_late(s, distance(number, s.next_in));\n    static_cast<void>(c.up(m));",
        by_programs,
    ),
    # ---- redelivery
    mutation(
        "simulated: redelivery goes on where this end has stopped, not the other one",
        COUNTS,
        "    for (const lane_number n : used_) lanes_[n]->next = lanes_[n]->known_there;\n",
        "",
        by_programs,
    ),
    mutation(
        "simulated: redelivery confirms messages that are in no mailbox yet",
        REDELIVERY,
        "  if (!there || over_ || number < l.delivered) return;",
        "  if ((!there && over_) || over_ || number < l.delivered) return;",
        by_programs,
    ),
    mutation(
        "simulated: redelivery reports nothing at the end",
        REDELIVERY,
        "case link_event::kind::down: report_unknown(e.why, c); return c.notify(e);",
        "case link_event::kind::down: return c.notify(e);",
        by_programs,
    ),
    mutation(
        "simulated: redelivery tells of a lane arrived messages as delivered ones",
        COUNTS,
        "    put(p, l.received);\n    put(p, l.delivered);",
        "    put(p, l.received);\n    put(p, l.received);",
        by_programs,
    ),
    # ---- session
    mutation(
        "simulated: session takes the datagrams of every session",
        SESSION,
        "load_le<std::uint32_t>(bytes.data() + kind_size) == tag_from_;",
        "load_le<std::uint32_t>(bytes.data() + kind_size) != tag_to_;",
        by_programs,
    ),
    mutation(
        "simulated: session does not hear its peer",
        LAYER + "session/liveness.hpp",
        "    last_heard_ = now;\n    detector_.heard(now);",
        "    detector_.heard(now);",
        by_programs,
    ),
    mutation(
        "simulated: session opens a lost stream once more, and never again",
        SESSION,
        "  next_reopen_ = now + jittered(reopen_pause_, random_);",
        "  next_reopen_ = counters_.resumptions == 0 ? now + jittered(reopen_pause_, random_)\n"
        "                                            : instant::never();",
        by_programs,
    ),
    mutation(
        "simulated: session is silent when there is nothing to send",
        SESSION,
        "life_.beat_at() <= now) send_heartbeat(0, c);",
        "life_.beat_at() <= now) life_.sent(now);",
        by_programs,
    ),
    # ---- actor_protocol
    mutation(
        "simulated: actor_protocol takes an answer from anybody",
        PROTOCOL,
        "(f.sender == found->second.asked && f.receiver == found->second.asker));",
        "f.receiver == found->second.asker);",
        by_questions,
    ),
    mutation(
        "simulated: actor_protocol forgets to close answered questions",
        PROTOCOL,
        "  static_cast<void>(close(found));\n"
        "  if (was_full) c.notify({link_event::kind::writable});\n"
        "  return true;",
        "  if (was_full) c.notify({link_event::kind::writable});\n  return true;",
        by_questions,
    ),
    mutation(
        "simulated: actor_protocol ends a question before its time",
        PROTOCOL,
        "  while (deadline() <= c.now()) {",
        "  while (!by_time_.empty()) {",
        by_questions,
    ),
    # ---- the network
    mutation(
        "simulated: a second connection takes over before the loss of the first one is told",
        STREAM_END,
        "  tell_loss();\n  if (connection_ != c) return;\n  told_ = true;\n"
        "  call([](carried& upper, base::instant now) { upper.connected(now); });\n"
        "  if",
        "  if (connection_ != c) return;\n  told_ = true;\n"
        "  call([](carried& upper, base::instant now) { upper.connected(now); });\n"
        "  if",
        by_streams,
    ),
    mutation(
        "simulated: a second connection takes over a lost one, of which its stack hears later",
        STREAM_END,
        "  if (std::exchange(told_, false))\n    untold_ =",
        "  if (!std::exchange(told_, false)) untold_ = {};\n  else\n    untold_ =",
        by_streams + by_programs,
    ),
    mutation(
        "simulated: a process that goes on hears of a connection before an earlier loss",
        STREAM_END,
        "    if (connection_ == c) tell_loss();\n",
        "",
        by_streams,
    ),
    mutation(
        "simulated: a loss of a stream is told twice",
        STREAM_END,
        "std::exchange(untold_, {})",
        "untold_",
        by_streams,
    ),
    mutation(
        "simulated: a link joins a stream before it hears of the loss of its own",
        SOURCE,
        "    if (told_connected_)",
        "    if (old_end->is_open())",
        by_links,
    ),
    mutation(
        "simulated: a link that joins a stream hears of an earlier loss once more",
        SOURCE,
        "    told_connected_ = false;\n",
        "",
        by_links,
    ),
]
