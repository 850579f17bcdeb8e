"""Errors in the nodes of lib/net."""

from mutation import mutation

INTERNAL = "lib/net/garrick/net/node/internal/"
ROOM = "lib/net/garrick/net/node/link/internal/"
PROXY_ROOM = "lib/net/garrick/net/node/proxy/internal/"
OUTBOX = ROOM + "outbox.cpp"
SEND = ROOM + "link_send.cpp"
CORE = INTERNAL + "node_core.cpp"
LINK = ROOM + "link.cpp"
RECEIVE = ROOM + "link_receive.cpp"
SIGNALS = ROOM + "link_signals.cpp"
SPAWN = ROOM + "link_names.cpp"
LANES = ROOM + "held_lanes.cpp"
EXPORTS = ROOM + "exports.cpp"
REMOTE = PROXY_ROOM + "remote_cell.cpp"
ANSWER = ROOM + "link_answers.cpp"
by_quarantine = ("tests.net.quarantine",)
by_guarantees = ("tests.net.node_guarantees",)
by_lives = ("tests.net.remote_lives", "tests.net.many_watches")
by_spawn = ("tests.net.remote_spawn",)
by_releases = ("tests.net.released_handles", "tests.net.remote_spawn")
by_after_down = ("tests.net.after_down",)
by_decoding = ("tests.net.decoding",)
by_large_answers = ("tests.net.large_answers",)
by_workers = ("tests.net.held_lanes", "tests.net.decoded_by_workers")
by_peers = ("tests.net.peers",)
by_several_links = ("tests.net.several_links",)
by_connecting = ("tests.net.connecting",)
by_strangers = ("tests.net.strangers",)
by_answers_due = ("tests.net.answers_due",)

