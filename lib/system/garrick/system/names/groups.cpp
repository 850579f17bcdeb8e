// Topics and their members. Handles are dropped outside every lock: to drop the last one may run
// code.
#include <garrick/system/names/groups.hpp>

#include <algorithm>

namespace garrick::system {

namespace {

class groups_category final : public base::error_category {
 public:
  constexpr groups_category() noexcept = default;
  [[nodiscard]] std::string_view name() const noexcept override { return "groups"; }
  [[nodiscard]] std::string message(std::uint32_t code) const override {
    switch (static_cast<groups_errc>(code)) {
      case groups_errc::wrong_protocol: return "the topic was made with another protocol";
      case groups_errc::empty_handle: return "an empty handle cannot join";
      case groups_errc::closed: return "the groups are closed: the system has begun to stop";
    }
    return "unknown groups error " + std::to_string(code);
  }
};
constinit const groups_category category;

}  // namespace

const base::error_category& error_category_of(groups_errc) noexcept { return category; }

namespace detail {

namespace {

/// Returns true if the actor lives: an ended actor is not a member any more, even while its handle
/// is still in the list.
bool lives(const core::any_ref& who) noexcept {
  return !core::handle_access::get(who)->has_ended();
}

}  // namespace

bool topic::add(const core::any_ref& who) {
  const std::lock_guard guard(mutex_);
  if (closed_ || !place_.try_emplace(who.id(), members_.size()).second) return false;
  members_.push_back(who);
  snapshot_.reset();  // drops no last handle: `members_` has them all
  return true;
}

bool topic::remove(std::uint64_t id) {
  // Destroyed outside the lock, because dropping the last handle or the last snapshot may run code.
  core::any_ref gone;
  std::shared_ptr<const members> old;
  const std::lock_guard guard(mutex_);
  const auto at = place_.find(id);
  if (at == place_.end()) return false;
  const std::size_t hole = at->second;
  place_.erase(at);
  gone = std::move(members_[hole]);
  if (hole != members_.size() - 1) {
    members_[hole] = std::move(members_.back());
    place_[members_[hole].id()] = hole;
  }
  members_.pop_back();
  old = std::move(snapshot_);
  return true;
}

void topic::close() {
  members all;
  std::shared_ptr<const members> old;
  const std::scoped_lock guard(door_, mutex_);
  closed_ = true;
  all.swap(members_);
  place_.clear();
  old = std::move(snapshot_);
}

bool topic::is_closed() const {
  const std::lock_guard guard(mutex_);
  return closed_;
}

std::shared_ptr<const topic::members> topic::snapshot() const {
  const std::lock_guard guard(mutex_);
  if (snapshot_ == nullptr) snapshot_ = std::make_shared<members>(members_);
  return snapshot_;
}

std::size_t topic::size() const {
  const std::lock_guard guard(mutex_);
  return static_cast<std::size_t>(std::count_if(members_.begin(), members_.end(), lives));
}

void publish(const topic& t, const core::message& m) {
  const auto all = t.snapshot();
  for (const core::any_ref& r : *all)
    if (lives(r)) core::send(r, m);
}

}  // namespace detail

groups::groups(core::environment& env) noexcept
    : watcher_(
          env, "groups",
          [](void* self, const core::address& who) { static_cast<groups*>(self)->forget(who); },
          this) {}

base::result<std::shared_ptr<detail::topic>> groups::find(std::string_view name,
                                                          protocol_set protocol) {
  const std::lock_guard guard(mutex_);
  if (closed_) return base::make_error(groups_errc::closed, name);
  const std::string key(name);
  auto at = topics_.find(key);
  if (at == topics_.end())
    at = topics_.emplace(key, std::make_shared<detail::topic>(key, protocol)).first;
  const protocol_set& known = at->second->protocol();
  if (known.wildcard != protocol.wildcard || !known.covers(protocol) || !protocol.covers(known))
    return base::make_error(groups_errc::wrong_protocol, name);
  return at->second;
}

base::result<void> groups::join(const std::shared_ptr<detail::topic>& t, core::any_ref who) {
  if (!who) return base::make_error(groups_errc::empty_handle, t->name());
  {
    const std::lock_guard guard(mutex_);
    if (closed_) return base::make_error(groups_errc::closed, t->name());
    if (!t->add(who)) return {};
    const auto [from, to] = topics_of_.equal_range(who.id());
    if (std::none_of(from, to, [&](const auto& known) { return known.second == t; }))
      topics_of_.emplace(who.id(), t);
  }
  // Watched only after it has become a member: if it has already ended, the watcher calls back at
  // once.
  if (watcher_.watch(who)) return {};
  t->remove(who.id());
  return base::make_error(groups_errc::closed, t->name());
}

void groups::forget(const core::address& who) noexcept {
  std::vector<std::shared_ptr<detail::topic>> left;
  {
    const std::lock_guard guard(mutex_);
    const auto [from, to] = topics_of_.equal_range(who.id());
    for (auto at = from; at != to; ++at) left.push_back(at->second);
    topics_of_.erase(from, to);
  }
  for (const auto& t : left) t->remove(who.id());
}

std::vector<std::string> groups::names() const {
  std::vector<std::string> all;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [name, t] : topics_) all.push_back(name);
  }
  std::sort(all.begin(), all.end());
  return all;
}

void groups::seal() noexcept {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
  }
  watcher_.close();
}

void groups::close() noexcept {
  seal();
  decltype(topics_) all;
  {
    const std::lock_guard guard(mutex_);
    all.swap(topics_);
    topics_of_.clear();
  }
  for (const auto& [name, t] : all) t->close();
}

}  // namespace garrick::system
