// What a node reads: a channel from each of its producers, a batch from one of them at a time.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the consumer's run right; `add` while the graph is built; `waiting`
// any thread.
#pragma once

#include <garrick/patterns/channel/channel.hpp>
#include <garrick/patterns/node/loop.hpp>
#include <garrick/patterns/node/wakeable.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// The channels that a node reads.
template <class T>
class inputs {
 public:
  /// One more channel. With `back_edge`, it is part of that loop, and ends with it.
  void add(std::shared_ptr<channel<T>> from, wakeable& producer, const loop* back_edge = nullptr) {
    all_.push_back({std::move(from), &producer, back_edge});
  }

  /// The oldest tuples of the next channel that has some, at most `most`. They stay there until
  /// `done`. Empty if none has any.
  [[nodiscard]] std::span<T> next(std::size_t most) noexcept {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (++at_ >= all_.size()) at_ = 0;
      if (const std::span<T> batch = all_[at_].from->ring.front(most); !batch.empty()) return batch;
    }
    return {};
  }
  /// The same of channel number `i` alone.
  [[nodiscard]] std::span<T> next_of(std::size_t i, std::size_t most) noexcept {
    at_ = i;
    return all_[i].from->ring.front(most);
  }
  /// Which channel the last batch was of.
  [[nodiscard]] std::size_t number() const noexcept { return at_; }
  /// Does something wait in channel number `i`?
  [[nodiscard]] bool waits_at(std::size_t i) const noexcept {
    return all_[i].from->ring.length() != 0;
  }
  /// The number of channels.
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// The first `n` of the batch were dealt with. Wakes their producer if it waits for room.
  void done(std::size_t n) noexcept {
    one& i = all_[at_];
    auto& ring = i.from->ring;
    ring.discard(n);
    if (ring.size() <= ring.capacity() - i.from->enough_room() && i.from->producer_sleeps.take())
      i.producer->wake(nullptr, 0);
  }
  /// Nothing is there, and nothing comes any more.
  [[nodiscard]] bool ended() noexcept {
    for (one& i : all_)
      if (!i.ended()) return false;
    return true;
  }
  /// The node will sleep until something comes. False: something is there, or the end.
  [[nodiscard]] bool sleep() noexcept {
    for (one& i : all_) i.from->consumer_sleeps.set();
    bool all_ended = true;
    for (one& i : all_) {
      if (i.from->ring.size() != 0) return false;
      if (!i.ended()) all_ended = false;
    }
    return !all_ended;
  }
  /// The same of channel number `i` alone.
  [[nodiscard]] bool ended_at(std::size_t i) noexcept { return all_[i].ended(); }
  [[nodiscard]] bool sleep_at(std::size_t i) noexcept {
    all_[i].from->consumer_sleeps.set();
    return all_[i].from->ring.size() == 0 && !all_[i].ended();
  }
  /// The node has enough: those before it hear of it, once. It goes on reading up to the end.
  void leave() noexcept {
    if (std::exchange(left_, true)) return;
    for (one& i : all_) {
      i.from->unwanted.store(true, std::memory_order_relaxed);  // order: relaxed; `wake` orders it
      i.producer->wake(nullptr, 0);
    }
  }
  /// How many tuples wait there. Any thread, once the graph is built; right a moment ago.
  [[nodiscard]] std::size_t waiting() const noexcept {
    std::size_t n = 0;
    for (const one& i : all_) n += i.from->ring.length();
    return n;
  }
  /// Drops what is there. Returns how many tuples that were.
  std::size_t drop() noexcept {
    std::size_t n = 0;
    for (one& i : all_) {
      while (true) {
        const std::span<T> some = i.from->ring.front(i.from->ring.capacity());
        if (some.empty()) break;
        n += tuples_among<T>(some);
        i.from->ring.discard(some.size());
      }
    }
    return n;
  }

 private:
  struct one {
    std::shared_ptr<channel<T>> from;
    wakeable* producer;
    const loop* back_edge;

    [[nodiscard]] bool ended() const noexcept {
      return back_edge != nullptr ? back_edge->is_over() && from->ring.size() == 0
                                  : from->ring.ended();
    }
  };
  std::vector<one> all_;
  std::size_t at_ = 0;
  bool left_ = false;
};

}  // namespace garrick::patterns::detail
