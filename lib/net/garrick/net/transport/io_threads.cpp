#include "garrick/net/transport/io_threads.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "garrick/base/concurrency/forked.hpp"
#include "garrick/base/concurrency/leader_seat.hpp"
#include "garrick/base/concurrency/runnable.hpp"
#include "garrick/base/platform/assert.hpp"
#include "garrick/net/transport/internal/loop/io_loop.hpp"
#include "garrick/net/transport/internal/name_lookups.hpp"

namespace garrick::net {

namespace {
constexpr std::size_t most_threads = 1024;
constexpr std::size_t most_lookups = 1024;
}  // namespace

io_threads::io_threads(io_settings s)
    : made_after_(base::watch_forks()), pool_(std::make_unique<internal::io_pool>()) {
  if (s.threads == 0 || s.threads > most_threads)
    throw std::invalid_argument("io_settings::threads is 1 to 1024");
  if (s.lookups == 0 || s.lookups > most_lookups)
    throw std::invalid_argument("io_settings::lookups is 1 to 1024");
  const auto names = std::make_shared<internal::name_lookups>(s.lookups);
  for (std::size_t i = 0; i < s.threads; ++i)
    pool_->loops.push_back(std::make_unique<internal::io_loop>(i, names));
  try {
    for (const auto& loop : pool_->loops) loop->start();
  } catch (...) {
    stop();
    throw;
  }
}

io_threads::~io_threads() {
  if (is_copy())
    static_cast<void>(pool_.release());  // its threads are the parent's, and use their own
  else
    stop();
}

bool io_threads::is_copy() const noexcept { return base::fork_count() != made_after_; }

void io_threads::stop() {
  if (is_copy()) return;
  for (const auto& loop : pool_->loops)
    GARRICK_ASSERT(!loop->is_current(), "I/O threads are not stopped from one of them");
  const std::lock_guard lock(pool_->stopping);
  for (const auto& loop : pool_->loops) loop->begin_stop();
  for (const auto& loop : pool_->loops) loop->join();
}

void io_threads::finish() {
  if (is_copy()) return;
  // A stream that was closed on another thread is handed over in a job of its loop, which may need
  // a second one.
  for (int i = 0; i < 2; ++i)
    for (const auto& loop : pool_->loops) {
      auto done = std::make_shared<std::promise<void>>();
      std::future<void> is_done = done->get_future();
      if (loop->post(internal::make_job([done] { done->set_value(); }))) is_done.wait();
    }
  // Runs only at the end: not worth a condition variable that every stream would notify.
  for (const auto& loop : pool_->loops)
    while (loop->unsaid() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  stop();
}

std::size_t io_threads::size() const noexcept { return pool_->loops.size(); }

std::size_t io_threads::load(std::size_t thread) const {
  return pool_->loops.at(thread)->residents();
}

void io_threads::share_with(base::executor& who) {
  std::shared_ptr<base::leader_seat> seat = who.seat();
  if (seat == nullptr) return;
  internal::io_loop& first = *pool_->loops.front();
  first.post(
      internal::make_job([&first, s = std::move(seat)]() mutable { first.share(std::move(s)); }));
}

bool io_threads::post_task(std::size_t thread, std::unique_ptr<task> what) {
  return pool_->loops.at(thread)->post(internal::make_job([t = std::move(what)] { t->run(); }));
}

}  // namespace garrick::net
