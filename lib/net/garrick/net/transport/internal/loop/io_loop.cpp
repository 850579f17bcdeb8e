#include "garrick/net/transport/internal/loop/io_loop.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
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
  /// One thread runs it, so posts of that thread to itself need no lock.
  asio::io_context context{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work{
      asio::make_work_guard(context)};
  /// Makes Asio open its descriptors at once: with the first timer or socket of a link it would be
  /// too late to report that there are none.
  asio::steady_timer first_timer{context};
  /// Interrupts a guest; closed if the loop has none.
  asio::posix::stream_descriptor interruptions{context};
};

namespace {

/// Asio's exceptions are its own; ours are the standard's.
[[noreturn]] void rethrow(const boost::system::error_code& e, const char* where) {
  throw std::system_error(e.value(), std::generic_category(), where);
}

}  // namespace

io_loop::io_loop(std::size_t number, std::shared_ptr<name_lookups> names)
    : number_(number), names_(std::move(names)) {
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
  while (run_one()) {
    if (is_over_ || seat_ == nullptr) continue;
    if (!shares())
      open_seat();
    else if (seat_->is_wanted())
      stand_by();
  }
  if (shares()) seat_->close();
}

void io_loop::before_wait(std::shared_ptr<completion> who, std::uint64_t what) {
  before_wait_.emplace_back(std::move(who), what);
}

void io_loop::behind_others(std::shared_ptr<completion> who, std::uint64_t what) {
  behind_others_.emplace_back(std::move(who), what);
  if (behind_others_.size() != 1) return;
  asio::post(engine_->context, [this] {
    event_has_come();
    const auto all = std::exchange(behind_others_, {});
    for (const auto& [each, of_it] : all) each->loop_waits(of_it);
  });
}

void io_loop::end_turn() {
  for (const auto& [who, what] : before_wait_) who->loop_waits(what);
  before_wait_.clear();
}

bool io_loop::run_one() {
  try {
    end_turn();
    return engine_->context.run_one() != 0;
  } catch (const std::bad_alloc&) { base::out_of_memory("an event of an I/O thread"); }
}

bool io_loop::lead(leader& who) noexcept {
  if (is_over_) return false;
  guest_ = &who;
  has_waited_ = false;
  try {
    end_turn();
    // A thread that leads has time for one more call of the system, which tells whether there is
    // more to do.
    has_waited_ = engine_->context.poll_one() == 0;
  } catch (const std::bad_alloc&) { base::out_of_memory("an event of an I/O thread"); }
  const bool goes_on = (!has_waited_ || run_one()) && !is_over_;
  guest_ = nullptr;
  return goes_on;
}

void io_loop::share(std::shared_ptr<base::leader_seat> seat) {
  if (seat_ != nullptr || is_over_) return;
  // Without descriptors the loop's own thread leads it.
  const int theirs = seat->descriptor();
  if (theirs < 0) return;
  unique_fd mine(::fcntl(theirs, F_DUPFD_CLOEXEC, 0));
  if (mine.get() < 0) return;
  boost::system::error_code failed;
  engine_->interruptions.assign(mine.get(), failed);
  if (failed) return;
  static_cast<void>(mine.release());
  seat_ = std::move(seat);
}

/// Takes the seat, unless another loop has it, perhaps a loop that ends soon.
void io_loop::open_seat() {
  if (!seat_->open(*this)) return;
  // order: release, pairs with `shares` of other threads
  shared_.store(seat_.get(), std::memory_order_release);
  await_interruption();
}

void io_loop::await_interruption() {
  engine_->interruptions.async_wait(
      asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& e) {
        if (e) return;
        std::uint64_t count = 0;
        static_cast<void>(!::read(engine_->interruptions.native_handle(), &count, sizeof count));
        await_interruption();
      });
}

