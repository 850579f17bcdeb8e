#include "garrick/net/transport/internal/io_loop.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "garrick/base/platform/assert.hpp"
#include "garrick/base/platform/platform.hpp"

namespace asio = boost::asio;

namespace garrick::net::internal {

struct io_loop::engine {
  /// One thread runs it, which lets it pass what that thread posts to itself without a lock.
  asio::io_context context{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work{
      asio::make_work_guard(context)};
  /// Asio opens its descriptors with the first timer or socket. Then it is too late to say that
  /// there are none.
  asio::steady_timer first_timer{context};
  /// Asio has no way to stop waiting for a name, so the loop has one resolver for all.
  asio::ip::tcp::resolver names{context};
};

namespace {

/// Asio's exceptions are its own; ours are the standard's.
[[noreturn]] void rethrow(const boost::system::error_code& e, const char* where) {
  throw std::system_error(e.value(), std::generic_category(), where);
}

}  // namespace

io_loop::io_loop(std::size_t number) : number_(number) {
  try {
    engine_ = std::make_unique<engine>();
  } catch (const boost::system::system_error& e) { rethrow(e.code(), "an I/O thread's events"); }
}
io_loop::~io_loop() = default;

void io_loop::start() {
  thread_ = std::thread([this] { run(); });
  const std::lock_guard lock(mutex_);
  started_ = true;
}

void io_loop::run() noexcept {
  base::platform::name_this_thread("garrick.io." + std::to_string(number_));
  try {
    engine_->context.run();
  } catch (const std::bad_alloc&) { base::out_of_memory("an event of an I/O thread"); }
}

bool io_loop::is_current() const noexcept {
  return engine_->context.get_executor().running_in_this_thread();
}

void io_loop::join() {
  GARRICK_ASSERT(!is_current(), "I/O threads are not stopped from one of them");
  if (thread_.joinable()) thread_.join();
}

std::span<std::byte> io_loop::read_room(std::size_t size) {
  if (size > read_size_) {
    read_room_ = std::make_unique_for_overwrite<std::byte[]>(size);
    read_size_ = size;
  }
  return {read_room_.get(), size};
}

bool io_loop::post(std::unique_ptr<job>&& what) {
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  asio::post(engine_->context, [run = std::move(what)]() mutable {
    run->run();
    run.reset();
  });
  return true;
}

bool io_loop::add(std::shared_ptr<resident> who) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  resident* const key = who.get();
  residents_.emplace(key, std::move(who));
  count_.store(residents_.size(), std::memory_order_relaxed);  // order: as `residents`
  return true;
}

void io_loop::remove(resident& who) {
  std::shared_ptr<resident> last;
  {
    const std::lock_guard lock(mutex_);
    const auto found = residents_.find(&who);
    GARRICK_ASSERT(found != residents_.end(), "a resident leaves once");
    last = std::move(found->second);
    residents_.erase(found);
    count_.store(residents_.size(), std::memory_order_relaxed);  // order: as `residents`
  }
  // The caller is a member function of what may be dropped here.
  asio::post(engine_->context, [kept = std::move(last)]() mutable { kept.reset(); });
  end_if_empty();
}

void io_loop::begin_stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true) || !started_) return;
  }
  asio::post(engine_->context, [this] {
    std::vector<std::shared_ptr<resident>> all;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [key, who] : residents_) all.push_back(who);
    }
    for (const auto& who : all) who->stop();
    end_if_empty();
  });
}

void io_loop::end_if_empty() {
  const std::lock_guard lock(mutex_);
  if (!stopping_ || !residents_.empty() || std::exchange(ended_, true)) return;
  engine_->names.cancel();
  engine_->work.reset();
}

std::size_t io_pool::least_loaded() noexcept {
  // order: only spreads
  const std::size_t first = turn.fetch_add(1, std::memory_order_relaxed);
  std::size_t best = first % loops.size();
  for (std::size_t i = 1; i < loops.size(); ++i) {
    const std::size_t other = (first + i) % loops.size();
    if (loops[other]->residents() < loops[best]->residents()) best = other;
  }
  return best;
}

namespace {

using stream = asio::generic::stream_protocol;

/// What Asio calls. It drops what was cancelled.
struct told {
  std::shared_ptr<completion> who;
  std::uint64_t what;
  void operator()(const boost::system::error_code& e) { (*this)(e, 0); }
  void operator()(const boost::system::error_code& e, std::size_t bytes) {
    if (e == asio::error::operation_aborted) return;
    who->completed(what, e == asio::error::eof ? 0 : e.value(), bytes);
  }
};

}  // namespace

struct io_socket::part {
  explicit part(io_loop& loop) : socket(loop.asio().context) {}
  stream::socket socket;
};

io_socket::io_socket(io_loop& loop, unique_fd fd)
    : part_(std::make_unique<part>(loop)), fd_(fd.get()) {
  boost::system::error_code failed;
  part_->socket.assign(stream(AF_UNSPEC, 0), fd_, failed);
  if (failed) rethrow(failed, "to watch a socket");
  static_cast<void>(fd.release());
}
io_socket::~io_socket() {
  boost::system::error_code ignored;
  part_->socket.close(ignored);
}
void io_socket::read(std::span<std::byte> into, std::shared_ptr<completion> who,
                     std::uint64_t what) {
  part_->socket.async_receive(asio::buffer(into.data(), into.size()), told{std::move(who), what});
}
void io_socket::wait_readable(std::shared_ptr<completion> who, std::uint64_t what) {
  part_->socket.async_wait(stream::socket::wait_read, told{std::move(who), what});
}
void io_socket::wait_writable(std::shared_ptr<completion> who, std::uint64_t what) {
  part_->socket.async_wait(stream::socket::wait_write, told{std::move(who), what});
}
unique_fd io_socket::release() {
  fd_ = -1;
  return unique_fd(part_->socket.release());
}

struct io_timer::part {
  explicit part(io_loop& loop) : timer(loop.asio().context) {}
  asio::steady_timer timer;
};

io_timer::io_timer(io_loop& loop) : part_(std::make_unique<part>(loop)) {}
io_timer::~io_timer() = default;
void io_timer::expire_at(base::instant when, std::shared_ptr<completion> who, std::uint64_t what) {
  const base::duration left = when - base::real_clock().now();
  part_->timer.expires_after(std::chrono::nanoseconds(left.count() > 0 ? left.count() : 0));
  part_->timer.async_wait(told{std::move(who), what});
}

void resolve(io_loop& loop, const std::string& host, std::uint16_t port,
             std::shared_ptr<resolution> who, std::uint64_t what) {
  loop.asio().names.async_resolve(
      host, std::to_string(port), asio::ip::resolver_base::numeric_service,
      [to = std::move(who), what](const boost::system::error_code& e,
                                  const asio::ip::tcp::resolver::results_type& found) {
        std::vector<socket_address> all;
        for (const auto& entry : found) {
          const asio::ip::tcp::endpoint at = entry.endpoint();
          socket_address& a = all.emplace_back();
          a.size = static_cast<socklen_t>(at.size());
          std::memcpy(&a.bytes, at.data(), at.size());
        }
        to->resolved(what, std::move(all), e ? e.message() : std::string());
      });
}

}  // namespace garrick::net::internal
