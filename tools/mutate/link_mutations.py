"""More errors in the links of nodes: counts, claims of a peer that are not believed, and rests of
ended links.
"""

from mutation import mutation

INTERNAL = "lib/net/garrick/net/node/internal/"
ROOM = "lib/net/garrick/net/node/link/internal/"
PROXY_ROOM = "lib/net/garrick/net/node/proxy/internal/"
OUTBOX = ROOM + "outbox.cpp"
SEND = ROOM + "link_send.cpp"
LINK = ROOM + "link.cpp"
RECEIVE = ROOM + "link_receive.cpp"
SIGNALS = ROOM + "link_signals.cpp"
SPAWN = ROOM + "link_names.cpp"
EXPORTS = ROOM + "exports.cpp"
REMOTE = PROXY_ROOM + "remote_cell.cpp"
WANTED = PROXY_ROOM + "wanted_requests.cpp"
by_releases = ("tests.net.released_handles",)
by_strangers = ("tests.net.strangers", "tests.net.lying_peers")
by_names_at_home = ("tests.net.names_at_home",)
by_lives = ("tests.net.remote_lives", "tests.net.many_watches")
by_waiting = ("tests.net.waiting_messages",)
by_spawn = ("tests.net.remote_spawn",)
by_handles = ("tests.net.handles",)
by_lanes = ("tests.net.held_lanes",)
by_proxies = ("net_node.proxies",)
by_outbox = ("tests.net.outbox",)

