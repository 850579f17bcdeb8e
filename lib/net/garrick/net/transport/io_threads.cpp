#include "garrick/net/transport/io_threads.hpp"

#include <mutex>
#include <stdexcept>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/transport/internal/io_loop.hpp"

namespace garrick::net {

namespace {
constexpr std::size_t most_threads = 1024;
}

io_threads::io_threads(io_settings s) : pool_(std::make_unique<internal::io_pool>()) {
  if (s.threads == 0 || s.threads > most_threads)
    throw std::invalid_argument("io_settings::threads is 1 to 1024");
  for (std::size_t i = 0; i < s.threads; ++i)
    pool_->loops.push_back(std::make_unique<internal::io_loop>(i));
  try {
    for (const auto& loop : pool_->loops) loop->start();
  } catch (...) {
    stop();
    throw;
  }
}

io_threads::~io_threads() { stop(); }

void io_threads::stop() {
  for (const auto& loop : pool_->loops)
    GARRICK_ASSERT(!loop->is_current(), "I/O threads are not stopped from one of them");
  const std::lock_guard lock(pool_->stopping);
  for (const auto& loop : pool_->loops) loop->begin_stop();
  for (const auto& loop : pool_->loops) loop->join();
}

std::size_t io_threads::size() const noexcept { return pool_->loops.size(); }

std::size_t io_threads::load(std::size_t thread) const {
  return pool_->loops.at(thread)->residents();
}

bool io_threads::post_task(std::size_t thread, std::unique_ptr<task> what) {
  return pool_->loops.at(thread)->post(internal::make_job([t = std::move(what)] { t->run(); }));
}

}  // namespace garrick::net
