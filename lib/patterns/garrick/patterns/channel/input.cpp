#include <garrick/patterns/channel/input.hpp>

#include <atomic>
#include <utility>

namespace garrick::patterns::detail {

inputs::inputs(const tuple_type& type) noexcept : type_(type) {}
inputs::~inputs() = default;

void inputs::add(std::shared_ptr<channel> from, wakeable& producer, const loop* back_edge) {
  all_.push_back({std::move(from), &producer, back_edge});
}

some_tuples inputs::next_of(std::size_t i, std::size_t most) noexcept {
  at_ = i;
  return all_[i].from->ring.front(most);
}

bool inputs::waits_at(std::size_t i) const noexcept { return all_[i].from->ring.length() != 0; }

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

}  // namespace garrick::patterns::detail
