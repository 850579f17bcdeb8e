// Actors by name, within one system.
//
//   system.registry().put("prices", prices);   // fails if the name is taken
//   result<ref<query>> p = system.registry().get<query>("prices");
//
// `get` fails unless the actor was registered with at least the signatures of `query`.
//
// The protocol is checked at run time: an actor that was registered as any_ref can be got as
// any_ref only, and every actor can be got as any_ref. The registry holds a strong handle, so a
// named actor is not reclaimed until it ends, its name is removed, or the system ends. An actor
// that has ended loses its name.
//
// Errors: registry_errc. Thread safety: any thread.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/system/names/end_watcher.hpp>
#include <garrick/system/names/protocol_table.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace garrick::system {

/// The refusals of the registry.
enum class registry_errc : std::uint32_t {
  not_found = 1,   ///< no actor has this name
  name_taken,      ///< another actor, or the same one, has this name already
  wrong_protocol,  ///< the actor was registered with other signatures
  empty_handle,    ///< an empty handle cannot have a name
  closed,          ///< the system has begun to stop
  ended,           ///< the actor has ended
};
/// Returns the category of these errors.
[[nodiscard]] const base::error_category& error_category_of(registry_errc) noexcept;

/// Living actors by name. Reached by `system.registry()` and, in an actor, `registry_of(*this)`.
/// Any thread; a call holds a lock for the time of a look-up.
///
///     system.registry().put("prices", feed);
///     result<ref<prices>> feed = registry_of(*this).get<prices>("prices");
class registry {
 public:
  /// For the system: makes an empty registry; `env` outlives it.
  explicit registry(core::environment& env) noexcept;
  ~registry() { close(); }
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;

  /// Gives the actor a name, which may be any text, and holds the actor until it ends or `remove`
  /// is called. An actor may have several names. Errors: `empty_handle`; `ended`; `name_taken` if
  /// another living actor, or this one, has the name; `closed`. Throws std::bad_alloc.
  template <class P>
  base::result<void> put(std::string_view name, const core::ref<P>& who) {
    return put_entry(name, core::any_ref(who), protocol_set_of<P>());
  }
  /// Returns the actor of that name, as a handle with the protocol P. Errors: `not_found`, also for
  /// an actor that has ended; `wrong_protocol` if the actor was registered with a protocol that
  /// lacks a signature of P, which the error's text names.
  template <class P>
  [[nodiscard]] base::result<core::ref<P>> get(std::string_view name) const {
    base::result<core::any_ref> r = get_entry(name, protocol_set_of<P>());
    if (!r) return r.error();
    return core::handle_access::adopt<P>(core::handle_access::release(*r));
  }
  /// Removes the name; the actor lives on if other handles hold it. Returns true if an actor had
  /// this name.
  bool remove(std::string_view name);
  /// Returns the names of living actors, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  /// For the system, at its end: makes later `put` fail. Names stay until `close`, also those of
  /// actors that end.
  void seal() noexcept;
  /// For the system, at its end: drops all names and handles, and makes later `put` fail.
  void close() noexcept;

 private:
  struct entry {
    core::any_ref who;
    protocol_set protocol;
  };
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept {
      return std::hash<std::string_view>()(s);
    }
  };

  base::result<void> put_entry(std::string_view name, core::any_ref who, protocol_set protocol);
  [[nodiscard]] base::result<core::any_ref> get_entry(std::string_view name,
                                                      protocol_set wanted) const;
  void forget(const core::address& who) noexcept;

  end_watcher watcher_;
  mutable std::mutex mutex_;
  // under `mutex_`; handles are dropped outside it
  std::unordered_map<std::string, entry, text_hash, std::equal_to<>> entries_;
  bool closed_ = false;  // under `mutex_`
};

}  // namespace garrick::system