MUTATIONS = [
    # ---- handles
    mutation(
        "link: handles in a message that does not leave are held for ever",
        SEND,
        "    for (std::uint32_t i = 0; i < f->handles; ++i)\n",
        "    for (std::uint32_t i = 0; i < f->handles && m.report == 0; ++i)\n",
        by_releases,
    ),
    mutation(
        "link: handles in a message that cannot be encoded are held for ever",
        ROOM + "handles.cpp",
        "      if (!is_sent)\n        for",
        "      if (!is_sent && sent.size() > 1000)\n        for",
        by_handles + by_releases + ("tests.net.nodes",),
    ),
    mutation(
        "link: a handle counts as sent though there is no memory for its number",
        ROOM + "handles.cpp",
        "  sent_.emplace_back();  // first, since there may be no memory for it\n"
        "  sent_.back() = exports_.hold(*who, as);\n",
        "  const actor_id id = exports_.hold(*who, as);\n  sent_.push_back(id);\n",
        ("tests.net.handles_memory",),
    ),
    mutation(
        "link: a proxy is held for ever if there is no memory for its protocol",
        PROXY_ROOM + "proxies.hpp",
        "    auto held = core::handle_access::adopt<core::any_protocol>(&proxy);\n"
        "    proxy.seen_as(as);\n",
        "    proxy.seen_as(as);\n"
        "    auto held = core::handle_access::adopt<core::any_protocol>(&proxy);\n",
        ("tests.net.handles_memory",),
    ),
    mutation(
        "link: a handle comes home in each frame behind the first such one",
        ROOM + "handles.cpp",
        "  brings_home_ = false;\n",
        "",
        by_handles,
    ),
    mutation(
        "link: a number that was read is returned as unread, too",
        ROOM + "handles.cpp",
        "    was_read_[place] = true;  // not without memory: then it is unread\n",
        "",
        by_handles,
    ),
    mutation(
        "link: one place of a frame's handles is read twice",
        ROOM + "handles.cpp",
        "if (place >= in_.handles || was_read_[place])",
        "if (place >= in_.handles)",
        by_handles + by_strangers,
    ),
    mutation(
        "link: an actor that was only named comes home as a handle",
        ROOM + "exports.hpp",
        "return x != nullptr && x->held ? x : nullptr;",
        "return x;",
        by_names_at_home,
    ),
    mutation(
        "link: a name that leads home leads by way of the name's node",
        ROOM + "link_names.cpp",
        "    if (const remote_cell* const theirs = proxies_.as_peers(*who))\n      "
        "return post(",
        "    if (const remote_cell* const theirs = is_closed_ ? "
        "proxies_.as_peers(*who) : nullptr)\n      return post(",
        by_names_at_home,
    ),
    mutation(
        "link: a release overtakes the name that leads home",
        ROOM + "link_names.cpp",
        "    if (const remote_cell* const theirs = proxies_.as_peers(*who))\n      "
        "return post({.kind = frame_kind::resolved, .receiver = theirs->id(), "
        ".number = f.number},\n                  std::move(*p));\n",
        "    if (const remote_cell* const theirs = proxies_.as_peers(*who)) {\n      "
        "outgoing m = to_outgoing({.kind = frame_kind::resolved, .receiver = "
        "theirs->id(), .number = f.number},\n                               "
        "std::move(*p));\n      m.lane = layer_lane - 1;\n      return "
        "post(std::move(m), now());\n    }\n",
        by_names_at_home,
    ),
    mutation(
        "link: a name leads home to an actor that was given away with less",
        ROOM + "link_names.cpp",
        "if (const signature_codec* const s = x->lacks(*q.expected))",
        "if (const signature_codec* const s = is_closed_ ? x->lacks(*q.expected) : nullptr)",
        by_names_at_home,
    ),
    mutation(
        "link: a name leads home to an actor that was given away for other answers",
        EXPORTS,
        "return one != nullptr && one->answer.content == s.answer.content;",
        "return one != nullptr;",
        by_names_at_home,
    ),
    mutation(
        "link: a name leads home to an actor that has ended",
        ROOM + "link_names.cpp",
        "  if (who->has_ended())  // which",
        "  if (is_closed_)  // which",
        by_names_at_home,
    ),
    mutation(
        "link: the number in a name that makes no sense is kept",
        ROOM + "link_names.cpp",
        "  if (!f.sender || f.receiver) {\n    if (f.sender)\n",
        "  if (!f.sender || f.receiver) {\n    if (!f.sender)\n",
        by_names_at_home,
    ),
    mutation(
        "link: an actor that was spawned and let go counts on among the spawned",
        EXPORTS,
        "  if (std::exchange(e.is_spawned, false)) --spawned_;\n",
        "",
        by_spawn,
    ),
    mutation(
        "link: a spawn that failed counts on among those under way",
        SPAWN,
        "  --spawning_;\n  if (is_closed_) return;",
        "  if (who) --spawning_;\n  if (is_closed_) return;",
        by_spawn,
    ),
    mutation(
        "link: a peer that knows as many actors as it may has more spawned",
        SPAWN,
        "      exports_.size() >= node_->settings().most_exports)\n"
        "    return refuse(f, base::make_error(net_errc::overload, \"a node\", "
        "\"too many spawned",
        "      node_->settings().most_exports == ~0u)\n"
        "    return refuse(f, base::make_error(net_errc::overload, \"a node\", "
        "\"too many spawned",
        by_spawn,
    ),
    # ---- watches
    mutation(
        "link: an end is told to another actor than the one that watches",
        ROOM + "watches.cpp",
        "at == watching_.end() || at->second.watcher_id != watcher",
        "at == watching_.end()",
        by_strangers + ("tests.net.watches",),
    ),
    mutation(
        "link: a monitor is taken back for another actor than the watched one",
        ROOM + "watches.cpp",
        "at == watched_.end() || at->second.target_id != target",
        "at == watched_.end()",
        by_strangers + ("tests.net.watches",),
    ),
    mutation(
        "link: an ended actor is linked on with the one that was told",
        SIGNALS,
        "    static_cast<void>(watches_.unlink(to.id(), x.from));\n",
        "",
        ("tests.net.remote_lives",),
    ),
    mutation(
        "link: actors here are watched on by a peer that is lost",
        SIGNALS,
        "  for (const auto& [key, w] : watches_.end_watched())\n",
        "  for (const auto& [key, w] : watches::monitors_of_peer{})\n",
        by_lives,
    ),
    mutation(
        "link: actors here may watch any number of the peer's",
        SIGNALS,
        "  if (watches_.is_full()) {\n",
        "  if (false) {\n",
        by_lives,
    ),
    mutation(
        "link: a link that the peer has set is set again, and its actor named twice",
        SIGNALS,
        "  if (monitor == 0 && watches_.link_again(to.id(), watcher)) return;\n",
        "",
        ("tests.net.remote_lives",),
    ),
    mutation(
        "link: a signal overtakes those that wait for room",
        OUTBOX,
        "const bool may_go = signals_.empty() && signals_under_way_",
        "const bool may_go = signals_under_way_",
        ("tests.net.outbox",),
    ),
    # ---- grants
    mutation(
        "link: large messages are sent as far ahead as small ones",
        ROOM + "exports.hpp",
        "    x.taken_bytes += bytes;\n",
        "    static_cast<void>(bytes);\n",
        ("tests.net.exports",),
    ),
    mutation(
        "link: a bounded mailbox is sent more than the first credit ahead",
        EXPORTS,
        "return window < most_credit && who.limits().policy == "
        "core::mailbox_policy::unbounded",
        "return window < most_credit && who.limits().policy != "
        "core::mailbox_policy::drop_newest",
        ("tests.net.simulated_nodes",),
    ),
    mutation(
        "link: a receiver that does not keep up is sent as much ahead as before",
        EXPORTS,
        "if (x.window > first_credit && x.due == x.window / 2) {",
        "if (x.window < first_credit && x.due == x.window / 2) {",
        ("tests.net.exports",),
    ),
    # ---- requests
    mutation(
        "link: an answer of another type is read as one of the right type",
        RECEIVE,
        "  if (q.signature == nullptr || f.type != q.signature->answer.type)\n",
        "  if (q.signature == nullptr)\n",
        by_strangers,
    ),
    mutation(
        "link: a request's number may be in use",
        ROOM + "peer_requests.hpp",
        "!open_.contains(number) &&\n           !wanted_",
        "!wanted_",
        ("tests.net.strangers", "tests.net.lying_peers", "tests.net.peer_requests"),
    ),
    mutation(
        "link: a request that was withdrawn while it waited for room leaves",
        SEND,
        "  if (!questions_.is_open(at)) return give_up(m, {}), false;\n",
        "  if (!questions_.is_open(at)) return true;\n",
        ("tests.net.remote_requests", "tests.net.overdue_requests"),
    ),
    mutation(
        "link: a request that is withdrawn keeps its limit",
        WANTED,
        "    at->second = until;\n",
        "    at->second = std::max(at->second, until);\n",
        ("net_node.wanted_requests", "tests.net.overdue_requests"),
    ),
    mutation(
        "link: messages that were taken in are lost when the link ends in the same call",
        LINK,
        "  if (std::exchange(is_closed_, true)) return;\n  deliver_held();\n",
        "  if (std::exchange(is_closed_, true)) return;\n",
        ("tests.net.own_stacks",),
    ),
    # ---- waking and waiting
    mutation(
        "link: a sleeping actor is woken by the first message of a read",
        RECEIVE,
        "scope(std::in_place);",
        "scope;",
        ("tests.net.simulated_nodes",),
    ),
    mutation(
        "link: a caller that joins an attempt gives up with it",
        "lib/net/garrick/net/node/node.hpp",
        "(!earlier || clock.now() - start >= longest_attempt() / 2)",
        "(!earlier && clock.now() - start >= longest_attempt() / 2)",
        ("tests.net.connecting",),
    ),
    mutation(
        "link: why an attempt has failed is forgotten when another one is made",
        "lib/net/garrick/net/node/node.hpp",
        "      earlier = answer.error();\n",
        "",
        ("tests.net.connecting",),
    ),
    mutation(
        "link: of an endpoint that fails it is said that it does not speak",
        INTERNAL + "unreached_endpoints.hpp",
        "    o.is_to_speak = false;\n",
        "",
        ("net_node.unreached_endpoints",),
    ),
    mutation(
        "link: a sender without credit of an actor does not wait for it",
        REMOTE,
        "need_credit(first_credit, patience);",
        "need_credit(first_credit, patience - patience);",
        by_waiting,
    ),
    mutation(
        "link: more and more answers wait for a peer that reads nothing",
        ROOM + "outbox.hpp",
        "return waiting(frame_class::refusals) > most_.refused_bytes ||",
        "return most_.refused_bytes == 0 ||",
        ("tests.net.strangers",),
    ),
    mutation(
        "link: more and more signals wait for a peer that reads nothing",
        ROOM + "outbox.hpp",
        "waiting(frame_class::ends) > most_.ends ||",
        "waiting(frame_class::ends) == -1 ||",
        ("tests.net.strangers",),
    ),
    mutation(
        "link: an answer that the stack has no room for counts no more",
        RECEIVE,
        "outbox_.answers_in_slot()) +\n         "
        "static_cast<std::size_t>(outbox_.waiting(outbox::frame_class::answers));",
        "outbox_.answers_in_slot());",
        ("tests.net.unread_answers",),
    ),
    mutation(
        "link: an answer that has left its outbox counts for ever",
        OUTBOX,
        "(m.bytes.size() + frame_weight) : 1;",
        "(m.bytes.size() + frame_weight) : (more > 0);",
        ("tests.net.unread_answers",),
    ),
    mutation(
        "link: a request that the peer has cancelled does not count, although its answer waits",
        RECEIVE,
        "std::max(asked_.size(), outbox_.answers_in_slot())",
        "std::max(asked_.size(), outbox_.answers_in_slot() * 0)",
        ("tests.net.unread_answers",),
    ),
    mutation(
        "waiting: an answer that was taken counts no more",
        ROOM + "outbox.hpp",
        "slot_.answers() + std::size_t{taken_.answers()};",
        "std::size_t{slot_.answers()};",
        ("tests.net.unread_answers",),
    ),
    mutation(
        "waiting: an answer counts when it has gone",
        PROXY_ROOM + "mail_slot.cpp",
        "  if (h.as == kind::answer) --answers_;\n",
        "",
        ("net_node.mail_slot",),
    ),
    mutation(
        "link: a watcher of more than is allowed hears that no actor is there",
        SIGNALS,
        "return refuse_watch(f, monitor, too_many_watches());",
        "return refuse_watch(f, monitor, base::exit_code::unreachable);",
        ("tests.net.many_watches",),
    ),
    mutation(
        "link: a node that ends does not wait for messages under way",
        LINK,
        "!outbox_.is_idle() || credit_.under_way() != 0) return;",
        "!outbox_.is_idle()) return;",
        ("tests.net.leaving",),
    ),
    mutation(
        "link: a node that ends does not wait for messages that a worker reads",
        LINK,
        "  if (!lanes_.empty()) return;",
        "  if (is_closed_) return;",
        ("tests.net.leaving",),
    ),
    mutation(
        "proxy: a forked child speaks to the parent's peers",
        REMOTE,
        "  if (env().is_copy()) return true;",
        "  if (env().is_copy() && door == nullptr) return true;",
        ("tests.net.forked_nodes",),
    ),
    mutation(
        "node: a forked child ends the parent's node",
        "lib/net/garrick/net/node/node.cpp",
        "  const bool is_copy = core_->env().is_copy();",
        "  const bool is_copy = core_ == nullptr;",
        ("tests.net.forked_nodes",),
    ),
    mutation(
        "proxy: it understands any answer that is asked for",
        REMOTE,
        "s != nullptr && s->answer.content == answer ?",
        "s != nullptr && answer != nullptr ?",
        ("tests.net.nodes",),
    ),
    mutation(
        "link: large answers count as refusals",
        OUTBOX,
        "    case frame_kind::response: return answers;",
        "    case frame_kind::response: return refusals;",
        ("tests.net.outbox",),
    ),
    mutation(
        "link: a cancel overtakes its request",
        SIGNALS,
        "  m.lane = q.lane;  // it must not overtake the request\n",
        "",
        ("tests.net.link_order",),
    ),
    mutation(
        "link: a number that was cancelled is used again",
        ROOM + "peer_requests.hpp",
        "!wanted_.knows(number);",
        "(number != 0 || !wanted_.knows(number));",
        ("tests.net.strangers", "tests.net.peer_requests"),
    ),
    mutation(
        "link: a layer that throws in a visit leaves it as it is",
        REMOTE,
        "      link.shut(base::make_error(net_errc::owner_failed, \"a link\", why));",
        "      static_cast<void>(why);",
        ("tests.net.own_stacks",),
    ),
    mutation(
        "link: refusals that were read count for ever",
        OUTBOX,
        "+= more * n;",
        "+= more > 0 ? n : 0;",
        ("tests.net.strangers",),
    ),
    mutation(
        "link: a peer that reads nothing is told more and more of undecodable frames",
        OUTBOX,
        "    case frame_kind::resolved:\n    case frame_kind::decode_error: return "
        "refusals;",
        "    case frame_kind::decode_error: return mail;\n    case "
        "frame_kind::resolved: return refusals;",
        ("tests.net.strangers",),
    ),
    mutation(
        "link: a peer that is refused all that it may ask at once does not read",
        LINK,
        "std::max(2 * node.most_bytes_waiting, std::size_t{node.most_questions} * "
        "large_refusal)",
        "2 * node.most_bytes_waiting",
        ("tests.net.strangers",),
    ),
    mutation(
        "link: the error for an answer that is too large has a lane of its own",
        SEND,
        "      instead.lane = m.lane;\n",
        "",
        ("tests.net.link_order",),
    ),
    mutation(
        "link: of a hard limit peers may fill more than a quarter",
        EXPORTS,
        "window <= who.hard_limit() / 8;",
        "window <= who.hard_limit() / 2;",
        ("tests.net.link_credit",),
    ),
    mutation(
        "link: a node in between grants everything that the third one takes",
        ROOM + "exports.hpp",
        "static_cast<const core::proxy_cell*>(who)->credit() >= 0;",
        "true;",
        ("tests.net.link_credit",),
    ),
    mutation(
        "link: a request that was handed on and cancelled is known for ever",
        ROOM + "peer_requests.cpp",
        "    wanted_.forget(number);  // an answer may never come\n",
        "    static_cast<void>(number);\n",
        ("tests.net.overdue_requests", "tests.net.node_guarantees", "tests.net.peer_requests"),
    ),
    mutation(
        "link: credit of messages under way is kept when a layer throws",
        ROOM + "credit.cpp",
        "settle(first_, why);\n  give_back();\n",
        "settle(first_, why);\n",
        ("tests.net.own_stacks", "tests.net.credit"),
    ),
    mutation(
        "link: a proxy that is let go of late takes the next one with it",
        PROXY_ROOM + "proxies.hpp",
        "at == by_id_.end() || at->second != &who",
        "at == by_id_.end()",
        by_proxies + ("tests.net.link_credit",),
    ),
    mutation(
        "link: the proxy without handles stays the one that is known",
        PROXY_ROOM + "proxies.hpp",
        "      std::exchange(at->second, made)->drop_weak();",
        "      at->second->drop_weak();",
        by_proxies + ("tests.net.link_credit",),
    ),
    mutation(
        "link: a proxy that was released keeps its memory until the link ends",
        PROXY_ROOM + "proxies.hpp",
        "    by_id_.erase(at);\n    who.drop_weak();\n",
        "    by_id_.erase(at);\n",
        by_proxies,
    ),
    mutation(
        "link: the actor of another link comes home by this one",
        PROXY_ROOM + "proxies.hpp",
        "proxy != nullptr && proxy->link() == self_ ?",
        "proxy != nullptr ?",
        by_proxies + by_handles,
    ),
    # ---- held lanes
    mutation(
        "link: the frame that is held last is read first",
        ROOM + "held_lanes.cpp",
        "at->second.behind.push_back(kept(m));",
        "at->second.behind.push_front(kept(m));",
        by_lanes,
    ),
    mutation(
        "link: a message goes to a worker though none has begun with the last one",
        ROOM + "held_lanes.cpp",
        "  if (!taken_back_.expired() || all_workers_wait()) return nullptr;\n",
        "  if (all_workers_wait()) return nullptr;\n",
        by_lanes,
    ),
    mutation(
        "link: looks at the workers count on from one message to the next",
        ROOM + "held_lanes.cpp",
        "  l.looks = 0;\n",
        "",
        by_lanes,
    ),
    mutation(
        "link: a request that is cancelled while it is held keeps its time",
        ROOM + "held_lanes.cpp",
        "    if (m.decoded->kind == frame_kind::cancel) withdraw",
        "    if (m.decoded->kind == frame_kind::marker) withdraw",
        by_lanes,
    ),
    mutation(
        "link: a message is taken from a worker that has begun",
        ROOM + "decoding.hpp",
        "           now == stage::taken || is_done();\n",
        "           now != stage::waits;\n",
        by_lanes,
    ),
    # ---- the outbox
    mutation(
        "link: any number of signals is under way",
        OUTBOX,
        "signals_.empty() && signals_under_way_ != most_.signals;",
        "signals_.empty();",
        by_outbox,
    ),
    mutation(
        "link: signals that wait outlive the outbox",
        OUTBOX,
        "  signals_.clear();\n",
        "",
        by_outbox,
    ),
    mutation(
        "link: an actor that was linked by an older handle is linked on",
        SIGNALS,
        "    if (from != l->there) tell<core::signals::unwatch>"
        "(who, l->there, std::uint64_t{0});\n",
        "",
        ("tests.net.remote_lives",),
    ),
    mutation(
        "proxy: an envelope that is lost keeps its receiver's credit",
        PROXY_ROOM + "remote_cell.hpp",
        "    link_credit_.give_back(weight);\n"
        "    grant(1);\n",
        "    link_credit_.give_back(weight);\n",
        ("tests.net.link_credit",),
    ),
]
