// Objects by time, in its order: the panes of windows, and the buckets of joins. Of which type they
// are, the owner knows.
//
// Private: installed because templates need it.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <memory>

namespace garrick::patterns::detail {

/// Owns objects, of which each is at a time of its own.
class time_map {
 public:
  using destroy_function = void (*)(void* object) noexcept;

  /// Empty. `destroy` deletes an object.
  explicit time_map(destroy_function destroy) noexcept;
  time_map(time_map&& o) noexcept;
  time_map& operator=(time_map&&) = delete;
  ~time_map();

  /// One for such objects, without any.
  [[nodiscard]] time_map as_empty() const noexcept { return time_map(destroy_); }
  [[nodiscard]] bool empty() const noexcept;
  /// The object at `t`; null: there is none.
  [[nodiscard]] void* find(std::int64_t t) const noexcept;
  /// Owns `object`, at the time `t`, where there is none. If it throws, `object` is still the
  /// caller's.
  void add(std::int64_t t, void* object);
  /// The first object at `t` or later, whose time `t` is then; null: there is none.
  [[nodiscard]] void* at_or_after(std::int64_t& t) const noexcept;
  /// The first one, and its time. Requires that there is one.
  [[nodiscard]] void* first() const noexcept;
  [[nodiscard]] std::int64_t first_time() const noexcept;
  void erase_first() noexcept;
  void clear() noexcept;

 private:
  struct objects;
  std::unique_ptr<objects> all_;  ///< null: none
  destroy_function destroy_;
};

}  // namespace garrick::patterns::detail
