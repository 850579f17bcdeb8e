// A map whose entries lie side by side, in the order in which they came: what a pane of a window
// keeps for each key.
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

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// A key's hash.
template <class Key>
[[nodiscard]] std::size_t hash_of([[maybe_unused]] const Key& key) {
  if constexpr (std::is_same_v<Key, no_key>)
    return 0;
  else
    return std::hash<Key>()(key);
}

/// Keys and what belongs to them.
template <class Key, class Cell>
class dense_map {
 private:
  static constexpr bool is_number = std::is_integral_v<Key> || std::is_enum_v<Key>;
  struct numbers_hash {
    explicit numbers_hash(std::size_t) noexcept {}
  };

 public:
  /// A number is its own hash; others keep theirs, which is cheaper than to compare them.
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

  /// Null if it is not there. Throws what comparing keys throws.
  [[nodiscard]] entry* find(const Key& key, std::size_t hash) {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = place_of(hash);; at = (at + 1) & mask()) {
      if (slots_[at] == 0) return nullptr;
      entry& e = entries_[slots_[at] - 1];
      if (is_number || e.hash() == hash)
        if (e.key == key) return &e;
    }
  }
  /// Requires that the key is not there. If it throws, the map is as before.
  entry& insert(Key key, std::size_t hash, Cell cell) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    using kept = decltype(entry::kept);
    entries_.push_back(entry{std::move(key), kept(hash), std::move(cell)});
    place(entries_.size() - 1);
    return entries_.back();
  }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] entry& operator[](std::size_t i) noexcept { return entries_[i]; }
  [[nodiscard]] auto begin() noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() noexcept { return entries_.end(); }
  /// Keeps the memory of a small map for the next use; that of a large one is given back.
  void clear() noexcept {
    if (slots_.size() > most_kept) {
      entries_ = {};
      slots_ = {};
    } else {
      entries_.clear();
      std::fill(slots_.begin(), slots_.end(), 0);
    }
  }

 private:
  static constexpr std::size_t most_kept = 8192;

  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  /// Where the search for a key begins: numbers side by side, which keys often are, get places side
  /// by side. A farm by key chooses by other bits, which all keys of one replica have in common.
  [[nodiscard]] std::size_t place_of(std::size_t hash) const noexcept {
    const std::uint64_t above = std::uint64_t{hash} >> bits_;
    return (hash ^ static_cast<std::size_t>(above * 0x9e3779b97f4a7c15ull >> (64 - bits_))) &
           mask();
  }
  void place(std::size_t number) noexcept {
    std::size_t at = place_of(entries_[number].hash());
    while (slots_[at] != 0) at = (at + 1) & mask();
    slots_[at] = static_cast<std::uint32_t>(number + 1);
  }
  void grow() {
    if (entries_.size() >= std::numeric_limits<std::uint32_t>::max() / 2)
      throw std::length_error("garrick: a window has more keys than can be counted");
    std::vector<std::uint32_t> wider(slots_.empty() ? 8 : 2 * slots_.size());
    slots_.swap(wider);
    bits_ = static_cast<unsigned>(std::countr_zero(slots_.size()));
    for (std::size_t i = 0; i < entries_.size(); ++i) place(i);
  }

  std::vector<entry> entries_;
  std::vector<std::uint32_t> slots_;  ///< an entry's number plus 1; 0: free. A power of two
  unsigned bits_ = 0;                 ///< its logarithm
};

}  // namespace garrick::patterns::detail
