// Objects in the order of their times: the panes of windows, and the buckets of joins. Only the
// owner knows their type.
//
// Private: installed because templates need it.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <memory>

namespace garrick::patterns::detail {

/// The base of an object in a time map.
struct time_entry {
  std::int64_t at = 0;
  time_entry* next = nullptr;  ///< the next object in time; null: there is none
};

/// Owns objects, no two of which are at the same time.
class time_map {
 public:
  using destroy_function = void (*)(time_entry* object) noexcept;

  /// Makes an empty map. `destroy` deletes an object.
  explicit time_map(destroy_function destroy) noexcept;
  time_map(time_map&& o) noexcept;
  time_map& operator=(time_map&&) = delete;
  ~time_map();

  /// Returns an empty map for objects of the same type.
  [[nodiscard]] time_map as_empty() const noexcept { return time_map(destroy_); }
  [[nodiscard]] bool empty() const noexcept { return first() == nullptr; }
  /// Returns the object at `t`; null: there is none.
  [[nodiscard]] time_entry* find(std::int64_t t) const noexcept {
    time_entry* const e = from(t);
    return e != nullptr && e->at == t ? e : nullptr;
  }
  /// Takes ownership of `object`. Requires that no object has its time. If `add` throws, `object`
  /// is still the caller's.
  void add(time_entry* object);
  /// Returns the first object at `t` or later; null: there is none.
  [[nodiscard]] time_entry* from(std::int64_t t) const noexcept;
  /// Returns the first object; null: there is none.
  [[nodiscard]] time_entry* first() const noexcept;
  /// Destroys the first object. Requires that there is one.
  void erase_first() noexcept;
  void clear() noexcept;

 private:
  struct objects;
  std::unique_ptr<objects> all_;  ///< null: none
  destroy_function destroy_;
};

}  // namespace garrick::patterns::detail
