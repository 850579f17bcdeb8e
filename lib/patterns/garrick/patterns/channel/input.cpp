#include <garrick/patterns/channel/input.hpp>

#include <atomic>
#include <utility>

namespace garrick::patterns::detail {

inputs::inputs(const tuple_type& type) noexcept : type_(type) {}
inputs::~inputs() = default;

void inputs::add(std::shared_ptr<channel> from, wakeable& producer, const loop* back_edge) {
  all_.push_back({std::move(from), &producer, back_edge});
}

some_tuples inputs::next(std::size_t most) noexcept {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (++at_ >= all_.size()) at_ = 0;
    if (const some_tuples batch = all_[at_].from->ring.front(most); !batch.empty()) return batch;
  }
  return {};
}

some_tuples inputs::next_of(std::size_t i, std::size_t most) noexcept {
  at_ = i;
  return all_[i].from->ring.front(most);
}

bool inputs::waits_at(std::size_t i) const noexcept { return all_[i].from->ring.length() != 0; }

void inputs::done(std::size_t n) noexcept {
  one& i = all_[at_];
  auto& ring = i.from->ring;
  ring.discard(n);
  if (ring.size() <= ring.capacity() - i.from->enough_room() && i.from->producer_sleeps.take())
    i.producer->wake(nullptr, 0);
}

bool inputs::ended() noexcept {
  for (one& i : all_)
    if (!i.ended()) return false;
  return true;
}

bool inputs::sleep() noexcept {
  for (one& i : all_) i.from->consumer_sleeps.set();
  bool all_ended = true;
  for (one& i : all_) {
    if (i.from->ring.size() != 0) return false;
    if (!i.ended()) all_ended = false;
  }
  return !all_ended;
}

bool inputs::ended_at(std::size_t i) noexcept { return all_[i].ended(); }

bool inputs::sleep_at(std::size_t i) noexcept {
  all_[i].from->consumer_sleeps.set();
  return all_[i].from->ring.size() == 0 && !all_[i].ended();
}

void inputs::leave() noexcept {
  if (std::exchange(left_, true)) return;
  for (one& i : all_) {
    i.from->unwanted.store(true, std::memory_order_relaxed);  // order: relaxed; `wake` orders it
    i.producer->wake(nullptr, 0);
  }
}

std::size_t inputs::waiting() const noexcept {
  std::size_t n = 0;
  for (const one& i : all_) n += i.from->ring.length();
  return n;
}

std::size_t inputs::drop() noexcept {
  std::size_t n = 0;
  for (one& i : all_) {
    while (true) {
      const some_tuples some = i.from->ring.front(i.from->ring.capacity());
      if (some.empty()) break;
      n += type_.tuples_among(some.first, some.count);
      i.from->ring.discard(some.count);
    }
  }
  return n;
}

bool inputs::one::ended() const noexcept {
  return back_edge != nullptr ? back_edge->is_over() && from->ring.size() == 0 : from->ring.ended();
}

}  // namespace garrick::patterns::detail
