"""Errors planted in the time limits and cancels of requests that go to another node."""

from mutation import mutation

ROOM = "lib/net/garrick/net/node/link/internal/"
PROXY_ROOM = "lib/net/garrick/net/node/proxy/internal/"
SEND = ROOM + "link_send.cpp"
LINK = ROOM + "link.cpp"
RECEIVE = ROOM + "link_receive.cpp"
REMOTE = PROXY_ROOM + "remote_cell.cpp"
WANTED = "lib/net/garrick/net/node/proxy/internal/wanted_requests.cpp"
REQUEST = "lib/core/garrick/core/request.cpp"
RUN = "lib/core/garrick/core/turn/running_cell.cpp"
BLOCKING = "lib/core/garrick/core/blocking.cpp"
LOST = "lib/core/garrick/core/life/internal/lost_mail.cpp"
LANE = "lib/core/garrick/core/turn/internal/system_lane.cpp"
PROXY = "lib/core/garrick/core/seam/proxy_cell.cpp"
by_overdue = ("tests.net.overdue_requests",)
by_revocable = ("tests.revocable_requests",)

MUTATIONS = [
    mutation(
        "request: one from elsewhere is handled although it is overdue or withdrawn",
        RUN,
        """  if (e->is(envelope_flag::revocable) && lost_mail::lose_overdue(e))
    return dispatch_outcome::handled;
""",
        "",
        by_revocable + by_overdue,
    ),
    mutation(
        "request: the run loop does not look at those from elsewhere",
        RUN,
        "e->is_either(envelope_flag::response, envelope_flag::revocable)",
        "e->is_either(envelope_flag::response, envelope_flag::response)",
        by_revocable,
    ),
    mutation(
        "request: a blocking actor handles one that is overdue",
        BLOCKING,
        "if (e->is(envelope_flag::revocable) && lost_mail::lose_overdue(e)) {",
        "if (e->is(envelope_flag::failure) && lost_mail::lose_overdue(e)) {",
        by_revocable,
    ),
    mutation(
        "request: at its very limit one is still handled",
        LOST,
        "until > e->requester->env().clock->now()",
        "until >= e->requester->env().clock->now()",
        by_revocable,
    ),
    mutation(
        "request: one that is handed on cannot be revoked any more",
        REQUEST,
        "    e->set(envelope_flag::revocable);\n",
        "    e->set(envelope_flag::seen);\n",
        by_revocable,
    ),
    mutation(
        "request: the asker does not hear that its request was handed on elsewhere",
        REQUEST,
        "    requester.signal(make_envelope<signals::handed_on>(to, r.id));\n",
        "",
        by_revocable + by_overdue,
    ),
    mutation(
        "request: the asker hears that it was handed on before it was",
        REQUEST,
        """  to.deliver(e);  // first, since a withdrawn request has to be known there
  try {
    requester.signal(make_envelope<signals::handed_on>(to, r.id));
""",
        """  try {
    requester.signal(make_envelope<signals::handed_on>(to, r.id));
    to.deliver(e);
""",
        by_revocable,
    ),
    mutation(
        "request: a proxy is not told of a limit that is known at once",
        REQUEST,
        "  static_cast<proxy_cell&>(to).deliver_until(e, until);\n",
        "  static_cast<proxy_cell&>(to).deliver_until(\n"
        "      e, until > base::instant::never() ? until : base::instant::never());\n",
        by_revocable + by_overdue,
    ),
    mutation(
        "request: one that is handed on has no limit",
        PROXY,
        "is_known ? e->requester->wanted_until(e->id())",
        "is_known ? base::instant::never()",
        by_revocable + by_overdue,
    ),
    mutation(
        "request: an actor does not withdraw its request where it was handed on",
        LANE,
        "asked_proxy::note(s, h.proxy());",
        "static_cast<void>(s);",
        by_overdue,
    ),
    mutation(
        "request: one that is handed on after its actor waits no more is not withdrawn",
        LANE,
        "    return tell_withdrawn(h.proxy(), self, h.request());\n",
        "    return;\n",
        by_revocable,
    ),
    mutation(
        "request: one that is handed on after its actor has ended is not withdrawn",
        LANE,
        "  tell_withdrawn(h.proxy(), dead, h.request());\n",
        "  if (h.request() == 0) tell_withdrawn(h.proxy(), dead, h.request());\n",
        by_revocable,
    ),
    mutation(
        "node: a request does not say how much of its time is left",
        SEND,
        "    if (is_limited) f.time_left = time_left;\n",
        "",
        by_overdue,
    ),
    mutation(
        "node: a request in front of a busy link forgets its limit",
        REMOTE,
        ".weight = weight, .until = until}",
        ".weight = weight, .until = until.is_never() ? until : base::instant::never()}",
        by_overdue,
    ),
    mutation(
        "node: a request that waits behind others forgets its limit",
        "lib/net/garrick/net/node/proxy/internal/remote_cell.cpp",
        ".weight = weight, .until = until}",
        ".weight = weight, .until = until.is_never() ? until : base::instant::never()}",
        by_overdue,
    ),
    mutation(
        "node: a request without time leaves",
        SEND,
        "  if (time_left <= base::duration()) return to.overdue(e, counted_as), counted_as;\n",
        "",
        by_overdue,
    ),
    mutation(
        "node: a request that waits for room is not looked at when there is some",
        SEND,
        "  if (is_limited) outbox_.look_before_leaving();\n",
        "",
        by_overdue,
    ),
    mutation(
        "node: a request that has waited for room beyond its time leaves",
        SEND,
        "  if (*f->time_left <= base::duration()) return give_up(m, base::errc::timeout), false;\n",
        "  if (*f->time_left <= base::duration()) return true;\n",
        by_overdue,
    ),
    mutation(
        "node: a request that has waited for room tells the time left before",
        SEND,
        "  prepend_header(*f, m.bytes);\n  return true;\n",
        "  f->time_left = at->second.until - base::instant();\n"
        "  prepend_header(*f, m.bytes);\n  return true;\n",
        by_overdue,
    ),
    mutation(
        "node: the limit of a request that comes is forgotten",
        ROOM + "peer_requests.hpp",
        "    if (until) wanted_.limit(number, *until);\n",
        "",
        ("tests.net.overdue_requests", "tests.net.peer_requests"),
    ),
    mutation(
        "node: a cancel does not reach a request that waits in a mailbox",
        ROOM + "peer_requests.cpp",
        "    wanted_.withdraw(number);\n",
        "    static_cast<void>(number);\n",
        ("tests.net.overdue_requests", "tests.net.peer_requests"),
    ),
    mutation(
        "node: a cancel is not passed on to where the request was handed",
        RECEIVE,
        "  core::tell_withdrawn(*core::handle_access::get(elsewhere), *asker_, f.number);\n",
        "",
        by_overdue,
    ),
    mutation(
        "node: a request that is relayed is not known to be elsewhere",
        RECEIVE,
        "    if (relayed != 0) handed_on(relayed, to);\n",
        "",
        by_overdue,
    ),
    mutation(
        "node: a request handed on for a node that is lost is not cancelled",
        LINK,
        "      core::tell_withdrawn(*to, *asker_, number);\n",
        "      static_cast<void>(to);\n",
        by_overdue,
    ),
    mutation(
        "node: limits of requests that were answered are kept",
        WANTED,
        "  until_.erase(request);\n",
        "",
        ("net_node.wanted_requests",),
    ),
    mutation(
        "node: there is no end to the withdrawn requests that are known",
        WANTED,
        "else if (until_.size() < most_)",
        "else",
        ("net_node.wanted_requests",),
    ),
    mutation(
        "link: the limit of a request that was answered is kept for ever",
        ROOM + "peer_requests.hpp",
        "    wanted_.forget(at->first);\n",
        "",
        ("tests.net.overdue_requests", "tests.net.peer_requests"),
    ),
]
