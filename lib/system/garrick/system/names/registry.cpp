// The table of names. Handles are dropped outside the lock: to drop the last one may run code.
#include <garrick/system/names/registry.hpp>

#include <algorithm>

namespace garrick::system {

namespace {

class registry_category final : public base::error_category {
 public:
  constexpr registry_category() noexcept = default;
  [[nodiscard]] std::string_view name() const noexcept override { return "registry"; }
  [[nodiscard]] std::string message(std::uint32_t code) const override {
    switch (static_cast<registry_errc>(code)) {
      case registry_errc::not_found: return "no living actor has this name";
      case registry_errc::name_taken: return "the name is taken";
      case registry_errc::wrong_protocol:
        return "the actor was registered with a protocol that lacks the requested messages";
      case registry_errc::empty_handle: return "an empty handle cannot have a name";
      case registry_errc::closed: return "the registry is closed: the system has begun to stop";
      case registry_errc::ended: return "an actor that has ended cannot have a name";
    }
    return "unknown registry error " + std::to_string(code);
  }
};
constinit const registry_category of_registry;

/// Returns the signature as it is written in a protocol: "void(int)".
std::string written(const signature_id& s) {
  const std::string content(s.content->name);
  const bool several = content.starts_with('(') && content.ends_with(')');
  return (s.answer == &base::message_type_of<core::unit> ? "void" : std::string(s.answer->name)) +
         (several ? content : "(" + content + ")");
}

/// Returns the reason why an actor registered as `known` cannot be looked up as `wanted`.
std::string what_is_missing(const core::any_ref& who, const protocol_set& known,
                            const protocol_set& wanted) {
  if (known.wildcard) return who.to_string() + " was registered as any_ref";
  const signature_id* const missing = known.first_missing(wanted);
  return who.to_string() + " was registered without " + written(*missing);
}

bool has_ended(const core::any_ref& r) noexcept { return core::handle_access::get(r)->has_ended(); }

}  // namespace

const base::error_category& error_category_of(registry_errc) noexcept { return of_registry; }

registry::registry(core::environment& env) noexcept
    : watcher_(
          env, "registry",
          [](void* self, const core::address& who) { static_cast<registry*>(self)->forget(who); },
          this) {}

base::result<void> registry::put_entry(std::string_view name, core::any_ref who,
                                       protocol_set protocol) {
  if (!who) return base::make_error(registry_errc::empty_handle, name);
  core::any_ref dropped;
  {
    const std::lock_guard guard(mutex_);
    if (closed_) return base::make_error(registry_errc::closed, name);
    if (has_ended(who))
      return base::make_error(
          registry_errc::ended, name,
          who.to_string() + ": " + core::handle_access::get(who)->end_reason().to_string());
    const auto [at, added] = entries_.try_emplace(std::string(name), entry{who, protocol});
    if (!added) {
      if (!has_ended(at->second.who))
        return base::make_error(
            registry_errc::name_taken, name,
            at->second.who.to_string() + (at->second.who == who ? " has it already" : " has it"));
      dropped = std::exchange(at->second.who, who);  // the former holder's end is not noticed yet
      at->second.protocol = protocol;
    }
  }
  // Watched only after the entry was made: if the actor has already ended, the watcher calls back
  // at once and removes the entry.
  if (watcher_.watch(who)) return {};
  remove(name);
  return base::make_error(registry_errc::closed, name);
}

base::result<core::any_ref> registry::get_entry(std::string_view name, protocol_set wanted) const {
  const std::lock_guard guard(mutex_);
  const auto at = entries_.find(name);
  if (at == entries_.end() || has_ended(at->second.who))
    return base::make_error(registry_errc::not_found, name);
  if (!at->second.protocol.covers(wanted))
    return base::make_error(registry_errc::wrong_protocol, name,
                            what_is_missing(at->second.who, at->second.protocol, wanted));
  return at->second.who;
}

bool registry::remove(std::string_view name) {
  core::any_ref dropped;
  const std::lock_guard guard(mutex_);
  const auto at = entries_.find(name);
  if (at == entries_.end()) return false;
  dropped = std::move(at->second.who);
  entries_.erase(at);
  return true;
}

std::vector<std::string> registry::names() const {
  std::vector<std::string> all;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [name, e] : entries_)
      if (!has_ended(e.who)) all.push_back(name);
  }
  std::sort(all.begin(), all.end());
  return all;
}

void registry::forget(const core::address& who) noexcept {
  std::vector<core::any_ref> dropped;
  const std::lock_guard guard(mutex_);
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (at->second.who == who) {
      dropped.push_back(std::move(at->second.who));
      at = entries_.erase(at);
    } else {
      ++at;
    }
  }
}

void registry::seal() noexcept {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
  }
  watcher_.close();
}

void registry::close() noexcept {
  seal();
  decltype(entries_) dropped;
  const std::lock_guard guard(mutex_);
  dropped.swap(entries_);
}

}  // namespace garrick::system