MUTATIONS = [
    mutation(
        "node: a quarantine does not wait for a delivery that is under way",
        CORE,
        "    is_shut.wait();\n",
        "",
        by_quarantine,
    ),
    mutation(
        "node: a quarantine gives up where the line of visits is full",
        CORE,
        "link.insist([&who, shut",
        "link.run([&who, shut",
        by_quarantine,
    ),
    mutation(
        "node: a link that is shut does not answer its questions",
        ROOM + "questions.cpp",
        "  for (auto& [number, q] : std::exchange(open_, {})) answer(",
        "  for (auto& [number, q] : decltype(open_){}) answer(",
        ("tests.net.remote_requests", "tests.net.questions"),
    ),
    mutation(
        "node: messages under way when a link is given up are not told",
        ROOM + "credit.cpp",
        "  while (!under_way_.empty()) settle(first_, why);\n",
        "  static_cast<void>(why);\n",
        by_guarantees + ("tests.net.credit",),
    ),
    mutation(
        "node: a link that is given up tells no monitor",
        SIGNALS,
        "  for (const auto& [number, w] : watches_.end_watching())\n",
        "  for (const auto& [number, w] : watches::monitors{})\n",
        by_guarantees,
    ),
    mutation(
        "node: posted messages overtake waiting ones",
        ROOM + "outbox.hpp",
        "    if (!ready_.empty() || !stack_.writable()) return",
        "    if (!stack_.writable()) return",
        ("tests.net.outbox",),
    ),
    mutation(
        "node: the bytes of messages that may not wait have no limit",
        REMOTE,
        "  if (!slot_.has_room()) {\n",
        "  if (waits_in_vain_ && !slot_.has_room()) {\n",
        ("tests.net.link_credit",),
    ),
    mutation(
        "node: messages that may not wait have no limit",
        REMOTE,
        "return holds_worker || credit() >= -std::int64_t{most_under_way_};",
        "return true;",
        ("tests.net.waiting_messages",),
    ),
    mutation(
        "node: an answer that meets a full line is lost",
        REMOTE,
        "wait_in_line(std::move(all), false)",
        "wait_in_line(std::move(all), true)",
        ("tests.net.full_lines",),
    ),
    mutation(
        "node: a link that is taken back is not forgotten",
        ROOM + "watches.cpp",
        "  linked_.erase(at);\n",
        "",
        by_lives + ("tests.net.watches",),
    ),
    mutation(
        "node: a watcher in another node is held by the actor that it watches",
        SIGNALS,
        "  core::address watcher = proxy.address();\n",
        "  core::address watcher = proxy.address();\n  proxy_of(f.sender).add_strong();\n",
        by_lives,
    ),
    mutation(
        "node: a handle that was released holds on",
        EXPORTS,
        "  if (e.sent != 0 || !e.held) return true;\n",
        "  if (e.sent == 0 || !e.held) return true;\n",
        by_releases,
    ),
    mutation(
        "node: an unread handle is not released",
        ROOM + "handles.cpp",
        "    if (!was_read_[unread_]) return",
        "    if (was_read_[unread_]) return",
        by_releases,
    ),
    mutation(
        "node: the arguments of a spawn are not compared",
        SPAWN,
        "  if (const base::error no = difference(order->types, *what->arguments()))\n",
        "  if (const base::error no = difference(order->types, order->types))\n",
        by_spawn,
    ),
    mutation(
        "node: there is no limit to the actors that a peer may have spawned",
        SPAWN,
        "  if (spawning_ + exports_.spawned() >= node_->settings().most_spawned ||\n",
        "  if (\n",
        by_spawn,
    ),
    mutation(
        "node: an actor that was spawned with another protocol is not let go",
        SPAWN,
        "  if (no) {\n    if (f.sender)\n",
        "  if (no) {\n    if (!f.sender)\n",
        by_spawn,
    ),
    mutation(
        "node: a receiver that keeps up is granted nothing",
        ROOM + "exports.hpp",
        "return x.taken >= x.due && !x.is_owed;",
        "return x.taken >= 4 * x.window && !x.is_owed;",
        ("tests.net.nodes", "tests.net.exports"),
    ),
    mutation(
        "node: a peer that was down comes back under any settings",
        CORE,
        "      was_in_use = true;\n"
        "      if (settings_.after_down == peer_return::new_life_only) "
        "quarantined_.add(link.peer());\n",
        "      was_in_use = true;\n",
        by_after_down,
    ),
    mutation(
        "node: another life of a node is up while the one before is a peer",
        CORE,
        "others.push_back(at->second.link);\n",
        "{}\n",
        by_peers,
    ),
    mutation(
        "node: a peer that lets another link be used keeps the earlier one",
        CORE,
        "    earlier.insist([why](hosted& h) { static_cast<link_port&>(h).shut(why); });\n",
        "",
        by_several_links,
    ),
    mutation(
        "node: a sender that has dropped the receiver is not told of an undecoded message",
        RECEIVE,
        "  const remote_cell* const to = proxies_.find(f.sender);\n",
        "  const remote_cell* const to = proxies_.find(f.sender);\n  if (to == "
        "nullptr) return;\n",
        by_decoding,
    ),
    mutation(
        "node: a message that was not decoded is no dead letter",
        RECEIVE,
        "case frame_kind::decode_error: return on_decode_error(f);",
        "case frame_kind::decode_error: return;",
        by_decoding,
    ),
    mutation(
        "node: frames to no actor are not counted",
        RECEIVE,
        "    ++to_nobody_;\n",
        "",
        by_decoding,
    ),
    mutation(
        "node: a dial goes to the address of listening, and not to the advertised one",
        INTERNAL + "node_core_dials.cpp",
        "const endpoint to = given.advertised();",
        "const endpoint to = given;",
        by_connecting,
    ),
    mutation(
        "node: an answer overtakes messages that wait in front of the link",
        ANSWER,
        "  if (!outbox_.is_behind()) return answer_now(",
        "  if (e != nullptr) return answer_now(",
        ("tests.net.waiting_order",),
    ),
    mutation(
        "node: a release overtakes messages that wait in front of the link",
        SEND,
        "  if (!outbox_.is_behind()) return released_now(who);\n",
        "  if (asker_ != nullptr) return released_now(who);\n",
        ("tests.net.waiting_order",),
    ),
    mutation(
        "node: a release does not wait for messages under way in other lanes",
        ROOM + "credit.hpp",
        "releases_.empty() || releases_.front().behind > first_",
        "releases_.empty()",
        ("tests.net.link_order", "tests.net.credit"),
    ),
    mutation(
        "node: an answer has a lane of its own",
        ANSWER,
        "  m.lane = lane_of(to);\n  return m;",
        "  return m;",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: the end of an actor has a lane of its own",
        SIGNALS,
        "  m.lane = net::lane_of(\n      {.kind = frame_kind::message, "
        ".receiver = to.id(), .sender = sender_id(dead.id())});\n",
        "",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: a request has a lane of its own",
        SEND,
        "  m.lane = lane;\n",
        "  static_cast<void>(lane);\n",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: a request does not say by which number its asker can be reached",
        SEND,
        ".value_or(sender_id(asker));",
        ".value_or(f.sender), f.sender = sender_id(asker);",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: a thread's requests have a lane of their own",
        REMOTE,
        "if (!asker.asks_for_thread())",
        "if (asker.id() != 0)",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: a request by an actor's thread otherwise than by the actor has no asker",
        REMOTE,
        "? 0 : core::detail::running_id();",
        "? 0 : 0 * core::detail::running_id();",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: a request handed on for a thread is in the lane of the actor that hands it on",
        REMOTE,
        "return e.is(core::envelope_flag::seen) ? 0 : core::detail::running_id();",
        "return core::detail::running_id();",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: requests that are passed on have a lane of their own",
        REMOTE,
        "  if (asker.is_proxy()) return 0;\n",
        "",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: a message that waits for a busy link forgets its lane",
        REMOTE,
        ".sender = answering_cell::whose_lane(*e), ",
        "",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: a message that waits behind others forgets its lane",
        REMOTE,
        ".sender = answering_cell::whose_lane(*e), ",
        ".sender = 0, ",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: a message that does not leave keeps its receiver's credit",
        SEND,
        "      to->grant_credit(1);\n",
        "      to->grant_credit(0);\n",
        ("tests.net.link_credit",),
    ),
    mutation(
        "node: an actor that was forgotten is sent as much ahead as before",
        EXPORTS,
        "  if (x != nullptr) x->due = first_credit / 2;\n",
        "",
        ("tests.net.link_credit", "tests.net.exports"),
    ),
    mutation(
        "node: an actor with another handle is sent the first credit again",
        EXPORTS,
        "  if (x != nullptr) x->due = first_credit / 2;\n",
        "  if (x != nullptr) x->window = first_credit, x->due = first_credit / 2;\n",
        ("tests.net.link_credit", "tests.net.exports"),
    ),
    mutation(
        "node: an answer gives back credit that it has not taken",
        ROOM + "credit.hpp",
        "begin(0, nullptr, 0, 0)",
        "begin(0, nullptr, 0, 1)",
        ("tests.net.link_credit", "tests.net.credit"),
    ),
    mutation(
        "node: a signal that the stack does not take within a call is lost",
        OUTBOX,
        "  return no != net_errc::overload;\n",
        "  return true;\n",
        ("tests.net.many_signals",),
    ),
    mutation(
        "node: the error that answers a request has a lane of its own",
        ANSWER,
        "  m.lane = lane_of(to);\n  post(",
        "  post(",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: a release does not wait for an answer that brings the handle home",
        ROOM + "handles.cpp",
        "    brings_home_ = true;\n",
        "",
        ("tests.net.link_order",),
    ),
    mutation(
        "node: an entry in front of a link does not keep its proxy",
        PROXY_ROOM + "mail_slot.cpp",
        "what.to != last_;",
        "what.to != last_ && last_ == nullptr;",
        ("net_node.mail_slot",),
    ),
    mutation(
        "node: the first entry that is taken relies on earlier ones",
        PROXY_ROOM + "mail_slot.cpp",
        "  last_ = nullptr;\n",
        "",
        ("net_node.mail_slot",),
    ),
    mutation(
        "node: a request that is too late keeps its credit",
        REMOTE,
        "  grant(1);\n  core::respond_timed_out",
        "  core::respond_timed_out",
        ("tests.net.link_credit",),
    ),
    mutation(
        "node: signals wait in front of a busy link until it has room",
        ROOM + "outbox.hpp",
        "taken_.any_signals() ||\n           slot_.any_signals()",
        "false",
        ("tests.net.waiting_messages",),
    ),
    mutation(
        "node: messages that wait in front of a link have no limit",
        PROXY_ROOM + "mail_slot.hpp",
        "in_front_.load(std::memory_order_relaxed) <\n           most_bytes_;",
        "in_front_.load(std::memory_order_relaxed) + 1 != 0;",
        ("net_node.mail_slot",),
    ),
    mutation(
        "node: the first visitor that is let in does not look at waiting messages",
        REMOTE,
        "    if (slot_.any()) link.send_waiting();\n",
        "",
        ("tests.net.busy_links", "tests.net.waiting_order"),
        equivalent="a later message waits behind it, and the visit that was brought takes both",
    ),
    mutation(
        "node: settings that contradict each other wait for a peer",
        CORE,
        "  if (base::error no = check_without_stacks(settings_)) return no;\n",
        "",
        by_connecting + ("tests.net.refusals",),
    ),
    mutation(
        "node: a message that is too large is told without its type",
        SEND,
        "    if (why == net_errc::too_large) because = why.at(content_name(*f));\n",
        "",
        ("tests.net.unsendable_answers",),
    ),
    mutation(
        "node: an answer that cannot be written is not counted",
        ANSWER,
        "    ++not_encoded_;\n",
        "",
        ("tests.net.unsendable_answers",),
    ),
    mutation(
        "node: a large answer is encoded in the link",
        ANSWER,
        "may_be_left ? most_encoded_inside : writer_settings().largest",
        "writer_settings().largest",
        by_large_answers,
    ),
    mutation(
        "node: a thread that finds the link busy leaves a large answer to it",
        RECEIVE,
        "    asker_->learn(s->answer);\n",
        "",
        by_large_answers,
    ),
    mutation(
        "node: a large answer that was left to its giver goes back to the link",
        REMOTE,
        "    if (told != nullptr) how = told;\n",
        "    how = told != nullptr ? nullptr : how;\n",
        by_large_answers,
    ),
    mutation(
        "node: after a small answer those of its type are encoded outside of the link for ever",
        PROXY_ROOM + "remote_cell.hpp",
        "      set_large(is ? content : nullptr);\n",
        "      set_large(content);\n",
        by_large_answers,
    ),
    mutation(
        "node: a message that was never sent is told for another reason",
        LINK,
        "  if (why == net_errc::peer_down)  // it was never sent\n",
        "  if (false)\n",
        by_guarantees,
    ),
    mutation(
        "node: a message that may have come is reported as never sent",
        LINK,
        "  if (why == net_errc::peer_down)  // it was never sent\n",
        "  if (why)\n",
        by_guarantees,
    ),
    mutation(
        "node: a peer that is let send again is a peer again",
        RECEIVE,
        "  if (!f.receiver) return;  // the link is in use by now (`begins_use`)\n",
        "  if (!f.receiver) return node_->usable(*this);\n",
        by_several_links + by_strangers,
    ),
    mutation(
        "node: a peer may have any number of open questions",
        RECEIVE,
        "    if (unanswered() >= node_->settings().most_questions)\n",
        "    if (false)\n",
        by_strangers,
    ),
    mutation(
        "node: a peer may have any number of links and monitors",
        ROOM + "watches.hpp",
        "return watched_.size() + linked_.size() >= most_;",
        "return false;",
        ("tests.net.strangers", "tests.net.watches"),
    ),
    mutation(
        "node: a peer may know of any number of actors",
        ROOM + "link_names.cpp",
        "    if (!exports_.has_room_for(*who, node_->settings().most_exports))\n"
        "      return refuse(f, base::make_error(net_errc::overload, \"a node\", "
        "\"too many exported actors\"));\n",
        "",
        by_strangers,
    ),
    mutation(
        "node: a peer at its limit is not told of an actor again that it knows of",
        ROOM + "exports.hpp",
        "return by_id_.size() < most || "
        "number_of(core::handle_access::make_address(&who)).has_value();",
        "return static_cast<void>(who), by_id_.size() < most;",
        ("tests.net.handles", "tests.net.strangers"),
    ),
    mutation(
        "node: a peer gives back handles that it never had",
        EXPORTS,
        "  if (at == by_id_.end() || at->second.sent < n) return false;\n",
        "  if (at == by_id_.end()) return false;\n  n = std::min(n, at->second.sent);\n",
        by_strangers,
    ),
    mutation(
        "node: a system that ends does not wait for a peer's answer",
        ROOM + "questions.cpp",
        "  env_.outside_began();\n",
        "  env_.outside_began();\n  env_.outside_ended();\n",
        by_answers_due,
    ),
    mutation(
        "node: a system that ends goes on waiting for an answer that has come",
        ROOM + "questions.cpp",
        "    core::respond_error(q.request, with.error());\n  env_.outside_ended();\n",
        "    core::respond_error(q.request, with.error());\n",
        by_answers_due,
    ),
    mutation(
        "node: the thread of a link waits for a full mailbox",
        RECEIVE,
        "      to.deliver(m.what.release());\n",
        "      --base::this_thread.no_wait, to.deliver(m.what.release()), "
        "++base::this_thread.no_wait;\n",
        ("tests.net.full_mailboxes",),
    ),
    mutation(
        "node: a peer kills an actor that may not be ended",
        SIGNALS,
        "  if (x == nullptr || !lets_end()) return;\n",
        "  if (x == nullptr) return;\n",
        by_lives,
    ),
    mutation(
        "node: an actor ends for a peer's asking that has no link with it",
        SIGNALS,
        "  if (!(l && l->set_here) && !lets_end()) {\n",
        "  if (false) {\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "node: a stack that does not confirm is used",
        "lib/net/garrick/net/node/node_settings.cpp",
        "  if (!stack->provides.confirmed)\n",
        "  if (false)\n",
        ("tests.net.refusals",),
    ),
    mutation(
        "node: later messages overtake one that a worker decodes",
        LANES,
        "    at->second.behind.push_back(kept(m));\n    return true;\n",
        "    return false;\n",
        by_workers,
    ),
    mutation(
        "node: a type that has brought a handle home goes to a worker again",
        LANES,
        "      if (by->needs_link()) for_the_link_ = by->how().content;\n",
        "",
        by_workers,
    ),
    mutation(
        "node: a busy link puts its look at the workers off again and again",
        LANES,
        "looks ? now() + look_at_workers : next_taking_};\n",
        "now() + look_at_workers};\n",
        by_workers,
    ),
    mutation(
        "node: the actor of a message that was taken back keeps its bytes",
        LANES,
        "        k.bytes = by->take_bytes();  // its actor may stay in a queue for long\n",
        "",
        ("tests.net.decoding_memory",),
    ),
    mutation(
        "node: large messages are left to workers that all wait",
        LANES,
        "  if (!taken_back_.expired() || all_workers_wait()) return nullptr;\n",
        "  if (!taken_back_.expired()) return nullptr;\n",
        by_workers,
    ),
]
