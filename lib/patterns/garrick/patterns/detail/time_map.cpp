#include <garrick/patterns/detail/time_map.hpp>

#include <map>

namespace garrick::patterns::detail {

struct time_map::objects {
  std::map<std::int64_t, void*> by_time;
};

time_map::time_map(destroy_function destroy) noexcept : destroy_(destroy) {}
time_map::time_map(time_map&& o) noexcept = default;
time_map::~time_map() { clear(); }

bool time_map::empty() const noexcept { return all_ == nullptr || all_->by_time.empty(); }

void* time_map::find(std::int64_t t) const noexcept {
  if (all_ == nullptr) return nullptr;
  const auto at = all_->by_time.find(t);
  return at == all_->by_time.end() ? nullptr : at->second;
}

void time_map::add(std::int64_t t, void* object) {
  if (all_ == nullptr) all_ = std::make_unique<objects>();
  all_->by_time.emplace(t, object);
}

void* time_map::at_or_after(std::int64_t& t) const noexcept {
  if (all_ == nullptr) return nullptr;
  const auto at = all_->by_time.lower_bound(t);
  if (at == all_->by_time.end()) return nullptr;
  t = at->first;
  return at->second;
}

void* time_map::first() const noexcept { return all_->by_time.begin()->second; }
std::int64_t time_map::first_time() const noexcept { return all_->by_time.begin()->first; }

void time_map::erase_first() noexcept {
  const auto at = all_->by_time.begin();
  void* const object = at->second;
  all_->by_time.erase(at);
  destroy_(object);
}

void time_map::clear() noexcept {
  while (!empty()) erase_first();
}

}  // namespace garrick::patterns::detail
