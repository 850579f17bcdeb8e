#include "garrick/net/broker/internal/raw_connection.hpp"

#include <exception>

#include "garrick/net/broker/events.hpp"
#include "garrick/net/error.hpp"

namespace garrick::net::internal {

/// The blocks of a connection, which wake the connection while it exists.
class raw_connection::blocks final : public read_pool {
 public:
  blocks(const connection& of, const socket_settings& s)
      : read_pool(s.block_size, s.blocks, s.most_messages), of_(of.door()) {}

 private:
  void wake() noexcept override {
    try {
      if (auto door = of_.lock())
        connection(std::move(door)).insist([](hosted& h) {
          static_cast<raw_connection&>(h).parts_returned();
        });
    } catch (const std::bad_alloc&) { base::out_of_memory("a broker's connection"); }
  }
  const std::weak_ptr<detail::entrance> of_;
};

void connection_entry::close() noexcept {
  try {
    link.insist([](hosted& h) { static_cast<raw_connection&>(h).close(); });
  } catch (const std::bad_alloc&) { base::out_of_memory("the end of a broker's connection"); }
}

namespace {

/// Keeps a connection open after the other end has ended its direction. The destructor closes it.
struct keeps_open {
  explicit keeps_open(std::shared_ptr<connection_entry> e) noexcept : entry(std::move(e)) {}
  keeps_open(const keeps_open&) = delete;
  keeps_open& operator=(const keeps_open&) = delete;
  ~keeps_open() { entry->close(); }
  std::shared_ptr<connection_entry> entry;
};

}  // namespace

raw_connection::raw_connection(carrier& below, const connection& self, identity who,
                               const socket_settings& s)
    : below_(below),
      who_(std::move(who)),
      blocks_(std::make_shared<blocks>(self, s)),
      receiver_(blocks_),
      close_limit_(s.transport.close_limit),
      keep_alive_(s.keep_alive),
      idle_limit_(s.idle_limit) {
  if (s.read) receiver_.set(*s.read);
}

void raw_connection::set(const receive_policy& p) {
  receiver_.set(p);
  parts_returned();
}

void raw_connection::parts_returned() {
  pass_on();
  below_.read_on();
}

base::error raw_connection::write(packet p) {
  if (is_connected_ && !below_.sends()) return net_errc::connection_lost;
  if (!who_.entry->takes(p.size(), below_.queued() + early_.size())) return net_errc::overload;
  transmit(std::move(p));
  return {};
}

void raw_connection::write_from_line(packet p, std::size_t counted) {
  transmit(std::move(p));
  // order: bytes that leave the line are in the queue before
  who_.entry->in_line.fetch_sub(counted, std::memory_order_release);
}

void raw_connection::transmit(packet p) {
  if (is_connected_) {
    written_ += p.size();
    below_.transmit(std::move(p));
  } else {
    early_.append(p.bytes());
  }
  // order: hints for the broker, which gets certain news by messages
  who_.entry->queued.store(below_.queued() + early_.size(), std::memory_order_relaxed);
  // Below high water a carrier that is not writable only pauses for other senders. A broker does
  // not wait for such pauses: it sends by visits, and each visit is a turn. From high water on the
  // carrier will call `carrier_writable`.
  if (is_connected_ && below_.queued() >= who_.entry->high_water)
    who_.entry->full.store(true, std::memory_order_relaxed);  // order: as above
}

void raw_connection::check_writable() {
  if (is_connected_ && below_.writable()) carrier_writable({});
}

void raw_connection::close() noexcept {
  is_open_ = false;
  if (is_connected_ || early_.size() == 0) return below_.close();
  if (!gives_up_.is_never()) return;
  gives_up_ = base::real_clock().now() + close_limit_;
  who_.loop.count_unsaid(1);
}

void raw_connection::close_after(packet last) {
  transmit(std::move(last));
  close();
}

void raw_connection::give_to(std::weak_ptr<broker_core> core, core::any_ref to) {
  who_.core = std::move(core);
  who_.to = std::move(to);
  // The last owner was told of the connection's end, and the new one must be told, too.
  if (!is_open_)
    tell(who_.to, connection_closed{handle(), base::error(net_errc::connection_lost),
                                    receiver_.unread(), nullptr});
}

void raw_connection::ended(const base::error& why) noexcept {
  try {
    if (is_open_) tell_closed(why ? why : base::error(net_errc::connection_lost), false);
  } catch (const std::bad_alloc&) { base::out_of_memory("a broker's connection"); }
  if (const auto core = who_.core.lock()) core->remove(who_.entry->id);
  // The count ends in a later job, since the close of an established stream counts its unsent bytes
  // only after this call.
  if (!gives_up_.is_never())
    who_.loop.post(make_job([&loop = who_.loop] { loop.count_unsaid(-1); }));
}

void raw_connection::connected(base::instant now) {
  if (is_open_) tell(who_.to, new_connection{who_.acceptor, handle(), who_.peer});
  is_connected_ = true;
  if (keep_alive_ != base::duration()) below_.keep_alive(keep_alive_);
  begin_silence(now);
  if (early_.size() != 0) transmit(std::exchange(early_, packet()));
  if (!is_open_) return below_.close();
  check_writable();
}

void raw_connection::disconnected(const base::error& why, base::instant) {
  if (is_open_) tell_closed(why, false);
  is_open_ = false;
  below_.close();
}

void raw_connection::over(const base::error& why, base::instant) {
  if (is_open_) tell_closed(why, false);
}

void raw_connection::begin_silence(base::instant now) noexcept {
  if (idle_limit_ != base::duration()) idle_at_ = now + idle_limit_;
}

/// Closes the stream if no byte has left since the last look. Bytes that come put the look off.
void raw_connection::look_for_silence(base::instant now) {
  const std::uint64_t left = written_ - below_.queued();
  if (std::exchange(left_, left) != left) return begin_silence(now);
  idle_at_ = base::instant::never();
  if (is_open_)
    tell_closed(base::make_error(base::errc::timeout, who_.peer.to_string(),
                                 "nothing was read or sent for socket_settings.idle_limit"),
                false);
  below_.close();
}

void raw_connection::advance(base::instant now) {
  if (gives_up_ <= now) return below_.close();
  if (idle_at_ <= now) look_for_silence(now);
}

void raw_connection::receive(std::span<const std::byte> bytes, base::instant now) {
  begin_silence(now);
  receiver_.filled(bytes.size());
  pass_on();
}

void raw_connection::pass_on() {
  while (is_open_) {
    std::optional<received> m = receiver_.next();
    if (!m) return;
    tell(who_.to, new_data{handle(), *std::move(m)});
  }
}

std::optional<receive_room> raw_connection::room() {
  const std::optional<std::span<std::byte>> where = receiver_.room();
  if (!where) return {};
  return receive_room{*where, blocks_};
}

bool raw_connection::input_ended(base::instant) {
  if (!is_open_) return false;
  tell_closed(
      base::make_error(net_errc::connection_lost, "the other end has closed the connection"), true);
  return true;
}

void raw_connection::tell_closed(const base::error& why, bool half) {
  is_open_ = false;
  tell(who_.to, connection_closed{handle(), why, receiver_.unread(),
                                  half ? std::make_shared<keeps_open>(who_.entry) : nullptr});
}

void raw_connection::carrier_writable(base::instant) {
  // order: hints, as in transmit
  who_.entry->queued.store(below_.queued(), std::memory_order_relaxed);
  if (who_.entry->full.exchange(false, std::memory_order_relaxed))  // order: as above
    tell(who_.to, writable_again{handle()});
}

}  // namespace garrick::net::internal
