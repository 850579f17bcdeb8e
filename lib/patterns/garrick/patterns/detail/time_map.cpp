#include <garrick/patterns/detail/time_map.hpp>

#include <iterator>
#include <map>

namespace garrick::patterns::detail {

struct time_map::objects {
  using by_time_type = std::map<std::int64_t, time_entry*>;
  by_time_type by_time;
  /// The object that was found last, or the end. The next search mostly finds this object or one
  /// beside it, since times move on slowly.
  by_time_type::iterator last_found = by_time.end();

  [[nodiscard]] by_time_type::iterator from(std::int64_t t) {
    auto at = last_found;
    if (at == by_time.end()) return by_time.lower_bound(t);
    if (at->first < t) {
      ++at;
      return at == by_time.end() || at->first >= t ? at : by_time.lower_bound(t);
    }
    for (int steps = 0; steps < 2; ++steps) {
      if (at == by_time.begin()) return at;
      const auto before = std::prev(at);
      if (before->first < t) return at;
      at = before;
    }
    return by_time.lower_bound(t);
  }
};

time_map::time_map(destroy_function destroy) noexcept : destroy_(destroy) {}
time_map::time_map(time_map&& o) noexcept = default;
time_map::~time_map() { clear(); }

void time_map::add(time_entry* object) {
  if (all_ == nullptr) all_ = std::make_unique<objects>();
  const auto at = all_->by_time.emplace(object->at, object).first;
  const auto after = std::next(at);
  object->next = after == all_->by_time.end() ? nullptr : after->second;
  if (at != all_->by_time.begin()) std::prev(at)->second->next = object;
  all_->last_found = at;
}

time_entry* time_map::from(std::int64_t t) const noexcept {
  if (all_ == nullptr) return nullptr;
  const auto at = all_->from(t);
  if (at == all_->by_time.end()) return nullptr;
  all_->last_found = at;
  return at->second;
}

time_entry* time_map::first() const noexcept {
  return all_ == nullptr || all_->by_time.empty() ? nullptr : all_->by_time.begin()->second;
}

void time_map::erase_first() noexcept {
  const auto at = all_->by_time.begin();
  time_entry* const object = at->second;
  if (all_->last_found == at) all_->last_found = all_->by_time.end();
  all_->by_time.erase(at);
  destroy_(object);
}

void time_map::clear() noexcept {
  while (!empty()) erase_first();
}

}  // namespace garrick::patterns::detail
