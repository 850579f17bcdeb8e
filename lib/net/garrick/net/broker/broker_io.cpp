#include "garrick/net/broker/broker_io.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "garrick/core/seam/handles.hpp"
#include "garrick/net/broker/internal/datagram_socket.hpp"
#include "garrick/net/broker/internal/entries.hpp"
#include "garrick/net/broker/internal/raw_connection.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/transport/sockets.hpp"

namespace garrick::net {
namespace {

using internal::connection_entry;
using internal::handle_maker;
using internal::raw_connection;

base::error invalid(std::string_view name, std::string_view why) {
  return base::make_error(base::errc::invalid_setting, "socket_settings." + std::string(name), why);
}

constexpr std::size_t largest_block = std::size_t{1} << 30;
constexpr std::size_t most_blocks = 65536;

base::error wrong_with(const socket_settings& s) {
  if (s.block_size < 64) return invalid("block_size", "it is below 64");
  if (s.block_size > largest_block) return invalid("block_size", "it is above 1 GiB");
  if (s.blocks < 2) return invalid("blocks", "there are fewer than 2");
  if (s.blocks > most_blocks) return invalid("blocks", "there are more than 65536");
  if (s.most_messages == 0) return invalid("most_messages", "is zero: no message would be read");
  if (s.keep_alive < base::duration()) return invalid("keep_alive", "it is below zero");
  if (s.idle_limit < base::duration()) return invalid("idle_limit", "it is below zero");
  if (s.transport.most_queued < s.transport.high_water)
    return invalid("transport.most_queued", "it is below high_water");
  if (s.read) return internal::receiver::wrong_with(*s.read, s.block_size);
  return {};
}

base::error no_such_thread(std::size_t threads) {
  return invalid("transport.thread", "there are I/O threads 0 to " + std::to_string(threads - 1));
}

base::result<endpoint> parsed(std::string_view text, bool datagrams) {
  base::result<endpoint> e = endpoint::parse(text);
  if (e && (e->kind() == transport_kind::udp) != datagrams)
    return base::make_error(
        net_errc::bad_endpoint, text,
        datagrams ? "datagrams need udp://" : "a stream needs tcp:// or unix://");
  return e;
}

std::size_t current_thread(io_threads& io) {
  const auto& loops = io.pool().loops;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (loops[i]->is_current()) return i;
  return 0;
}

/// Returns the limit of the transport below, which gives a stream up if more bytes wait. It is
/// three times `most_queued`, for the bytes below high water, one write more, and the gathered
/// bytes that are sent at the close.
std::size_t with_last_words(std::size_t most_queued) {
  return 3 * std::min(most_queued, std::numeric_limits<std::size_t>::max() / 3);
}

std::shared_ptr<connection_entry> new_entry(const socket_settings& s, std::size_t thread,
                                            const internal::broker_core& of) {
  auto e = std::make_shared<connection_entry>();
  e->most_queued = s.transport.most_queued;
  e->high_water = s.transport.high_water;
  e->block_size = s.block_size;
  e->thread = thread;
  e->owner.store(of.id, std::memory_order_relaxed);  // order: no other thread knows it yet
  return e;
}

/// Makes an acceptor's connections.
class raw_policy final : public accept_policy {
 public:
  raw_policy(broker_threads& threads, std::shared_ptr<internal::broker_core> core,
             const std::shared_ptr<internal::acceptor_entry>& a, socket_settings s)
      : threads_(threads), core_(std::move(core)), acceptor_(a), id_(a->id), s_(std::move(s)) {}

  verdict look(const arrival&) override {
    if (!s_.spread) return verdict::start();
    return verdict::start(turn_++ % threads_.io().size());
  }
  std::unique_ptr<hosted> make(const arrival& from, carrier& below,
                               const connection& self) override {
    const auto a = acceptor_.lock();
    core::any_ref to = core_->holder(id_);
    if (a == nullptr || !to) return nullptr;
    const std::size_t thread = current_thread(threads_.io());
    auto e = new_entry(s_, thread, *core_);
    e->link = self;
    if (!core_->add(e, to)) return nullptr;
    return std::make_unique<raw_connection>(
        below, self,
        raw_connection::identity{e, core_, std::move(to), handle_maker::make<acceptor_kind>(a),
                                 from.remote, *threads_.io().pool().loops[thread]},
        s_);
  }
  void closed() noexcept override {
    const core::any_ref to = core_->holder(id_);
    const auto a = acceptor_.lock();
    core_->remove(id_);
    try {
      if (to && a) internal::tell(to, acceptor_closed{handle_maker::make<acceptor_kind>(a)});
    } catch (const std::bad_alloc&) { base::out_of_memory("a broker's acceptor"); }
  }

