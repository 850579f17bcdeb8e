"""Errors in the defence against peers that lie, or do what they may not."""

from mutation import mutation

ROOM = "lib/net/garrick/net/node/link/internal/"
RECEIVE = ROOM + "link_receive.cpp"
SIGNALS = ROOM + "link_signals.cpp"
HELD = ROOM + "held_lanes.cpp"
CONNECTION = "lib/net/garrick/net/broker/internal/raw_connection.cpp"
BUDGET = "lib/net/garrick/net/node/internal/decoding_budget.hpp"
CODERS = "lib/net/garrick/net/wire/detail/coders.hpp"
BYTES = "lib/net/garrick/net/node/proxy/internal/byte_credit.hpp"

MUTATIONS = [
    # ---- ends
    mutation(
        "link: the end of an actor that has linked itself does not count without the right",
        SIGNALS,
        "  if (!(l && l->set_here) && !lets_end()) {\n",
        "  if (!lets_end()) {\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "link: a peer without the right ends an actor with which it has linked its own",
        SIGNALS,
        "  if (!(l && l->set_here) && !lets_end()) {\n",
        "  if (!l && !lets_end()) {\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "link: the loss of a peer without the right ends all that it has linked",
        SIGNALS,
        "    if (l.set_here || ends_all)\n",
        "    if (l.set_here || !ends_all)\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "link: the actor here of a refused exit is watched on",
        SIGNALS,
        "    if (l) tell<core::signals::unwatch>(who, l->there, std::uint64_t{0});\n    return;\n",
        "    return;\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "link: the actors here of a lost peer's links are watched on",
        SIGNALS,
        "      tell<core::signals::unwatch>(l.here, l.there, std::uint64_t{0});\n",
        "      static_cast<void>(l);\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "link: a link that both ends have set counts as the peer's",
        ROOM + "watches.cpp",
        "  at->second.set_here = true;\n",
        "",
        ("tests.net.ends_refused",),
    ),
    # ---- memory and time of decoding
    mutation(
        "codec: an empty deque costs no more than its object",
        CODERS,
        "    return empty_container_cost<T>;\n",
        "    return 0;\n",
        ("net.expansion",),
    ),
    mutation(
        "codec: a deque that a byte makes inside an element costs nothing",
        CODERS,
        "    return in.allow(1, cost);\n",
        "    return cost != 0;\n",
        ("net.expansion",),
    ),
    mutation(
        "ordering: early messages are compared with each other, one by one",
        "lib/net/garrick/net/layer/detail/early_messages.hpp",
        "    return all_.find(number) != all_.end();\n",
        "    for (const auto& [n, e] : all_)\n"
        "      if (!Before()(n, number) && !Before()(number, n)) return true;\n"
        "    return false;\n",
        ("net.early_messages",),
    ),
    mutation(
        "decoding_budget: the bytes that arrive add without a limit",
        BUDGET,
        "    left_ = std::min(most, left_ + static_cast<std::int64_t>(payload) * per_byte);\n",
        "    left_ += static_cast<std::int64_t>(payload) * per_byte;\n",
        ("tests.net.decoding_budget",),
    ),
    mutation(
        "decoding_budget: its deadline comes a little early",
        BUDGET,
        "per_second - 1) / per_second + 1;\n",
        "per_second - 1) / per_second - 40;\n",
        ("tests.net.decoding_budget",),
    ),
    mutation(
        "held_lanes: frames that are decoded pass a budget that is overdrawn",
        HELD,
        "  if (has_to_wait(*m.decoded)) {\n",
        "  if (m.block != nullptr && has_to_wait(*m.decoded)) {\n",
        ("tests.net.held_for_budget", "tests.net.expanding"),
    ),
    mutation(
        "held_lanes: a lane reads all that it holds, however much that costs",
        HELD,
        "      if (has_to_wait(l.behind.front().what)) return;\n",
        "      if (l.by != nullptr && has_to_wait(l.behind.front().what)) return;\n",
        ("tests.net.held_for_budget", "tests.net.expanding"),
    ),
    mutation(
        "held_lanes: the lowest lane always goes on first",
        HELD,
        "    if (budget_.is_overdrawn()) first_ = static_cast<lane_number>(n + 1);\n",
        "",
        ("tests.net.held_for_budget",),
    ),
    mutation(
        "held_lanes: a message taken back from the workers is read with a budget overdrawn",
        HELD,
        "        if (has_to_wait(k.what)) return l.behind.push_front(std::move(k));\n",
        "",
        ("tests.net.held_for_budget",),
    ),
    mutation(
        "link: a peer does not pay for the messages that it sends",
        RECEIVE,
        "  budget_.pay(cost);\n",
        "",
        ("tests.net.expanding",),
    ),
    mutation(
        "link: a peer does not pay for the protocols that it describes",
        ROOM + "link_names.cpp",
        "  budget_.pay(cost_of(f, order ? &order->protocol : nullptr));\n",
        "",
        ("tests.net.expanding",),
    ),
    # ---- silent connections of brokers
    mutation(
        "raw_connection: bytes that come do not end a silence",
        CONNECTION,
        "  begin_silence(now);\n  receiver_.filled(bytes.size());\n",
        "  static_cast<void>(now);\n  receiver_.filled(bytes.size());\n",
        ("tests.net.silent_clients",),
    ),
    mutation(
        "raw_connection: bytes that leave do not end a silence",
        CONNECTION,
        "  if (std::exchange(left_, left) != left) return begin_silence(now);\n",
        "  left_ = left;\n",
        ("tests.net.silent_clients",),
    ),
    mutation(
        "raw_connection: a silent stream is not closed",
        CONNECTION,
        "                false);\n  below_.close();\n}\n\nvoid raw_connection::advance",
        "                false);\n}\n\nvoid raw_connection::advance",
        ("tests.net.silent_clients",),
    ),
    mutation(
        "stream_host: unread bytes put off the end of a stream that is not read",
        "lib/net/garrick/net/transport/internal/stream_host.cpp",
        "state_ == state::connected && !rests_ && has_unread_bytes",
        "state_ == state::connected && has_unread_bytes",
        ("tests.net.silent_clients",),
    ),
    # ---- links before their use
    mutation(
        "link: a peer that has not let a link be used is served",
        RECEIVE,
        "  if (!is_used_ && !begins_use()) [[unlikely]]\n    return true;\n",
        "  if (!is_used_ && m.decoded->kind == frame_kind::credit)\n"
        "    static_cast<void>(begins_use());\n",
        ("tests.net.before_use",),
    ),
    mutation(
        "link: a frame on a link that this end has not chosen is read",
        RECEIVE,
        "  if (node_->self() < peer_)\n    shut(",
        "  if (node_->self() < peer_)\n    return true;\n  if (false)\n    shut(",
        equivalent="this end has left each link that it could choose and has not chosen",
    ),
    mutation(
        "link: a link that is open may wait for its use for ever",
        ROOM + "link.cpp",
        "  if (use_by_ <= now) end_unused(now);\n",
        "",
        ("tests.net.before_use",),
    ),
    mutation(
        "node: other lives stay peers when one takes over",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "  if (!is_unwanted) end_lives(others);\n",
        "",
        ("tests.net.lives", "tests.net.peers"),
    ),
    mutation(
        "node: the door lets in a life beside one that answers",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "    if (node->has_living_rival_now(who.self)) return refusal::has_session;\n",
        "",
        ("tests.net.lives",),
    ),
    mutation(
        "node: a link that is open takes over from a life that answers",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "  if (link.dialled().empty() && has_living_rival(who)) return false;\n",
        "",
        ("tests.net.lives",),
    ),
    mutation(
        "node: a life counts as answering in its silence",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "    if (what.what == suspected || what.what == disconnected) "
        "at->second.answers = false;\n",
        "",
        ("tests.net.lives", "tests.net.peers"),
    ),
    mutation(
        "node: a life that was lost counts as answering",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "what.what == suspected || what.what == disconnected",
        "what.what == suspected",
        ("tests.net.lives",),
    ),
    mutation(
        "node: a life that is heard again counts as silent",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "    if (what.what == trusted || what.what == resumed) at->second.answers = true;\n",
        "",
        ("tests.net.lives",),
    ),
    mutation(
        "node: any number of links of one id wait to come into use",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "  if (same.size() < most_newcomers) return {};\n",
        "  return {};\n",
        ("tests.net.lives",),
    ),
    mutation(
        "node: of the links of one id the same one is displaced each time",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "same[draws_.below(static_cast<std::uint32_t>(same.size()))]",
        "same[0]",
        ("tests.net.lives",),
    ),
    mutation(
        "node: a link that the peer has let be used counts as waiting",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "peer_link{link.self()});\n    forget_newcomer(link.self());\n",
        "peer_link{link.self()});\n",
        ("tests.net.lives",),
    ),
    mutation(
        "quarantine: lives of one node displace those of another",
        "lib/net/garrick/net/stack/quarantine_list.hpp",
        "if (lives.size() > most_of_a_node) lives.erase(lives.begin());",
        "if (lives.size() > most_of_a_node) {\n"
        "      in_turn_.front().lives.clear();\n"
        "      lives.erase(lives.begin());\n"
        "    }",
        ("tests.net.one_session",),
    ),
    mutation(
        "quarantine: a life is added twice",
        "lib/net/garrick/net/stack/quarantine_list.hpp",
        "    if (std::find(lives.begin(), lives.end(), who.incarnation) != lives.end()) return;\n",
        "",
        ("tests.net.one_session",),
    ),
    mutation(
        "quarantine: a node that was added to again is forgotten first",
        "lib/net/garrick/net/stack/quarantine_list.hpp",
        "    in_turn_.splice(in_turn_.end(), in_turn_, known->second);\n",
        "",
        ("tests.net.one_session",),
    ),
    mutation(
        "link: a link in use ends when the time to come into use is over",
        ROOM + "link.cpp",
        "  use_by_ = base::instant::never();\n  post(",
        "  post(",
        ("tests.net.before_use",),
    ),
    # ---- before a stranger is a peer
    mutation(
        "node: a stranger is told the text of an exception",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "{ return failed(e.what()); }",
        "{ return e.what(); }",
        ("tests.net.peers",),
    ),
    mutation(
        "node: no log has the text of an admission policy's exception",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        ", which is refused: \" + std::string(why));",
        ", which is refused\" + std::string(why.substr(0, 0)));",
        ("tests.net.peers",),
    ),
    mutation(
        "codec: one process's names use up the room of all",
        "lib/net/garrick/net/wire/known_codecs.cpp",
        "share.made_ >= foreign_names::most || ",
        "",
        ("net.known_codecs", "tests.net.foreign_texts"),
    ),
    mutation(
        "node: errors of all peers share one count of names",
        "lib/net/garrick/net/node/link/internal/link.cpp",
        "      names_ = node_->names_of(peer_.node);\n",
        "",
        ("tests.net.foreign_texts",),
    ),
    mutation(
        "node: each link of a peer begins a new count of names",
        "lib/net/garrick/net/node/internal/node_core.cpp",
        "entry.second.use_count() == 1 && entry.second->empty()",
        "entry.second.use_count() == 1",
        ("tests.net.foreign_texts",),
    ),
    mutation(
        "session: any frame is taken before a hello",
        "lib/net/garrick/net/layer/session.cpp",
        "  if (stream_) c.expect_at_most(largest_hello);  // until `greet`\n",
        "",
        ("net.session_handshake",),
    ),
    mutation(
        "session: frames stay small after a hello",
        "lib/net/garrick/net/layer/session_handshake.cpp",
        "if (!std::exchange(greeted_, true) && stream_) c.expect_at_most(~std::size_t{0});",
        "greeted_ = true;\n  static_cast<void>(c);",
        ("net.session_handshake",),
    ),
    # ---- bytes ahead
    mutation(
        "byte credit: the block is taken for each message without bytes",
        BYTES,
        "if (n > 0 && n <= static_cast<std::int64_t>(bytes)) owe(block);",
        "if (n <= static_cast<std::int64_t>(bytes)) owe(block);",
        ("net.byte_credit",),
    ),
    mutation(
        "byte credit: the block comes back at the debt's last byte",
        BYTES,
        "if (n <= 0 && now > 0) grant(block);",
        "if (n < 0 && now >= 0) grant(block);",
        ("net.byte_credit",),
    ),
    mutation(
        "byte credit: a debt has no limit",
        BYTES,
        "      if (n < -lowest) return false;\n",
        "",
        ("net.byte_credit", "tests.net.bytes_ahead"),
    ),
    mutation(
        "exports: more than twice the credit in bytes is taken",
        ROOM + "exports.cpp",
        "  if (x.large->exceeds()) return false;\n",
        "",
        ("tests.net.many_bytes",),
    ),
    mutation(
        "large mail: bytes are given back while their messages wait",
        "lib/net/garrick/net/node/internal/large_mail.cpp",
        "first_bytes + payload_of(waits);",
        "first_bytes + payload_of(waits & 0);",
        ("tests.net.large_mail", "tests.net.bytes_ahead"),
    ),
    mutation(
        "large mail: a message counts as large as its payload",
        "lib/net/garrick/net/node/internal/large_mail.cpp",
        "  memory = std::max(bytes, memory);\n",
        "  memory = bytes;\n",
        ("tests.net.large_mail", "tests.net.bytes_ahead"),
    ),
    mutation(
        "large mail: the rest of a grant is not owed",
        "lib/net/garrick/net/node/internal/large_mail.cpp",
        "  is_owed = taken_ >= due_;",
        "  is_owed = bytes == 0 && taken_ >= due_;",
        ("tests.net.large_mail",),
    ),
    mutation(
        "link: a message that is given up keeps its bytes",
        ROOM + "link_send.cpp",
        "      to->give_bytes_back(size_behind_header(*f));\n",
        "",
        ("tests.net.bytes_ahead",),
    ),
]
