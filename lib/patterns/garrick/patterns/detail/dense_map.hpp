// A map with contiguous entries, in the order in which they came. It holds the state of a window's
// pane for each key.
//
// Problem: a window has an entry for each key, is filled one tuple at a time, and is then read from
// the first entry to the last and emptied. So entries are a vector, which is read in an order that
// is the same in every run; a table of their numbers finds them; and nothing is ever erased alone.
//
// Private: installed because templates need it.
//
// Thread safety: none.
#pragma once

#include <garrick/patterns/event_time.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// Throws std::invalid_argument, because a key, such as NaN, is not equal to itself. A look-up
/// would never find the entry of such a key.
[[noreturn]] void throw_key_is_not_itself();

/// True if a key of this type may be unequal to itself; integers, enumerations and strings never
/// are.
template <class Key>
inline constexpr bool may_be_unequal_to_itself =
    !std::is_integral_v<Key> && !std::is_enum_v<Key> &&
    !std::is_convertible_v<const Key&, std::string_view>;

/// Returns a key's hash. Throws std::invalid_argument if the key is not equal to itself.
template <class Key>
[[nodiscard]] std::size_t hash_of([[maybe_unused]] const Key& key) {
  if constexpr (std::is_same_v<Key, no_key>) {
    return 0;
  } else {
    if constexpr (may_be_unequal_to_itself<Key>)
      if (!static_cast<bool>(key == key)) throw_key_is_not_itself();
    return std::hash<Key>()(key);
  }
}

/// The numbers of entries by the hashes of their keys.
class dense_index {
 protected:
  /// Returns true if there is room for `n` entries.
  [[nodiscard]] bool has_room(std::size_t n) const noexcept { return 2 * n <= slots_.size(); }
  /// Doubles the index, which is then empty and has room for `n` entries. Throws std::length_error
  /// if there are too many, and std::bad_alloc.
  void widen(std::size_t n);
  void place(std::size_t number, std::size_t hash) noexcept {
    std::size_t at = place_of(hash);
    while (slots_[at] != 0) at = (at + 1) & mask();
    slots_[at] = static_cast<std::uint32_t>(number + 1);
  }
  /// Empties the index. Keeps the memory of a small map for the next use; otherwise gives it back,
  /// and returns false.
  bool clear_index() noexcept;

  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  /// Returns the place where the search for a key begins: numbers side by side, which keys often
  /// are, get places side by side. A farm by key chooses by other bits, which all keys of one
  /// replica have in common.
  [[nodiscard]] std::size_t place_of(std::size_t hash) const noexcept {
    const std::uint64_t above = std::uint64_t{hash} >> bits_;
    return (hash ^ static_cast<std::size_t>(above * 0x9e3779b97f4a7c15ull >> (64 - bits_))) &
           mask();
  }

  std::vector<std::uint32_t> slots_;  ///< an entry's number plus 1; 0: free. 2^bits_ of them
  unsigned bits_ = 0;                 ///< the logarithm of the number of slots
};

/// Keys, each with a cell.
template <class Key, class Cell>
class dense_map : private dense_index {
  static constexpr bool is_number = std::is_integral_v<Key> || std::is_enum_v<Key>;
  struct numbers_hash {
    explicit numbers_hash(std::size_t) noexcept {}
  };

 public:
  /// A number is its own hash. Another key keeps its hash, since hashes are cheaper to compare.
  struct entry {
    Key key;
    [[no_unique_address]] std::conditional_t<is_number, numbers_hash, std::size_t> kept;
    Cell cell;

    [[nodiscard]] std::size_t hash() const noexcept {
      if constexpr (is_number)
        return hash_of<Key>(key);
      else
        return kept;
    }
  };

  /// Returns the entry, or null. Throws the exceptions of comparing keys.
  [[nodiscard]] entry* find(const Key& key, std::size_t hash) {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = place_of(hash);; at = (at + 1) & mask()) {
      if (slots_[at] == 0) return nullptr;
      entry& e = entries_[slots_[at] - 1];
      if (is_number || e.hash() == hash)
        if (e.key == key) return &e;
    }
  }
  /// Adds an entry. Requires that the key is not in the map. If `insert` throws, the map is as
  /// before.
  entry& insert(Key key, std::size_t hash, Cell cell) {
    if (!has_room(entries_.size() + 1)) {
      widen(entries_.size());
      for (std::size_t i = 0; i < entries_.size(); ++i) dense_index::place(i, entries_[i].hash());
    }
    using kept = decltype(entry::kept);
    entries_.push_back(entry{std::move(key), kept(hash), std::move(cell)});
    dense_index::place(entries_.size() - 1, entries_.back().hash());
    return entries_.back();
  }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] entry& operator[](std::size_t i) noexcept { return entries_[i]; }
  [[nodiscard]] auto begin() noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() noexcept { return entries_.end(); }
  /// Empties the map. Keeps the memory of a small map for the next use; that of a large one is
  /// given back.
  void clear() noexcept {
    if (clear_index())
      entries_.clear();
    else
      entries_ = std::vector<entry>();
  }
  void swap(dense_map& o) noexcept {
    entries_.swap(o.entries_);
    slots_.swap(o.slots_);
    std::swap(bits_, o.bits_);
  }

 private:
  std::vector<entry> entries_;
};

}  // namespace garrick::patterns::detail
