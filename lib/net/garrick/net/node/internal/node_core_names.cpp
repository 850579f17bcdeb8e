// The names under which a node shows its actors, and the types that peers may spawn.
#include <garrick/net/error.hpp>
#include <garrick/net/node/internal/node_core.hpp>
#include <garrick/system/names/registry.hpp>

#include <memory>
#include <utility>

namespace garrick::net::internal {

base::error node_core::publish(std::string name, core::address held, const protocol_table& as) {
  if (base::error no = wrong_process()) return no;
  if (!as.described()) return as.described().error();
  core::cell* const who = core::handle_access::get(held);
  if (who == nullptr) return base::make_error(system::registry_errc::empty_handle, name);
  if (who->has_ended())
    return base::make_error(system::registry_errc::ended, name,
                            held.to_string() + ": " + who->end_reason().to_string());
  core::address ended;  // the actor that had the name
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return base::make_error(base::errc::shutting_down, "node", "it is stopping");
    const auto [at, is_new] = names_.try_emplace(std::move(name), published{held, &as});
    if (!is_new) {
      if (!core::handle_access::get(at->second.who)->has_ended())
        return base::make_error(system::registry_errc::name_taken, at->first, "it is published");
      ended = std::exchange(at->second, published{held, &as}).who;
    }
    who->add_strong();
  }
  if (core::cell* const before = core::handle_access::get(ended)) before->drop_strong();
  return {};
}

bool node_core::unpublish(std::string_view name) {
  if (env_.is_copy()) return false;
  core::address who;
  {
    const std::lock_guard lock(mutex_);
    const auto at = names_.find(name);
    if (at == names_.end()) return false;
    who = at->second.who;
    names_.erase(at);
  }
  core::handle_access::get(who)->drop_strong();
  return true;
}

base::error node_core::allow(std::string name, std::shared_ptr<const spawnable> what) {
  if (base::error no = wrong_process()) return no;
  if (!what->protocol().described()) return what->protocol().described().error();
  if (!what->arguments()) return what->arguments().error();
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return base::make_error(base::errc::shutting_down, "node", "it is stopping");
  const auto [at, is_new] = allowed_.try_emplace(std::move(name), std::move(what));
  if (!is_new) return base::make_error(system::registry_errc::name_taken, at->first, "is allowed");
  return {};
}

bool node_core::disallow(std::string_view name) {
  if (env_.is_copy()) return false;
  const std::lock_guard lock(mutex_);
  const auto at = allowed_.find(name);
  if (at == allowed_.end()) return false;
  allowed_.erase(at);
  return true;
}

std::shared_ptr<const spawnable> node_core::allowed(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto at = allowed_.find(name);
  return at != allowed_.end() ? at->second : nullptr;
}

void node_core::with_published(
    std::string_view name,
    const std::function<void(core::cell*, const protocol_table*)>& use) const {
  published found;
  {
    const std::lock_guard lock(mutex_);
    const auto at = names_.find(name);
    if (at != names_.end() && !core::handle_access::get(at->second.who)->has_ended()) {
      found = at->second;
      core::handle_access::get(found.who)->add_strong();
    }
  }
  core::cell* const who = core::handle_access::get(found.who);
  use(who, found.as);
  if (who != nullptr) who->drop_strong();
}

}  // namespace garrick::net::internal