 private:
  broker_threads& threads_;
  const std::shared_ptr<internal::broker_core> core_;
  const std::weak_ptr<internal::acceptor_entry> acceptor_;
  const std::uint64_t id_;
  const socket_settings s_;
  std::size_t turn_ = 0;
};

/// Gives a connection to a broker. If the connection has ended before, the broker gets
/// `connection_closed`.
class adoption {
 public:
  adoption(std::shared_ptr<connection_entry> e, std::weak_ptr<internal::broker_core> core,
           core::any_ref to)
      : entry_(std::move(e)), core_(std::move(core)), to_(std::move(to)) {}
  adoption(adoption&& o) noexcept
      : entry_(std::move(o.entry_)), core_(std::move(o.core_)), to_(std::exchange(o.to_, {})) {}
  adoption& operator=(adoption&&) = delete;
  ~adoption() {
    if (!to_) return;
    if (const auto core = core_.lock()) core->remove(entry_->id);
    try {
      internal::tell(to_, connection_closed{handle_maker::make<connection_kind>(entry_),
                                            base::error(net_errc::connection_lost), 0, nullptr});
    } catch (const std::bad_alloc&) { base::out_of_memory("a broker's connection"); }
  }
  void operator()(hosted& h) {
    static_cast<raw_connection&>(h).give_to(std::move(core_), std::exchange(to_, {}));
  }

