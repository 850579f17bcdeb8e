"""Errors in the layers of lib/net that find the peer, cut and order: framing, slicing, ordering,
duplicate_suppression and session.
"""

from mutation import mutation

LAYER = "lib/net/garrick/net/layer/"
FRAMING = LAYER + "framing.cpp"
SLICING = LAYER + "slicing.cpp"
QUEUES = LAYER + "internal/lane_queues.cpp"
PARTIAL = LAYER + "internal/partial_messages.cpp"
ORDERING = LAYER + "ordering.cpp"
DUPLICATES = LAYER + "duplicate_suppression.cpp"
SESSION = LAYER + "session.cpp"
SHAKING = LAYER + "session_handshake.cpp"
HANDSHAKE = LAYER + "session/handshake.cpp"
PHI = LAYER + "session/phi_accrual.cpp"
PROBE = LAYER + "session/path.cpp"
FINGERPRINT = "lib/net/garrick/net/stack/fingerprint.hpp"
by_framing = ("net.framing",)
by_slicing = ("net.slicing",)
by_partial = ("net.partial_messages",)
by_ordering = ("net.ordering",)
by_duplicates = ("net.duplicate_suppression",)
by_session = ("net.session",)
by_beside = ("net.connection_beside",)
by_silence = ("net.session_silence",)
by_handshake = ("net.handshake",)
by_secrets = ("net.session_secrets",)
by_phi = ("net.phi_accrual",)
by_probe = ("net.path",)
by_fingerprint = ("net.fingerprint",)

