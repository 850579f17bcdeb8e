// A list in order of insertion, with entries that are found and taken out by key.
//
// Problem: most actors have a monitor or two, some have a hundred thousand. So the list is a plain
// array, which is searched while it is short. When it is long, an index has the place of each key.
// An entry taken out leaves a hole, and the array is closed up when half of it is holes. So every
// operation takes constant time on average.
//
// T has `keyed_list_key key() const`. Two entries may not have the same key.
//
// Private: installed with its room; only sources of core, system and the testkit include it.
//
// Thread safety: none; for the list's owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace garrick::core {

struct keyed_list_key {
  std::uint64_t actor = 0;
  std::uint64_t number = 0;
  friend bool operator==(const keyed_list_key&, const keyed_list_key&) = default;
};

/// The hash of a key, for the index of every list.
struct keyed_list_hash {
  [[nodiscard]] std::size_t operator()(const keyed_list_key& k) const noexcept {
    std::uint64_t h = k.actor * 0x9e3779b97f4a7c15ull + k.number;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93ull;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
};

template <class T>
class keyed_list {
 public:
  static constexpr std::size_t searched = 32;  ///< up to this length it has no index

  [[nodiscard]] bool contains(const keyed_list_key& k) const noexcept { return at(k) != nowhere; }

  /// Adds an entry at the end. Requires that no entry has the same key.
  void add(T value) {
    entries_.emplace_back(std::move(value));
    if (index_ != nullptr)
      put_into_index(entries_.back()->key(), entries_.size() - 1);
    else if (entries_.size() > searched)
      close_up();
  }

  /// Takes the entry with this key out, and returns it; an empty optional if there is none.
  std::optional<T> take(const keyed_list_key& k) {
    const std::size_t i = at(k);
    if (i == nowhere) return std::nullopt;
    std::optional<T> taken = std::exchange(entries_[i], std::nullopt);
    if (index_ != nullptr) index_->erase(k);
    if (2 * ++holes_ > entries_.size()) close_up();
    return taken;
  }

  template <class F>
  void for_each(F f) const {
    for (const std::optional<T>& e : entries_)
      if (e) f(*e);
  }
  void clear() noexcept {
    entries_.clear();
    index_.reset();
    holes_ = 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size() - holes_; }
  [[nodiscard]] bool has_index() const noexcept { return index_ != nullptr; }

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  [[nodiscard]] std::size_t at(const keyed_list_key& k) const noexcept {
    if (index_ != nullptr) {
      const auto found = index_->find(k);
      return found != index_->end() ? found->second : nowhere;
    }
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i] && entries_[i]->key() == k) return i;
    return nowhere;
  }

  void close_up() {
    std::erase_if(entries_, [](const std::optional<T>& e) { return !e.has_value(); });
    holes_ = 0;
    index_.reset();
    if (entries_.size() <= searched) return;
    index_ = std::make_unique<std::unordered_map<keyed_list_key, std::size_t, keyed_list_hash>>();
    for (std::size_t i = 0; i < entries_.size(); ++i) put_into_index(entries_[i]->key(), i);
  }
  void put_into_index(const keyed_list_key& k, std::size_t place) { index_->emplace(k, place); }

  std::vector<std::optional<T>> entries_;
  std::unique_ptr<std::unordered_map<keyed_list_key, std::size_t, keyed_list_hash>> index_;
  std::size_t holes_ = 0;
};

}  // namespace garrick::core
