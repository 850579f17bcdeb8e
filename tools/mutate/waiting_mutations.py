"""Errors in the queue in front of a link of nodes: its room, its credit and its order."""

from mutation import mutation

ROOM = "lib/net/garrick/net/node/link/internal/"
PROXY_ROOM = "lib/net/garrick/net/node/proxy/internal/"
OUTBOX = ROOM + "outbox.cpp"
SEND = ROOM + "link_send.cpp"
LINK = ROOM + "link.cpp"
EXPORTS = ROOM + "exports.cpp"
REMOTE = PROXY_ROOM + "remote_cell.cpp"
WAITING = PROXY_ROOM + "mail_slot.cpp"
by_waiting = ("tests.net.waiting_messages",)
by_credit = ("tests.net.link_credit",)
by_frames = ("net_node.mail_slot",)
by_outbox = ("tests.net.outbox",)

MUTATIONS = [
    mutation(
        "link: messages that it has taken and not sent yet take no room",
        OUTBOX,
        "slot_.wait_in_front(ready_bytes_ += m.bytes.size());",
        "ready_bytes_ += m.bytes.size();",
        ("tests.net.pauses",),
    ),
    mutation(
        "link: an urgent message in front of a busy link is a plain one",
        REMOTE,
        ".type = as.type, .urgent = true},",
        ".type = as.type, .urgent = false},",
        ("tests.net.remote_requests",),
    ),
    mutation(
        "link: a sender that pauses for a proxy that is gone is granted nothing",
        SEND,
        "who.grant_credit(static_cast<std::uint32_t>(-left));",
        "static_cast<void>(left);",
        ("tests.net.pauses",),
    ),
    mutation(
        "link: a sender that has filled the line pauses all the same",
        REMOTE,
        "take_or_owe(may_pause);",
        "take_or_owe();",
        ("tests.net.pauses",),
    ),
    mutation(
        "link: a message with credit is lost in front of a busy link that has no room",
        REMOTE,
        "  bool first = false;\n  try {",
        "  bool first = false;\n  if (!link_credit_.slot().has_room()) return "
        "lost(std::move(e), too_much_waits()), false;\n  try {",
        by_credit,
    ),
    mutation(
        "link: a message that only the link can encode has no size while it stands",
        REMOTE,
        "link_credit_.slot().is_long() ? encoded_size(*e) : 0;",
        "0;",
        by_waiting,
    ),
    mutation(
        "link: a message only the link can encode has no size unless the first protocol has it",
        REMOTE,
        "    return by_content(e.type);\n  }();",
        "    return tables_.front()->by_content(e.type);\n  }();",
        by_waiting,
    ),
    mutation(
        "link: a codec that sends waits behind others while it holds the link",
        SEND,
        "  const core::no_wait_scope scope;  // as in `handles::encode`\n",
        "",
        by_waiting,
    ),
    mutation(
        "link: each actor that finds no room waits in vain",
        REMOTE,
        "holds_worker && waits_in_vain_.load(std::memory_order_relaxed);",
        "false;",
        ("tests.net.pauses",),
    ),
    mutation(
        "link: after a wait in vain actors never wait again",
        PROXY_ROOM + "remote_cell.hpp",
        "waits_in_vain_.store(false, std::memory_order_relaxed);  // order: as above",
        "waits_in_vain_.store(true, std::memory_order_relaxed);  // order: as above",
        ("tests.net.pauses",),
    ),
    mutation(
        "link: another node leaves no room below a bound to senders that wait here",
        EXPORTS,
        "lets_wait ? std::min(who.soft_limit(), window / 2) : window / 2;",
        "lets_wait ? window / 2 : window / 2;",
        ("tests.net.exports",),
    ),
    mutation(
        "link: a message that the link has weighed once is weighed again",
        SEND,
        "asker_->weigh(weight, counted_as);",
        "asker_->weigh(weight);",
        by_credit + by_waiting,
    ),
    mutation(
        "link: a message that waited for credit is turned away by a mailbox that lets senders wait",
        "lib/core/garrick/core/overload/internal/admission.cpp",
        "limits.policy == mailbox_policy::wait && base::this_thread.has_waited != 0;",
        "false;",
        ("tests.net.full_mailboxes",),
    ),
    mutation(
        "link: a large message in front of a busy link counts as one",
        REMOTE,
        "std::move(m.bytes));\n  link_credit_.weigh(weight);\n",
        "std::move(m.bytes));\n  link_credit_.weigh(weight & 1);\n",
        by_credit + by_waiting,
    ),
    mutation(
        "link: a large envelope in front of a link that stands counts as one",
        REMOTE,
        "    link_credit_.weigh(weight);\n    return first;\n",
        "    return first;\n",
        by_credit + by_waiting,
    ),
    mutation(
        "link: the bytes of envelopes in front of a busy link do not count",
        WAITING,
        "e != nullptr ? e->type->size + bytes : 0",
        "e != nullptr ? e->type->size + bytes / 1000 : 0",
        by_frames,
    ),
    mutation(
        "link: messages taken from in front of a busy link count on",
        WAITING,
        "  bytes_.store(0, std::memory_order_relaxed);                     // order: as below\n",
        "",
        by_frames,
    ),
    mutation(
        "link: signals that were taken from in front of a busy link count on",
        WAITING,
        "      if (h.as == kind::signal) --signals_;\n",
        "",
        by_frames,
    ),
    mutation(
        "link: requests leave no room for names",
        LINK,
        "  return std::max(all - all / 8, 1u);\n",
        "  return std::max(all, 1u);\n",
        ("tests.net.remote_requests",),
    ),
    # ---- the outbox, and the tables of a link
    mutation(
        "link: an outbox that is closed takes room for ever",
        OUTBOX,
        "  slot_.wait_in_front(ready_bytes_ = 0);\n",
        "  ready_bytes_ = 0;\n",
        by_outbox,
    ),
    mutation(
        "link: more is flushed than the stack has room for",
        OUTBOX,
        "while (!ready_.empty() && stack_.writable())",
        "while (!ready_.empty())",
        by_outbox,
    ),
    mutation(
        "link: signals that wait do not count",
        OUTBOX,
        "  count(m, 1);\n  signals_.push_back",
        "  signals_.push_back",
        by_outbox,
    ),
    mutation(
        "link: a signal that the stack does not take within a call counts no more",
        OUTBOX,
        "      count(next, 1);\n",
        "",
        by_outbox,
    ),
    mutation(
        "link: a message that stands in front of a link is not known to stand",
        ROOM + "outbox.hpp",
        "of.slot_.stand(of.is_behind());",
        "of.slot_.stand(false);",
        by_outbox,
    ),
    mutation(
        "link: the asker of a question that has ended is remembered",
        ROOM + "questions.cpp",
        "  if (const core::cell* const who = q.request.requester) "
        "numbers_.erase({who->id(), q.request.id});\n",
        "",
        ("tests.net.questions",),
    ),
    mutation(
        "link: an actor's protocol is noted each time that it is sent",
        EXPORTS,
        "if (std::find(e.tables.begin(), e.tables.end(), &as) == e.tables.end()) e.tables",
        "e.tables",
        ("tests.net.exports",),
    ),
    mutation(
        "link: an actor that has read nothing yet keeps up",
        ROOM + "exports.hpp",
        "return x.window > first_credit && length",
        "return length",
        ("tests.net.exports",),
    ),
]