MUTATIONS = [
    # ---- framing
    mutation(
        "framing: a frame of the largest size is refused",
        FRAMING,
        "if (size <= limit_) return",
        "if (size < limit_) return",
        by_framing,
    ),
    mutation(
        "framing: half a frame outlives its connection",
        FRAMING,
        "    partial_ = {};\n    broken_ =",
        "    broken_ =",
        by_framing,
    ),
    mutation(
        "framing: room is made for a frame that is only announced",
        FRAMING,
        "  take(size - partial_.size());",
        "  partial_.reserve(size);\n  take(size - partial_.size());",
        by_framing,
    ),
    # ---- slicing
    mutation(
        "slicing: a whole message of the largest size is refused",
        SLICING,
        "if (bytes.size() > settings_.largest) {",
        "if (bytes.size() >= settings_.largest) {",
        by_slicing,
    ),
    mutation(
        "slicing: a small message of the system overtakes a large one in its lane",
        SLICING,
        " && (!queues_ || queues_->lane_empty(m.lane));",
        ";",
        by_slicing,
    ),
    mutation(
        "slicing: there is room again although most bytes still wait",
        SLICING,
        "settings_.queue_bytes / 2 + 1, large_room()",
        "settings_.queue_bytes, large_room()",
        by_slicing,
    ),
    mutation(
        "slicing: bytes that wait do not fill the queue",
        SLICING,
        "         queues_->bytes(false) - queues_->large_bytes() < bytes && ",
        "         ",
        by_slicing,
    ),
    mutation(
        "slicing: bytes of the system that wait have no limit",
        SLICING,
        "queues_->bytes(true) > std::uint64_t{settings_.queue_bytes} + settings_.largest",
        "false",
        by_slicing,
    ),
    mutation(
        "slicing: messages under way outlive their stream",
        SLICING,
        "if (c.below().connected) forget();",
        "",
        by_slicing,
    ),
    mutation(
        "slicing: a datagram that could not be sent takes all that waits with it",
        SLICING,
        "if (c.below().connected) forget();",
        "forget();",
        by_slicing,
    ),
    mutation(
        "slicing: a message that came in part waits on although its lane goes on in order",
        SLICING,
        "if (partial_ && below.ordered) {",
        "if (false) {",
        by_partial,
    ),
    mutation(
        "lane_queues: a lane that has more keeps its turn",
        QUEUES,
        "    static_cast<void>(pop_turn());\n    if (!lane_empty(lane)) push_turn(lane);\n",
        "    if (lane_empty(lane) || !goes) static_cast<void>(pop_turn());\n"
        "    if (!lane_empty(lane) && !goes) push_turn(lane);\n",
        by_slicing,
    ),
    mutation(
        "lane_queues: the limit of bytes under way leaves out the message that begins",
        QUEUES,
        "now.bytes + size <= limits_.bytes",
        "now.bytes <= limits_.bytes",
        by_slicing,
    ),
    mutation(
        "lane_queues: a message that has gone is still under way",
        QUEUES,
        "  --under_way_[kind].messages;\n  under_way_[kind].bytes -= total;\n",
        "",
        by_slicing,
    ),
    mutation(
        "partial_messages: a message of the largest size is refused",
        PARTIAL,
        "p.total <= settings_.largest",
        "p.total < settings_.largest",
        by_partial + by_slicing,
    ),
    mutation(
        "partial_messages: a piece may end beyond its message",
        PARTIAL,
        " &&\n                        std::uint64_t{p.offset} + p.bytes.size() <= p.total",
        "",
        by_partial + by_slicing,
    ),
    mutation(
        "partial_messages: a message does not expire when its time has come",
        PARTIAL,
        "all_.front().expires <= now",
        "all_.front().expires < now",
        by_partial + by_slicing,
    ),
    mutation(
        "partial_messages: a new piece gives its message no more time",
        PARTIAL,
        "      all_.splice(all_.end(), all_, m);\n",
        "",
        by_partial + by_slicing,
    ),
    mutation(
        "partial_messages: a piece of a message long over begins it again",
        PARTIAL,
        "return behind >= remembered || (over_ >> behind & 1) != 0;",
        "return behind < remembered && (over_ >> behind & 1) != 0;",
        by_partial + by_slicing,
    ),
    mutation(
        "partial_messages: before the last number nothing is over",
        PARTIAL,
        "if (over_ == 0 || behind >= 1u << 31) return false;",
        "if (over_ == 0 || id > newest_) return false;",
        by_partial,
    ),
    mutation(
        "partial_messages: behind the last number nothing is newer",
        PARTIAL,
        "if (over_ == 0 || ahead < 1u << 31) {",
        "if (over_ == 0 || id >= newest_) {",
        by_partial,
    ),
    mutation(
        "partial_messages: the overhead of each early piece is not counted",
        PARTIAL,
        "if (!make_room(p.bytes.size() + piece_overhead, m, below, k))",
        "if (!make_room(p.bytes.size(), m, below, k))",
        by_partial + by_slicing,
    ),
    mutation(
        "partial_messages: ordinary messages make room for the system's",
        PARTIAL,
        "if (is_reserved(m->lane) != reserved || m == but) continue;",
        "static_cast<void>(reserved);\n    if (m == but) continue;",
        by_partial + by_slicing,
    ),
    # ---- ordering
    mutation(
        "ordering: half the range away is early",
        ORDERING,
        "} else if (ahead >= half_the_range) {",
        "} else if (ahead > half_the_range) {",
        by_ordering,
    ),
    mutation(
        "ordering: the last number of the window ends the link",
        ORDERING,
        "distance(s.next_in, number) > settings_.window ||",
        "distance(s.next_in, number) >= settings_.window ||",
        by_ordering,
    ),
    mutation(
        "ordering: the history of given-up messages stands still",
        ORDERING,
        "  s.given_up <<= 1;\n",
        "",
        by_ordering,
    ),
    mutation(
        "ordering: a lane holds one message too many",
        ORDERING,
        "(w == nullptr ? 0 : w->messages.size()) < settings_.pending",
        "(w == nullptr ? 0 : w->messages.size()) <= settings_.pending",
        by_ordering,
    ),
    mutation(
        "ordering: a gap of the system is given up for ordinary messages",
        ORDERING,
        "if (is_reserved(w.lane) == is_reserved(lane) &&\n          (chosen",
        "if ((chosen",
        by_ordering,
    ),
    mutation(
        "ordering: over a reliable layer messages behind a gap come before the end",
        ORDERING,
        "if (!c.below().reliable) release_all(c);",
        "release_all(c);",
        by_ordering,
    ),
    mutation(
        "ordering: a lane's clock begins with a message that is gone",
        ORDERING,
        "  if (changed) find_deadline();\n",
        "",
        by_ordering,
    ),
    mutation(
        "ordering: the message that came last counts as the oldest",
        LAYER + "detail/early_messages.hpp",
        "return oldest_ != nullptr ? oldest_->since :",
        "return oldest_ != nullptr ? newest_->since :",
        by_ordering + ("net.early_messages",),
    ),
    mutation(
        "ordering: when the time has come, it has not quite",
        ORDERING,
        "while (deadline_ <= c.now()) {",
        "while (deadline_ < c.now()) {",
        by_ordering,
    ),
    # ---- duplicate_suppression
    mutation(
        "duplicate_suppression: the window is one number too wide",
        DUPLICATES,
        "ahead <= -static_cast<std::int32_t>(remembered)",
        "ahead < -static_cast<std::int32_t>(remembered)",
        by_duplicates,
    ),
    mutation(
        "duplicate_suppression: numbers that were skipped keep old marks",
        DUPLICATES,
        "skipped != number; ++skipped) mark(skipped, false);",
        "skipped != number; ++skipped) {}",
        by_duplicates,
    ),
    mutation(
        "duplicate_suppression: numbers that were skipped behind the last one keep old marks",
        DUPLICATES,
        "skipped != number; ++skipped) mark(skipped, false);",
        "skipped < number; ++skipped) mark(skipped, false);",
        by_duplicates,
    ),
    mutation(
        "duplicate_suppression: a number that is half the range ahead has an order",
        DUPLICATES,
        "const auto ahead = static_cast<std::int32_t>(number - newest_);",
        "const auto ahead = static_cast<std::int64_t>(static_cast<std::int32_t>(number)) -\n"
        "                     static_cast<std::int32_t>(newest_);",
        by_duplicates,
    ),
    # ---- session
    mutation(
        "session: an end that sends beats all the same",
        SESSION,
        "  life_.sent(c.now());\n  c.down(std::move(m));\n}\n\nbool session::writable",
        "  c.down(std::move(m));\n}\n\nbool session::writable",
        by_silence,
    ),
    mutation(
        "session: a suspected stream is replaced where no layer sends again",
        SESSION,
        " && !c.provided().connected",
        "",
        by_beside,
    ),
    mutation(
        "session: another life of the peer takes a session over",
        SHAKING,
        "knows_peer_ && h.resumes && h.self == peer_.self &&",
        "knows_peer_ && h.resumes &&",
        by_beside,
    ),
    mutation(
        "session: a connection beside is tried while the peer is trusted",
        SESSION,
        "  next_reopen_ = instant::never();\n  reopen_pause_ = settings_.reopen_first;",
        "  reopen_pause_ = settings_.reopen_first;",
        by_beside,
    ),
    mutation(
        "session: the stream after a lost one may be silent for ever",
        SESSION,
        "phase_ == phase::lost && settings_.connects ? c.now()",
        "false && settings_.connects ? c.now()",
        by_beside,
    ),
    mutation(
        "session: messages that come by a new stream are believed before its hello",
        LAYER + "session.hpp",
        "stream_ && phase_ == phase::open && confirmed_",
        "stream_ && confirmed_",
        by_session,
    ),
    mutation(
        "session: the first data after the handshake confirms nothing",
        LAYER + "session.hpp",
        "phase_ == phase::open && confirmed_ && life_",
        "phase_ == phase::open && life_",
        by_session,
    ),
    mutation(
        "session: a pause of this process uses up the time of a lost session",
        SESSION,
        "      keep_until_ = keep_until_ + pause;\n",
        "",
        by_silence + by_session,
    ),
    mutation(
        "session: a stranger of other layers ends a handshake that this end has begun",
        SHAKING,
        "refusal::other_layers, h, c);\n  if (!may_end)",
        "refusal::other_layers, h, c);\n  if (false)",
        ("net.session",),
    ),
    mutation(
        "session: a pause of this process uses up the time of the handshake",
        SESSION,
        "      greet_until_ = greet_until_ + pause;\n",
        "",
        by_silence + by_session,
    ),
    mutation(
        "session: anybody may say that the peer was restarted",
        SHAKING,
        "if (h.proof != cookie) {",
        "if (false) {",
        by_session + by_secrets,
    ),
    mutation(
        "session: an end that begins is down when an earlier session is over",
        SHAKING,
        "      if (phase_ == phase::greeting) return;\n",
        "",
        ("net.session_handshake", "tests.net.after_a_silence"),
    ),
    mutation(
        "session: the sender of a frame above the limit is not told",
        SESSION,
        "    refuse_more(e.why, c);\n",
        "",
        ("net.stack_refusals",),
    ),
    mutation(
        "session: the sender of a message above the limit is not told",
        SESSION,
        "  refuse_more(why, c);\n",
        "",
        ("net.stack_refusals", "tests.net.larger_than_there"),
    ),
    mutation(
        "session: a refusal of another end is believed",
        SHAKING,
        "!is_proved || r->to != settings_.self.incarnation)",
        "!is_proved)",
        by_session,
    ),
    mutation(
        "session: a challenge to another end is believed",
        SHAKING,
        "return h.to == settings_.self.incarnation && h.proof == secret_;",
        "return h.proof == secret_;",
        by_session,
    ),
    mutation(
        "session: beats although something was just sent",
        SESSION,
        "  life_.sent(c.now());\n  c.down(std::move(m));",
        "  c.down(std::move(m));",
        by_silence + by_session,
    ),
    mutation(
        "session: a peer that has heard of the session may begin it again",
        SESSION,
        "  confirmed_ = true;\n  path_.heard();",
        "  path_.heard();",
        by_session,
    ),
    mutation(
        "session: a new stream is greeted as slowly as the last one at its end",
        SESSION,
        "  if (stream_) hello_pause_ = settings_.hello_first;\n",
        "",
        by_silence,
    ),
    mutation(
        "session: streams are opened again as slowly as the last time at its end",
        SHAKING,
        "  reopen_pause_ = settings_.reopen_first;\n",
        "",
        by_session,
    ),
    mutation(
        "session: says goodbye once by datagrams",
        SESSION,
        "constexpr int goodbyes = 3;",
        "constexpr int goodbyes = 1;",
        by_session,
    ),
    mutation(
        "session: the answer to an earlier heartbeat counts for the last",
        LAYER + "session/liveness.hpp",
        "if (number == number_) counted_",
        "counted_",
        ("net.session_silence", "net.session", "net.liveness"),
    ),
    mutation(
        "session: an interval of nothing is believed",
        SHAKING,
        "std::clamp(peer_.interval, least_interval, most_interval)",
        "std::min(peer_.interval, most_interval)",
        by_silence,
    ),
    mutation(
        "session: a probe is as large as it asks, and its header larger",
        SESSION,
        "p.append(size > least ? size - header_size : number_size)",
        "p.append(size > least ? size : number_size)",
        by_silence + by_session + by_probe,
    ),
    mutation(
        "session: a stack with other layers is talked to",
        SHAKING,
        "if (h.layers == c.fingerprint()) return true;",
        "return true;",
        by_fingerprint,
    ),
    mutation(
        "session: an answer may come from another stack when a session goes on",
        SHAKING,
        "    if (!has_same_layers(*h, true, c)) return;\n",
        "",
        by_fingerprint,
    ),
    mutation(
        "fingerprint: a layer without a name does not count",
        FINGERPRINT,
        "(add_name(wire_name_of<Ls>()), ...);",
        "((wire_name_of<Ls>() != unnamed_layer ? add_name(wire_name_of<Ls>()) : void()), ...);",
        by_fingerprint,
    ),
    mutation(
        "handshake: capabilities beyond those that there can be are kept",
        HANDSHAKE,
        "std::min(bytes.size(), set.bits_.size())",
        "bytes.size()",
        by_handshake,
    ),
    mutation(
        "handshake: the largest hello is a stranger's",
        HANDSHAKE,
        "if (size > largest_hello || size == 0)",
        "if (size >= largest_hello || size == 0)",
        by_handshake,
    ),
    mutation(
        "handshake: a hello of any size is read",
        HANDSHAKE,
        "  if (packet.size() > largest_hello || !read_head(from)) return std::nullopt;\n  hello h;",
        "  if (!read_head(from)) return std::nullopt;\n  hello h;",
        by_handshake,
    ),
    mutation(
        "phi_accrual: the longest pause counts for ever",
        PHI,
        "  longest_ = {};\n  window_ = now;",
        "  window_ = now;",
        by_phi,
    ),
    mutation(
        "phi_accrual: only the first of the remembered pauses is replaced",
        PHI,
        "    next_ = (next_ + 1) % pauses_.size();\n",
        "",
        by_phi,
    ),
    mutation(
        "path: the answer to any heartbeat raises the size",
        PROBE,
        "if (probed_ == 0 || number != number_) return false;",
        "static_cast<void>(number);\n  if (probed_ == 0) return false;",
        by_probe,
    ),
    mutation(
        "path: a probe that the carrier takes no more is still waited for",
        PROBE,
        "  if (probed_ > limit_) probed_ = 0;\n",
        "",
        by_probe,
    ),
    mutation(
        "path: a silent peer is taken for a black hole",
        PROBE,
        "  if (mode_ == mode::confirming && !heard_) return;\n",
        "",
        by_probe,
    ),
]