 private:
  std::shared_ptr<connection_entry> entry_;
  std::weak_ptr<internal::broker_core> core_;
  core::any_ref to_;
};

}  // namespace

// --- bound_connection ----------------------------------------------------------------------------

bound_connection& bound_connection::operator=(bound_connection&& o) noexcept {
  if (this != &o) {
    if (entry_ != nullptr) entry_->close();
    threads_ = o.threads_;
    entry_ = std::move(o.entry_);
  }
  return *this;
}

bound_connection::~bound_connection() {
  if (entry_ != nullptr) entry_->close();
}

broker_place bound_connection::place() const noexcept { return {*threads_, entry_->thread}; }

// --- opening -------------------------------------------------------------------------------------

broker_io::broker_io(core::actor_base& me, broker_place where)
    : me_(me.address()), where_(where), core_(std::make_shared<internal::broker_core>()) {
  if (core::handle_access::get(me_)->limits().policy != core::mailbox_policy::unbounded)
    throw std::invalid_argument(
        "spawn_options.policy: the mailbox of an actor with sockets must be unbounded, because a "
        "message that is turned away would be a lost piece of a stream");
}

broker_io::~broker_io() { core_->end(); }

core::any_ref broker_io::myself() const {
  core::cell* const c = core::handle_access::get(me_);
  c->add_strong_from_self();
  return core::handle_access::adopt<core::any_protocol>(c);
}

socket_settings broker_io::placed(const socket_settings& s) const {
  socket_settings own = s;
  if (!own.transport.thread) own.transport.thread = where_.thread();
  return own;
}

base::result<acceptor_handle> broker_io::listen(std::string_view at, const socket_settings& s) {
  if (base::error wrong = wrong_with(s)) return wrong;
  const base::result<endpoint> where = parsed(at, false);
  if (!where) return where.error();
  const socket_settings own = placed(s);
  const auto e = std::make_shared<internal::acceptor_entry>();
  e->owner.store(core_->id, std::memory_order_relaxed);  // order: no other thread knows it yet
  // The core knows the acceptor before the first newcomer arrives, so each newcomer has a broker.
  static_cast<void>(core_->add(e, myself()));
  auto policy = std::make_shared<raw_policy>(where_.threads(), core_, e, own);
  transport_settings below = own.transport;
  below.most_queued = with_last_words(below.most_queued);
  base::result<listener> door =
      net::listen(where_.threads().io(), *where, std::move(policy), below, own.accept);
  if (!door) {
    core_->remove(e->id);
    return door.error();
  }
  e->door = std::make_shared<listener>(*std::move(door));
  return handle_maker::make<acceptor_kind>(e);
}

base::result<connection_handle> broker_io::connect(std::string_view to, const socket_settings& s) {
  if (base::error wrong = wrong_with(s)) return wrong;
  const base::result<endpoint> there = parsed(to, false);
  if (!there) return there.error();
  const socket_settings own = placed(s);
  // The thread is chosen here: another broker may be told the thread before the stream is made.
  const std::size_t thread = own.transport.thread.value_or(where_.threads().least_loaded());
  auto& loops = where_.threads().io().pool().loops;
  if (thread >= loops.size()) return no_such_thread(loops.size());
  transport_settings with = own.transport;
  with.thread = thread;
  with.most_queued = with_last_words(with.most_queued);
  const auto e = new_entry(own, thread, *core_);
  static_cast<void>(core_->add(e, myself()));
  base::result<connection> link = net::connect(
      where_.threads().io(), *there,
      [e, own, core = core_, peer = *there, me = myself(), loop = loops[thread].get()](
          carrier& below, const connection& self) -> std::unique_ptr<hosted> {
        return std::make_unique<raw_connection>(
            below, self, raw_connection::identity{e, core, me, {}, peer, *loop}, own);
      },
      with);
  if (!link) {
    core_->remove(e->id);
    return link.error();
  }
  e->link = *std::move(link);
  return handle_maker::make<connection_kind>(e);
}

base::result<datagram_handle> broker_io::bind(std::string_view at, const socket_settings& s) {
  if (base::error wrong = wrong_with(s)) return wrong;
  const base::result<endpoint> where = parsed(at, true);
  if (!where) return where.error();
  const auto found = internal::look_up(*where);
  if (!found) return found.error();
  base::result<internal::unique_fd> fd =
      internal::bind_socket(transport_kind::udp, found->front(), s.transport);
  if (!fd) return fd.error().at(where->to_string());
  auto& pool = where_.threads().io().pool();
  const socket_settings own = placed(s);
  const std::size_t thread = own.transport.thread.value_or(where_.threads().least_loaded());
  if (thread >= pool.loops.size()) return no_such_thread(pool.loops.size());
  const endpoint local = where->with_port(
      internal::endpoint_of(transport_kind::udp, internal::local_address(fd->get()), *where)
          .port());
  const auto e = std::make_shared<internal::datagram_entry>();
  e->owner.store(core_->id, std::memory_order_relaxed);  // order: no other thread knows it yet
  e->socket = std::make_shared<internal::datagram_socket>(*pool.loops[thread], *std::move(fd),
                                                          local, own.most_messages);
  static_cast<void>(core_->add(e, myself()));
  if (!e->socket->begin(e, myself())) {
    core_->remove(e->id);
    return base::errc::shutting_down;
  }
  return handle_maker::make<datagram_kind>(e);
}

// --- using ---------------------------------------------------------------------------------------

template <class Entry, class Handle>
base::result<std::shared_ptr<Entry>> broker_io::own(const Handle& h) const {
  const auto& e = handle_maker::get(h);
  // order: a broker that owns it has written it on its own turn, or got it by a message
  if (e == nullptr || e->owner.load(std::memory_order_relaxed) != core_->id)
    return base::make_error(net_errc::denied, "broker_io", "the socket is not this broker's");
  return std::static_pointer_cast<Entry>(e);
}

endpoint broker_io::local(const acceptor_handle& a) const {
  const auto e = own<internal::acceptor_entry>(a);
  return e ? (*e)->door->local() : endpoint();
}

endpoint broker_io::local(const datagram_handle& d) const {
  const auto e = own<internal::datagram_entry>(d);
  return e ? (*e)->socket->local() : endpoint();
}

base::result<void> broker_io::read(const connection_handle& c, const receive_policy& how) {
  const auto e = own<connection_entry>(c);
  if (!e) return e.error();
  if (base::error wrong = internal::receiver::wrong_with(how, (*e)->block_size)) return wrong;
  if ((*e)->closed) return net_errc::connection_lost;
  const visit_result r =
      (*e)->link.insist([how](hosted& h) { static_cast<raw_connection&>(h).set(how); });
  if (r == visit_result::over) return net_errc::connection_lost;
  return {};
}

base::result<void> broker_io::write(const connection_handle& c, std::span<const std::byte> bytes) {
  const auto e = own<connection_entry>(c);
  if (!e) return e.error();
  const std::size_t before = (*e)->gathered.size();
  (*e)->gathered.append(bytes);
  base::result<void> done = flush(c);
  if (!done) (*e)->gathered.keep_front(before);
  return done;
}

base::result<void> broker_io::put(const connection_handle& c, std::span<const std::byte> bytes) {
  const auto e = own<connection_entry>(c);
  if (!e) return e.error();
  if ((*e)->closed || (*e)->link.is_over()) return net_errc::connection_lost;
  if ((*e)->gathered.size() + bytes.size() > (*e)->most_queued) return net_errc::overload;
  (*e)->gathered.append(bytes);
  return {};
}

base::result<void> broker_io::flush(const connection_handle& c) {
  const auto owned = own<connection_entry>(c);
  if (!owned) return owned.error();
  connection_entry& e = **owned;
  if (e.closed) return net_errc::connection_lost;
  const std::size_t size = e.gathered.size();
  if (size == 0) return {};
  if (size > e.most_queued)
    return base::make_error(net_errc::too_large, std::to_string(size) + " bytes",
                            "transport.most_queued is " + std::to_string(e.most_queued));
  const auto& door = e.link.door();
  switch (door->enter()) {
    case detail::entrance::answer::over: return net_errc::connection_lost;
    case detail::entrance::answer::entered: {
      const detail::leaving at_end{*door};
      if (base::error why =
              static_cast<raw_connection&>(door->occupant()).write(e.gathered.share())) {
        // order: a hint; the thread that is in finds it when there is room again
        if (why == net_errc::overload) e.full.store(true, std::memory_order_relaxed);
        return why;
      }
      e.gathered = packet();
      return {};
    }
    case detail::entrance::answer::busy: break;
  }
  const auto refuse = [&e] {
    // order: the visit comes after; if it was set before, `writable_again` is on its way
    if (!e.full.exchange(true, std::memory_order_relaxed))
      e.link.insist([](hosted& h) { static_cast<raw_connection&>(h).check_writable(); });
    return net_errc::overload;
  };
  // order: acquire pairs with write_from_line: bytes that have left the line are in `queued`
  const std::size_t ahead = e.in_line.load(std::memory_order_acquire);
  const std::size_t waits = ahead + e.queued.load(std::memory_order_relaxed);  // order: as above
  if (!e.takes(size, waits)) return refuse();
  e.in_line.fetch_add(size, std::memory_order_relaxed);  // order: this thread alone adds
  const visit_result r = e.link.run([p = e.gathered.share(), size](hosted& h) mutable {
    static_cast<raw_connection&>(h).write_from_line(std::move(p), size);
  });
  if (r == visit_result::made || r == visit_result::queued) {
    e.gathered = packet();
    return {};
  }
  e.in_line.fetch_sub(size, std::memory_order_relaxed);  // order: as above
  if (r == visit_result::full) return refuse();
  return net_errc::connection_lost;
}

bool broker_io::writable(const connection_handle& c) const {
  const auto e = own<connection_entry>(c);
  // order: a hint; the message that says otherwise comes after
  return e && !(*e)->closed && !(*e)->link.is_over() && !(*e)->full.load(std::memory_order_relaxed);
}

base::result<void> broker_io::send_to(const datagram_handle& d, const endpoint& to,
                                      std::span<const std::byte> bytes) {
  const auto e = own<internal::datagram_entry>(d);
  if (!e) return e.error();
  if (to.kind() != transport_kind::udp || !to.is_numeric())
    return base::make_error(net_errc::bad_endpoint, to.to_string(), "no address for a datagram");
  if (base::error why = (*e)->socket->send(to, bytes)) return why;
  return {};
}

// --- closing and giving away ---------------------------------------------------------------------

base::result<void> broker_io::close(const connection_handle& c) {
  const auto e = own<connection_entry>(c);
  if (!e) return e.error();
  if ((*e)->closed) return net_errc::connection_lost;
  (*e)->closed = true;
  if ((*e)->gathered.size() == 0) {
    (*e)->close();
    return {};
  }
  (*e)->link.insist([last = std::exchange((*e)->gathered, packet())](hosted& h) mutable {
    static_cast<raw_connection&>(h).close_after(std::move(last));
  });
  return {};
}

base::result<void> broker_io::close(const acceptor_handle& a) {
  const auto e = own<internal::acceptor_entry>(a);
  if (!e) return e.error();
  (*e)->close();
  return {};
}

base::result<void> broker_io::close(const datagram_handle& d) {
  const auto e = own<internal::datagram_entry>(d);
  if (!e) return e.error();
  core_->remove((*e)->id);
  (*e)->close();
  return {};
}

base::result<bound_connection> broker_io::release(const connection_handle& c) {
  const auto e = own<connection_entry>(c);
  if (!e) return e.error();
  if ((*e)->closed) return net_errc::connection_lost;
  if (const auto sent = flush(c); !sent) return sent.error();
  (*e)->owner.store(0, std::memory_order_relaxed);  // order: the next owner gets it from here
  core_->remove((*e)->id);
  return bound_connection(where_.threads(), *e);
}

connection_handle broker_io::adopt(bound_connection c) {
  std::shared_ptr<connection_entry> e = std::move(c.entry_);
  if (e == nullptr) return {};
  e->owner.store(core_->id, std::memory_order_relaxed);  // order: as release
  static_cast<void>(core_->add(e, myself()));
  static_cast<void>(e->link.insist(adoption(e, core_, myself())));
  return handle_maker::make<connection_kind>(e);
}

}  // namespace garrick::net
