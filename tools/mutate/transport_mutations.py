"""Errors in the rest of lib/net: stacks, accept_sessions, and transports."""

from mutation import mutation

NET = "lib/net/garrick/net/"
STACK = NET + "stack/stack.hpp"
KEPT = NET + "stack/detail/kept_messages.hpp"
REDELIVERY = NET + "layer/redelivery.cpp"
SESSIONS = NET + "stack/accept_sessions.cpp"
TRANSPORT = NET + "transport/"
INTERNAL = TRANSPORT + "internal/"
HOST = INTERNAL + "host.cpp"
LOOP = NET + "transport/internal/loop/io_loop.cpp"
GATE = INTERNAL + "gate.cpp"
STREAM = INTERNAL + "stream_host.cpp"
ATTEMPT = INTERNAL + "stream_attempt.cpp"
LAST_WORDS = INTERNAL + "last_words.cpp"
DATAGRAM = INTERNAL + "datagram_host.cpp"
STREAM_DOOR = INTERNAL + "stream_listener.cpp"
DATAGRAM_DOOR = INTERNAL + "datagram_listener.cpp"
CALLS = INTERNAL + "socket_calls.cpp"
by_stack = ("net.stack", "net.stack_writable", "net.stack_leave", "net.stack_down")
by_sessions = ("net.accept_sessions",)
by_bursts = ("tests.net.bursts",)
by_hosted = ("tests.net.hosted",)
by_streams = ("tests.net.streams",)
by_datagrams = ("tests.net.datagrams",)
by_ends = ("tests.net.ends",)
by_policy = ("tests.net.accept_policy",)
by_gate = ("net.gate",)
by_full_door = ("tests.net.full_door",)
by_descriptors = ("tests.net.no_descriptors",)