/// Leaves the seat to a worker that wants it, but not soon after guests were away for too long, or
/// if no guest has come.
void io_loop::stand_by() {
  constexpr std::uint64_t shortest = 4'000'000;
  constexpr std::uint64_t longest = 1'000'000'000;
  constexpr std::uint64_t longest_in_vain = 64'000'000;
  constexpr std::uint32_t many = 64;
  if (keeps_ns_ != 0 && base::platform::monotonic_ns() < keeps_until_) return;
  const std::uint32_t before = seat_->stays();
  if (seat_->follow([this] { seat_->call_guest(); }) == base::keeper_turn::ended) return;
  const std::uint32_t since = (seat_->stays() - before) % base::leader_seat::most_stays;
  if (since >= many)
    keeps_ns_ /= 2;
  else if (since != 0 || keeps_ns_ < longest_in_vain)
    keeps_ns_ = std::clamp(2 * keeps_ns_, shortest, longest);
  keeps_until_ = base::platform::monotonic_ns() + keeps_ns_;
}

bool io_loop::is_led() const noexcept {
  const base::leader_seat* const seat = shares();
  return seat == nullptr || seat->is_taken();
}

void io_loop::call_keeper() noexcept {
  if (base::leader_seat* const seat = shares()) seat->call_keeper();
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
  asio::post(engine_->context, [this, run = std::move(what)]() mutable {
    event_has_come();
    run->run();
    run.reset();
  });
  call_keeper();
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
  // The caller is a member function of an object that may be destroyed here.
  asio::post(engine_->context, [this, kept = std::move(last)]() mutable {
    event_has_come();
    kept.reset();
  });
  end_if_empty();
}

void io_loop::begin_stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true) || !started_) return;
  }
  asio::post(engine_->context, [this] {
    event_has_come();
    std::vector<std::shared_ptr<resident>> all;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [key, who] : residents_) all.push_back(who);
    }
    for (const auto& who : all) who->stop();
    end_if_empty();
  });
  call_keeper();
}

void io_loop::end_if_empty() {
  const std::lock_guard lock(mutex_);
  if (!stopping_ || !residents_.empty() || std::exchange(ended_, true)) return;
  engine_->interruptions.close();
  is_over_ = true;  // from here on it runs posted jobs, and waits for nothing
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

/// The callback for Asio. It drops cancelled waits.
struct told {
  io_loop& loop;
  std::shared_ptr<completion> who;
  std::uint64_t what;
  void operator()(const boost::system::error_code& e) { (*this)(e, 0); }
  void operator()(const boost::system::error_code& e, std::size_t bytes) {
    loop.event_has_come();  // also for cancelled waits: their last handle may go here
    if (e == asio::error::operation_aborted) return;
    who->completed(what, e == asio::error::eof ? 0 : e.value(), bytes);
  }
};

}  // namespace

struct io_socket::part {
  explicit part(io_loop& l) : loop(l), socket(l.asio().context) {}
  io_loop& loop;
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
  part_->socket.async_receive(asio::buffer(into.data(), into.size()),
                              told{part_->loop, std::move(who), what});
}
void io_socket::wait_readable(std::shared_ptr<completion> who, std::uint64_t what) {
  part_->socket.async_wait(stream::socket::wait_read, told{part_->loop, std::move(who), what});
}
void io_socket::wait_writable(std::shared_ptr<completion> who, std::uint64_t what) {
  part_->socket.async_wait(stream::socket::wait_write, told{part_->loop, std::move(who), what});
}
unique_fd io_socket::release() {
  fd_ = -1;
  return unique_fd(part_->socket.release());
}

struct io_timer::part {
  explicit part(io_loop& l) : loop(l), timer(l.asio().context) {}
  io_loop& loop;
  asio::steady_timer timer;
};

io_timer::io_timer(io_loop& loop) : part_(std::make_unique<part>(loop)) {}
io_timer::~io_timer() = default;
void io_timer::expire_at(base::instant when, std::shared_ptr<completion> who, std::uint64_t what) {
  const base::duration left = when - base::real_clock().now();
  part_->timer.expires_after(std::chrono::nanoseconds(left.count() > 0 ? left.count() : 0));
  part_->timer.async_wait(told{part_->loop, std::move(who), what});
}

}  // namespace garrick::net::internal
