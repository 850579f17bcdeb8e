#include <garrick/patterns/channel/routes.hpp>

#include <algorithm>

namespace garrick::patterns::detail {

routes_base::routes_base(std::vector<std::unique_ptr<output>> to)
    : to_(std::move(to)), touched_(to_.size()) {}

void routes_base::take_back() noexcept {
  if (fresh_) return;
  for (std::size_t i = 0; i < to_.size(); ++i)
    if (touched_[i] == input_) to_[i]->take_back();
  blocked_ = false;
  for (auto& o : to_) blocked_ |= o->is_blocked();
}

void routes_base::start() {
  for (auto& o : to_) o->start();
}

void routes_base::stop() {
  for (auto& o : to_) {
    o->stop();
    blocked_ |= o->is_blocked();
  }
}

std::size_t routes_base::pending() const noexcept {
  std::size_t n = 0;
  for (auto& o : to_) n += o->pending();
  return n;
}

std::size_t routes_base::publish(turn& t) {
  std::size_t n = 0;
  blocked_ = false;
  for (auto& o : to_) {
    if (o->pending() != 0) n += o->publish(t);
    blocked_ |= o->is_blocked();
  }
  return n;
}

bool routes_base::sleep() noexcept {
  bool asleep = true;
  for (auto& o : to_)
    if (!o->sleep()) asleep = false;
  return asleep;
}

std::size_t routes_base::close(turn& t) noexcept {
  std::size_t n = 0;
  for (auto& o : to_) n += o->close(t);
  blocked_ = false;
  return n;
}

std::size_t routes_base::waiting() noexcept {
  std::size_t least = ~std::size_t{0};
  for (auto& o : to_) least = std::min(least, o->waiting());
  return least;
}

bool routes_base::is_unwanted() noexcept {
  for (auto& o : to_)
    if (!o->is_unwanted()) return false;
  return true;
}

bool routes_base::try_from(std::size_t i, std::size_t tries, std::size_t limit, void* value) {
  for (; tries != 0; --tries) {
    if (touch(i).try_put(limit, value)) {
      blocked_ |= to_[i]->is_blocked();
      return true;
    }
    i = i + 1 < to_.size() ? i + 1 : 0;
  }
  return false;
}

bool routes_base::some_is_full(std::size_t limit) noexcept {
  for (auto& o : to_)
    if (o->waiting() >= limit) return true;
  return false;
}

}  // namespace garrick::patterns::detail