MUTATIONS = [
    # ---- stacks
    mutation(
        "stack: the system's messages are refused while it is not writable",
        STACK,
        "if (m.lane != system_lane && !writable())",
        "if (!writable())",
        by_stack,
    ),
    mutation(
        "stack: messages that the owner sends from within a call overtake the call",
        STACK,
        "    if (depth_ != 0) return keep(std::move(m));\n",
        "",
        by_stack,
    ),
    mutation(
        "stack: the time is told from the top down",
        STACK,
        "      backwards([&](auto& l, auto& c) {\n        if (!down_",
        "      each([&](auto& l, auto& c) {\n        if (!down_",
        by_stack,
    ),
    mutation(
        "stack: bytes are received after the end",
        STACK,
        "    if (down_) return;\n    within(now, [&] {\n"
        "      std::get<count - 1>(layers_).receive(",
        "    within(now, [&] {\n      std::get<count - 1>(layers_).receive(",
        by_stack,
    ),
    mutation(
        "stack: an owner that leaves leaves its transport open",
        STACK,
        "    carrier_->close();\n    end({});",
        "    end({});",
        by_stack,
    ),
    mutation(
        "stack: messages sent in the call that ends the link are not handed to the layers",
        STACK,
        "if (I <= 1 && e.what == link_event::kind::down) whole->hand_over_kept();",
        "",
        by_stack,
    ),
    mutation(
        "stack: messages sent within a call have no limit in bytes",
        KEPT,
        "return messages < most_kept && bytes < most_kept_bytes;",
        "return messages < most_kept;",
        by_stack,
    ),
    mutation(
        "redelivery: a message sent after the end of the session is not reported",
        REDELIVERY,
        "    if (m.report != 0)\n      c.notify({link_event::kind::unknown, m.report,",
        "    if (false)\n      c.notify({link_event::kind::unknown, m.report,",
        by_stack,
    ),
    mutation(
        "stack: a link that is down still has times",
        STACK,
        "    if (down_) return base::instant::never();\n",
        "",
        by_stack,
    ),
    mutation(
        "stack: the room in front is taken to be there",
        STACK,
        "detail::headers_from<I + 1, Ls...>();",
        "detail::headers_from<I + 1, Ls...>() / 2;",
        by_stack,
    ),
    mutation(
        "accept_sessions: a session that is over gets the stream",
        SESSIONS,
        "if (known.link.is_over()) {",
        "if (false) {",
        by_sessions,
    ),
    mutation(
        "accept_sessions: a late packet from the place of a session begins another one",
        SESSIONS,
        "is_datagram(from) && known.from == from.remote && known.link.was_admitted();",
        "false;",
        by_sessions,
    ),
    mutation(
        "accept_sessions: a peer that was never admitted is taken for late",
        SESSIONS,
        "known.from == from.remote && known.link.was_admitted();",
        "known.from == from.remote;",
        by_sessions,
    ),
    mutation(
        "accept_sessions: a peer that was down comes back under any policy",
        SESSIONS,
        "if (after_down_ != peer_return::new_life_only) return false;",
        "return false;",
        by_sessions,
    ),
    mutation(
        "accept_sessions: a peer that is swept out is let in again",
        SESSIONS,
        "    if (may_not_return(at->first)) quarantined_.add(at->first);\n",
        "",
        by_sessions,
    ),
    mutation(
        "accept_sessions: sessions that are over are remembered for ever",
        SESSIONS,
        "    at = known_.erase(at);\n",
        "    ++at;\n",
        by_sessions,
    ),
    mutation(
        "accept_sessions: the largest hello is not waited for",
        SESSIONS,
        "return framing::header_size + largest_hello;",
        "return largest_hello;",
        by_sessions,
    ),
    # ---- links on I/O threads
    mutation(
        "host: the limit of waiting visits is one too high",
        HOST,
        "line_.size() >= settings_.most_waiting",
        "line_.size() > settings_.most_waiting",
        by_hosted,
    ),
    mutation(
        "host: visits that wait have no limit",
        HOST,
        "if (limited && line_.size()",
        "if (limited && settings_.most_waiting == 0 && line_.size()",
        by_hosted,
    ),
    mutation(
        "host: a visitor that leaves does not look at the line",
        HOST,
        "    if (line_.empty()) {\n      occupy(false);\n      return;\n    }\n",
        "    occupy(false);\n    return;\n",
        by_hosted,
    ),
    mutation(
        "host: a visit that came while others were made is left in line",
        HOST,
        "  if (!line_.empty()) return false;\n  occupy(false);",
        "  occupy(false);",
        by_hosted,
    ),
    mutation(
        "host: a visitor does not set the clock",
        HOST,
        "    check_admission();\n    arm();\n  } catch",
        "    check_admission();\n  } catch",
        by_hosted,
    ),
    mutation(
        "host: the clock is not set anew when it has struck",
        HOST,
        "  armed_ = base::instant::never();\n  if (ticket_",
        "  if (ticket_",
        by_hosted + by_policy,
    ),
    mutation(
        "host: visits that were not made are kept when the link ends",
        HOST,
        "    dropped.swap(line_);\n",
        "",
        by_hosted,
    ),
    mutation(
        "host: an admitted newcomer is still pending",
        HOST,
        "  if (ticket_ != nullptr && !ticket_->admit()) return end_for_newcomer();\n",
        "",
        by_policy,
    ),
    mutation(
        "gate: one connection more than the limit",
        GATE,
        "!places_->take(limits.connections)",
        "!places_->take(limits.connections + 1)",
        by_gate + by_policy,
    ),
    mutation(
        "gate: one more than the limit may be pending",
        GATE,
        "waiting_.size() >= limits.pending",
        "waiting_.size() > limits.pending",
        by_gate + by_full_door,
    ),
    mutation(
        "gate: a full door refuses newcomers",
        GATE,
        "    if (waiting_.empty() || leaving_ >= most_leaving()) return false;\n",
        "    return false;\n",
        by_gate + by_full_door,
    ),
    mutation(
        "gate: a full door drops the same place each time",
        GATE,
        "waiting_[draw_() % waiting_.size()]",
        "waiting_[draw_() * 0]",
        by_gate,
    ),
    mutation(
        "gate: a full door drops the newest that waits",
        GATE,
        "waiting_[draw_() % waiting_.size()]",
        "waiting_[(draw_() | ~std::uint64_t{0}) % waiting_.size()]",
        by_gate,
    ),
    mutation(
        "gate: any number of dropped ones may be about to end",
        GATE,
        "waiting_.empty() || leaving_ >= most_leaving()",
        "waiting_.empty()",
        by_gate,
    ),
    mutation(
        "gate: as many dropped ones may be about to end as there are places",
        "lib/net/garrick/net/transport/internal/gate.hpp",
        "limits.connections / 2, 1",
        "limits.connections, 1",
        by_gate,
    ),
    mutation(
        "gate: each door counts for itself",
        "lib/net/garrick/net/transport/internal/gate.hpp",
        "l.together != nullptr ? l.together : std::make_shared<connection_count>()",
        "std::make_shared<connection_count>()",
        by_gate,
    ),
    mutation(
        "gate: a dropped one gives its place back, which is the newcomer's by then",
        GATE,
        "    --gate_->leaving_;\n  else\n    gate_->places_->give_back();\n",
        "    --gate_->leaving_;\n  gate_->places_->give_back();\n",
        by_gate,
    ),
    mutation(
        "node: its listeners do not count together",
        "lib/net/garrick/net/node/link_source.cpp",
        "  if (accept_.together == nullptr) "
        "accept_.together = std::make_shared<connection_count>();\n",
        "",
        ("tests.net.full_door", "tests.net.bad_peers"),
    ),
    mutation(
        "gate: a dropped one is admitted",
        GATE,
        "  if (state_ == state::dropped) return false;\n",
        "",
        by_gate,
    ),
    mutation(
        "gate: a listener takes all descriptors of the process",
        CALLS,
        "now.rlim_cur / 2",
        "now.rlim_cur",
        by_full_door,
    ),
    mutation(
        "node: the log does not say that a listener takes fewer connections",
        NET + "node/internal/node_core.cpp",
        "  if (most != 0 && settings_.accept.connections",
        "  if (most == 1 && settings_.accept.connections",
        ("tests.net.few_descriptors",),
    ),
    mutation(
        "host: a link that gives way says last words",
        LAST_WORDS,
        "!place_->hold(weak_from_this())) return leave();",
        "!place_->hold(weak_from_this())) place_->refuse();",
        by_full_door,
    ),
    mutation(
        "udp: a datagram that is refused takes the place of a peer that waits",
        DATAGRAM_DOOR,
        "  arrival who{endpoint_of(transport_kind::udp",
        "  const auto early = ticket::take(at_->limits, base::real_clock().now());\n"
        "  arrival who{endpoint_of(transport_kind::udp",
        by_full_door,
    ),
    mutation(
        "io_loop: links go to the thread that has most",
        LOOP,
        "loops[other]->residents() < loops[best]->residents()",
        "loops[other]->residents() > loops[best]->residents()",
        by_hosted,
    ),
    mutation(
        "io_loop: a resident that has left is still counted",
        LOOP,
        "    residents_.erase(found);\n"
        "    count_.store(residents_.size(), std::memory_order_relaxed);",
        "    residents_.erase(found);\n",
        by_streams + by_hosted,
    ),
    # ---- streams
    mutation(
        "stream: a connection beside another one is given up at once",
        STREAM,
        "case beside::takes: break;",
        "case beside::takes: return beside_.reset();",
        ("tests.net.half_open_streams",),
    ),
    mutation(
        "stream: a connection beside another one waits for its answer for ever",
        STREAM,
        "  s.ends = now() + settings_.attempt_limit;\n",
        "",
        ("tests.net.half_open_streams",),
    ),
    mutation(
        "stream: a stack that has much to send keeps others out of its link",
        STREAM,
        " || in_turn_ >= most_in_turn",
        "",
        by_streams,
    ),
    mutation(
        "stream: a visit's bytes count in the next turn",
        STREAM,
        "bool stream_host::attend() {\n  in_turn_ = 0;\n",
        "bool stream_host::attend() {\n",
        by_streams,
    ),
    mutation(
        "stream: the bytes of visitors on other threads count together",
        STREAM,
        "void stream_host::attend_elsewhere() {\n  in_turn_ = 0;\n",
        "void stream_host::attend_elsewhere() {\n",
        by_streams,
    ),
    mutation(
        "stream: a link that becomes full on another thread, with nothing queued, hears of no room",
        STREAM,
        "tries_beside_ || broken_ || (is_full_ && queue_.bytes() <= settings_.low_water))\n"
        "    want_loop();",
        "tries_beside_ || broken_) want_loop();",
        by_streams,
    ),
    mutation(
        "stream: a link that becomes full when it is told of room never hears of it again",
        STREAM,
        "  above().carrier_writable(now());\n  return true;",
        "  above().carrier_writable(now());\n  return false;",
        by_streams,
    ),
    mutation(
        "stream: the system may hold much that was not read",
        STREAM,
        "  limit_unread(socket_->fd());\n",
        "",
        by_streams,
    ),
    mutation(
        "stream: a lost connection is still heard",
        STREAM,
        "  number_ = ++numbers_;\n  socket_.reset();\n  queue_.clear();",
        "  socket_.reset();\n  queue_.clear();",
        by_streams,
    ),
    mutation(
        "stream: an attempt that was answered still has a time",
        ATTEMPT,
        "  ends_ = base::instant::never();\n  why_ = {};",
        "  why_ = {};",
        by_streams,
    ),
    mutation(
        "stream: the queue has no end",
        STREAM,
        "if (queue_.bytes() > settings_.most_queued) {",
        "if (false) {",
        by_streams,
    ),
    mutation(
        "stream: no link is told that there is room again",
        STREAM,
        "  is_full_ = false;\n  above().carrier_writable(now());",
        "  is_full_ = false;",
        by_streams,
    ),
    mutation(
        "stream: only one address of a name is tried",
        ATTEMPT,
        "  if (next_ < addresses_.size()) return try_next(who);\n",
        "",
        ("tests.net.names",),
    ),
    mutation(
        "stream: a write that fails hides bytes received before",
        STREAM,
        "      write_failed_ = failed;\n      queue_.clear();",
        '      broken_ = error_of(failed, "write");\n      queue_.clear();',
        by_streams,
    ),
    mutation(
        "last words: are not followed by the end",
        LAST_WORDS,
        "    ::shutdown(socket_->fd(), SHUT_WR);\n",
        "",
        by_streams,
    ),
    mutation(
        "last words: wait for ever",
        LAST_WORDS,
        "    timer_->expire_at(until, shared_from_this(), expired);\n",
        "",
        by_streams,
    ),
    # ---- datagrams
    mutation(
        "datagrams: the last of those that came while a thread was in is lost",
        DATAGRAM,
        "for (std::size_t i = 0; i < n; ++i) copies",
        "for (std::size_t i = 0; i + 1 < n; ++i) copies",
        by_datagrams,
    ),
    mutation(
        "datagrams: the one that meets an old refusal is not sent",
        DATAGRAM,
        "} else if (failed == ECONNREFUSED && !hint_) {",
        "} else if (false) {",
        by_datagrams,
    ),
    mutation(
        "datagrams: the stack is not told how large they may be",
        DATAGRAM,
        "  above().path_changed(limit_, now());\n",
        "",
        by_datagrams,
    ),
    mutation(
        "ends: messages open when the I/O threads stop are not reported",
        HOST,
        "    above().over(why_, now());\n",
        "    static_cast<void>(now());\n",
        by_ends,
    ),
    mutation(
        "datagrams: a peer that has left is still known",
        DATAGRAM_DOOR,
        "  peers_.erase(who.key());\n",
        "",
        by_datagrams,
    ),
    mutation(
        "datagrams: a socket of all addresses answers from the one that the routes say",
        CALLS,
        "if (kind == transport_kind::udp && is_any(at)) ask",
        "if (false) ask",
        by_datagrams,
    ),
    mutation(
        "datagrams: a closed door lets newcomers in",
        DATAGRAM_DOOR,
        "  if (at_->closed) return nullptr;\n",
        "",
        by_datagrams,
    ),
    mutation(
        "datagrams: the first of a newcomer comes twice",
        DATAGRAM_DOOR,
        "for (; peer == nullptr && first != last; ++first) {",
        "for (; peer == nullptr && first != last; first += peer == nullptr ? 1 : 0) {",
        by_datagrams,
    ),
    # ---- listeners and sockets
    mutation(
        "listener: no rest without descriptors",
        STREAM_DOOR,
        "if (accept_some()) return socket_",
        "if (accept_some() || true) return socket_",
        by_descriptors,
    ),
    mutation(
        "listener: deaf for ever without descriptors",
        STREAM_DOOR,
        "  rest_->expire_at(base::real_clock().now() + rest_without_descriptors, "
        "shared_from_this(), rested);\n",
        "",
        by_descriptors,
    ),
    mutation(
        "listener: a newcomer has all the time there is",
        STREAM_DOOR,
        "    timer_->expire_at(ticket_->deadline(), shared_from_this(), expired);\n",
        "",
        by_policy,
    ),
    mutation(
        "listener: a newcomer's bytes are not passed on",
        STREAM_DOOR,
        "    bytes_.resize(used_);\n    return std::move(bytes_);",
        "    return {};",
        by_policy,
    ),
    mutation(
        "listener: a stream is handed to a link that is over",
        STREAM_DOOR,
        "if (link == nullptr || link->is_over()) return refuse();",
        "if (link == nullptr) return refuse();",
        by_policy,
    ),
    mutation(
        "sockets: the file of another socket is removed",
        CALLS,
        "found.st_dev == device_ && found.st_ino == inode_)",
        "true)",
        by_policy,
    ),
    mutation(
        "sockets: any user is let in",
        CALLS,
        "if (s.any_user) return {};",
        "return {};",
        by_policy,
    ),
    mutation(
        "sockets: a listening socket loses its file",
        CALLS,
        "if (::connect(probe.get(), raw(at), at.size) == 0 || errno == EAGAIN) return EADDRINUSE;",
        "if (false) return EADDRINUSE; else errno = ECONNREFUSED;",
        by_policy,
    ),
    mutation(
        "stream_host: a burst goes on while something comes",
        STREAM,
        "if (all >= most_in_burst) {",
        "if (all < 0) {",
        by_bursts,
    ),
    mutation(
        "stream_host: no link is told that reads are one burst",
        STREAM,
        "in_burst([&] { bytes = read_burst(bytes, failed); });",
        "bytes = read_burst(bytes, failed);",
        by_bursts,
    ),
    mutation(
        "host: a burst has no end",
        INTERNAL + "host.hpp",
        "    hosted_->burst(false);\n",
        "",
        by_bursts,
    ),
    mutation(
        "datagram_host: each datagram of a batch comes alone",
        DATAGRAM,
        "n > 1 ? in_burst(receive) : receive();",
        "receive();",
        by_bursts,
    ),
]
