"""Errors in the brokers of lib/net."""

from mutation import mutation

BROKER = "lib/net/garrick/net/broker/"
IO = BROKER + "broker_io.cpp"
RECEIVER = BROKER + "internal/receiver.cpp"
CONNECTION = BROKER + "internal/raw_connection.cpp"
ENTRIES = BROKER + "internal/entries.cpp"
DATAGRAMS = BROKER + "internal/datagram_socket.cpp"
by_receiver = ("net_broker.receiver",)
by_brokers = ("tests.net.brokers",)
by_handing_over = ("tests.net.handing_over",)
by_peers = ("tests.net.hard_peers",)
by_ends = ("tests.net.broker_ends",)
by_closing = ("tests.net.closing",)

MUTATIONS = [
    # ---- receiver
    mutation(
        "receiver: a block is filled from its start while a message in it is held",
        RECEIVER,
        "if (in_ != nullptr && begin_ == end_ && in_->parts.load(std::memory_order_seq_cst) == 0)",
        "if (in_ != nullptr && begin_ == end_)",
        by_receiver,
    ),
    mutation(
        "receiver: the beginning of a message is lost when its block is full",
        RECEIVER,
        "if (unread() != 0) std::memcpy(next->bytes.get(), in_->bytes.get() + begin_, unread());",
        "if (unread() != 0) begin_ = end_;",
        by_receiver,
    ),
    mutation(
        "receiver: a policy for one message holds for the next one, too",
        RECEIVER,
        "  if (policy_->is_once()) policy_.reset();\n",
        "",
        by_receiver + by_brokers,
    ),
    mutation(
        "receiver: at least so many bytes are one more",
        RECEIVER,
        "case receive_policy::kind::at_least: return have >= policy_->bytes() ? have : 0;",
        "case receive_policy::kind::at_least: return have > policy_->bytes() ? have : 0;",
        by_receiver,
    ),
    mutation(
        "receiver: a policy for more than a block is taken",
        RECEIVER,
        "p.bytes() > block_size)",
        "p.bytes() > block_size + 1)",
        by_receiver,
    ),
    mutation(
        "receiver: no reader is woken when a block comes back",
        RECEIVER,
        "// order: as above\n    wake();",
        "// order: as above\n    {}",
        by_receiver + by_brokers,
    ),
    mutation(
        "receiver: one message more than there may be",
        RECEIVER,
        "return messages_.load(std::memory_order_seq_cst) < most_messages_;",
        "return messages_.load(std::memory_order_seq_cst) <= most_messages_;",
        by_receiver,
    ),
    # ---- raw_connection
    mutation(
        "raw_connection: bytes written before the stream stands are lost",
        CONNECTION,
        "  if (early_.size() != 0) transmit(std::exchange(early_, packet()));\n",
        "",
        by_handing_over,
    ),
    mutation(
        "raw_connection: bytes that wait early do not count",
        CONNECTION,
        "who_.entry->takes(p.size(), below_.queued() + early_.size())",
        "who_.entry->takes(p.size(), below_.queued())",
        by_handing_over,
    ),
    mutation(
        "raw_connection: a write to a peer that has gone is no error",
        CONNECTION,
        "  if (is_connected_ && !below_.sends()) return net_errc::connection_lost;\n",
        "",
        by_peers,
    ),
    mutation(
        "stream_host: an end that does not read never hears that its peer has closed",
        "lib/net/garrick/net/transport/internal/stream_host.cpp",
        "return input_ended_ || (rests_ && !has_unread_bytes(socket_->fd()));",
        "return input_ended_;",
        by_peers,
    ),
    mutation(
        "stream_host: bytes before the end are lost for an end that writes",
        "lib/net/garrick/net/transport/internal/stream_host.cpp",
        "return input_ended_ || (rests_ && !has_unread_bytes(socket_->fd()));",
        "return input_ended_ || rests_;",
        by_peers,
    ),
    mutation(
        "raw_connection: a new policy does not make it read on",
        CONNECTION,
        "  pass_on();\n  below_.read_on();\n",
        "  pass_on();\n",
        by_brokers + by_handing_over,
    ),
    mutation(
        "raw_connection: after a close the end is told all the same",
        CONNECTION,
        "void raw_connection::close() noexcept {\n  is_open_ = false;\n",
        "void raw_connection::close() noexcept {\n",
        by_brokers,
    ),
    mutation(
        "raw_connection: a broker that adopts a connection that is over waits for ever",
        CONNECTION,
        "  if (!is_open_)\n    tell(who_.to, connection_closed{handle(), "
        "base::error(net_errc::connection_lost),\n"
        "                                    receiver_.unread(), nullptr});\n",
        "",
        by_handing_over,
    ),
    mutation(
        "raw_connection: a peer that ends its direction is cut off",
        CONNECTION,
        "half ? std::make_shared<keeps_open>(who_.entry) : nullptr",
        "half && who_.entry == nullptr ? std::make_shared<keeps_open>(who_.entry) : nullptr",
        by_brokers,
    ),
    mutation(
        "raw_connection: a half-closed connection stays open for ever",
        CONNECTION,
        "  ~keeps_open() { entry->close(); }",
        "  ~keeps_open() = default;",
        by_brokers,
    ),
    mutation(
        "raw_connection: that there is room again is told twice",
        CONNECTION,
        "if (who_.entry->full.exchange(false, std::memory_order_relaxed))",
        "if (who_.entry->full.load(std::memory_order_relaxed))",
        by_brokers,
    ),
    # ---- broker_io
    mutation(
        "broker_io: anybody may use a handle",
        IO,
        "if (e == nullptr || e->owner.load(std::memory_order_relaxed) != core_->id)",
        "if (e == nullptr)",
        by_brokers,
    ),
    mutation(
        "broker_io: refused bytes are sent with the next write",
        IO,
        "  if (!done) (*e)->gathered.keep_front(before);\n",
        "  if (!done) (*e)->gathered.keep_front(before + bytes.size());\n",
        by_brokers,
    ),
    mutation(
        "broker_io: on a busy connection any number of bytes wait",
        IO,
        "if (!e.takes(size, waits)) return refuse();",
        "if (!e.takes(size, 0 * waits)) return refuse();",
        by_handing_over,
    ),
    mutation(
        "broker_io: gathered bytes are lost at a close",
        IO,
        "  if ((*e)->gathered.size() == 0) {\n    (*e)->close();",
        "  if ((*e)->gathered.size() != 0) {\n    (*e)->close();",
        by_brokers,
    ),
    mutation(
        "broker_io: a connection that was given away is closed with its first broker",
        IO,
        "  core_->remove((*e)->id);\n  return bound_connection(",
        "  return bound_connection(",
        by_ends,
    ),
    mutation(
        "broker_io: a connection that was never adopted stays open",
        IO,
        "bound_connection::~bound_connection() {\n  if (entry_ != nullptr) entry_->close();",
        "bound_connection::~bound_connection() {\n",
        by_ends,
    ),
    mutation(
        "broker_io: a broker leaves its sockets open",
        ENTRIES,
        "  for (auto& [id_of, socket] : all) socket.entry->close();\n",
        "",
        by_ends,
    ),
    mutation(
        "broker_io: no broker hears that an acceptor has closed",
        IO,
        "if (to && a) internal::tell(",
        "if (!to && a) internal::tell(",
        by_brokers,
    ),
    # ---- closing
    mutation(
        "broker_io: a stream with a full line is not closed",
        IO,
        "(*e)->link.insist([last =",
        "(*e)->link.run([last =",
        by_closing,
    ),
    mutation(
        "broker_io: a stream with a full line does not get to its next owner",
        IO,
        "static_cast<void>(e->link.insist(adoption(",
        "static_cast<void>(e->link.run(adoption(",
        by_closing,
    ),
    mutation(
        "broker_io: the stream below gives up when a broker closes a full one",
        IO,
        "with.most_queued = with_last_words(with.most_queued);",
        "",
        by_closing,
    ),
    mutation(
        "raw_connection: a stream that does not stand is closed at once",
        CONNECTION,
        "if (is_connected_ || early_.size() == 0) return below_.close();",
        "return below_.close();",
        by_closing,
    ),
    mutation(
        "raw_connection: the threads do not wait for a stream that is to stand",
        CONNECTION,
        "  who_.loop.count_unsaid(1);\n",
        "  who_.loop.count_unsaid(0);\n",
        by_closing,
    ),
    mutation(
        "connection: a broker waits for the pauses that a stream makes for others",
        CONNECTION,
        "below_.queued() >= who_.entry->high_water",
        "!below_.writable()",
        by_brokers,
    ),
    mutation(
        "raw_connection: a stream that was closed is connected to for ever",
        CONNECTION,
        "gives_up_ = base::real_clock().now() + close_limit_;",
        "gives_up_ = base::real_clock().now() + base::duration::seconds(300);",
        by_closing,
    ),
    # ---- datagrams
    mutation(
        "datagram_socket: a batch is not limited by the broker's room",
        DATAGRAMS,
        "std::min<std::size_t>(most_ - held, datagram_batch::most)",
        "datagram_batch::most",
        by_peers,
    ),
    mutation(
        "datagram_socket: a broker that drops a datagram lets no other in",
        DATAGRAMS,
        "      if (!me->left_) me->receive();\n",
        "",
        by_brokers + by_peers,
    ),
    mutation(
        "broker: its threads end before written bytes are sent",
        "lib/net/garrick/net/transport/io_threads.cpp",
        "while (loop->unsaid() != 0)",
        "while (loop->unsaid() < 0)",
        ("tests.net.broker_ends",),
    ),
]
