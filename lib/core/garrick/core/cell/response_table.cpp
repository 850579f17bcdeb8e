// Slots of requests: taken, found by their generation, given back.
#include <garrick/core/cell/environment.hpp>
#include <garrick/core/cell/response_table.hpp>

namespace garrick::core {

std::uint64_t response_table::reserve(std::uint32_t limit, std::uint64_t target) {
  if (active_ >= limit) return 0;
  std::uint32_t index = free_;
  if (index != none) {
    free_ = slots_[index].next_free;
  } else {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  slot& taken = slots_[index];
  taken.used = true;
  taken.k = nullptr;
  taken.early = nullptr;
  taken.timer = {};
  taken.exclusive = false;
  taken.inner = false;
  taken.target = target;
  ++active_;
  return (std::uint64_t{taken.generation} << index_bits) | index;
}

bool response_table::alive(std::uint64_t id) const noexcept {
  const std::uint64_t i = id & index_mask;
  return i < slots_.size() && slots_[i].used && slots_[i].generation == id >> index_bits;
}

void response_table::expect_from_outside(std::uint64_t id, environment& env) noexcept {
  at(id).outside = true;
  env.outside_began();
}

void response_table::end_outside(slot& s, environment& env) noexcept {
  s.outside = false;
  env.outside_ended();
}

void response_table::finish(std::uint64_t id, environment& env) noexcept {
  slot& s = at(id);
  no_longer_due(s, env);
  s.used = false;
  s.generation = (s.generation + 1) & ((1u << 27) - 1);
  if (s.generation == 0) s.generation = 1;
  s.next_free = free_;
  free_ = static_cast<std::uint32_t>(id & index_mask);
  --active_;
}

}  // namespace garrick::core
