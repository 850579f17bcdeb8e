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

#include <cstddef>
#include <memory>
#include <vector>

namespace garrick::patterns::detail {

/// The channels that a node reads. Of which type their tuples are, their ends know.
class inputs {
 public:
  explicit inputs(const tuple_type& type) noexcept;
  ~inputs();
  inputs(const inputs&) = delete;
  inputs& operator=(const inputs&) = delete;

  /// The type of the tuples.
  [[nodiscard]] const tuple_type& type() const noexcept { return type_; }
  /// One more channel. With `back_edge`, it is part of that loop, and ends with it.
  void add(std::shared_ptr<channel> from, wakeable& producer, const loop* back_edge = nullptr);

  /// The oldest tuples of the next channel that has some, at most `most`. They stay there until
  /// `done`. Empty if none has any.
  [[nodiscard]] some_tuples next(std::size_t most) noexcept;
  /// The same of channel number `i` alone.
  [[nodiscard]] some_tuples next_of(std::size_t i, std::size_t most) noexcept;
  /// Which channel the last batch was of.
  [[nodiscard]] std::size_t number() const noexcept { return at_; }
  /// Does something wait in channel number `i`?
  [[nodiscard]] bool waits_at(std::size_t i) const noexcept;
  /// The number of channels.
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// The first `n` of the batch were dealt with. Wakes their producer if it waits for room.
  void done(std::size_t n) noexcept;
  /// Nothing is there, and nothing comes any more.
  [[nodiscard]] bool ended() noexcept;
  /// The node will sleep until something comes. False: something is there, or the end.
  [[nodiscard]] bool sleep() noexcept;
  /// The same of channel number `i` alone.
  [[nodiscard]] bool ended_at(std::size_t i) noexcept;
  [[nodiscard]] bool sleep_at(std::size_t i) noexcept;
  /// The node has enough: those before it hear of it, once. It goes on reading up to the end.
  void leave() noexcept;
  /// How many tuples wait there. Any thread, once the graph is built; right a moment ago.
  [[nodiscard]] std::size_t waiting() const noexcept;
  /// Drops what is there. Returns how many tuples that were.
  std::size_t drop() noexcept;

 private:
  struct one {
    std::shared_ptr<channel> from;
    wakeable* producer;
    const loop* back_edge;

    [[nodiscard]] bool ended() const noexcept;
  };
  const tuple_type& type_;
  std::vector<one> all_;
  std::size_t at_ = 0;
  bool left_ = false;
};

// In the header, since a batch passes them.

inline bool inputs::one::ended() const noexcept {
  return back_edge != nullptr ? back_edge->is_over() && from->ring.size() == 0 : from->ring.ended();
}

inline some_tuples inputs::next(std::size_t most) noexcept {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (++at_ >= all_.size()) at_ = 0;
    if (const some_tuples batch = all_[at_].from->ring.front(most); !batch.empty()) return batch;
  }
  return {};
}

inline void inputs::done(std::size_t n) noexcept {
  one& i = all_[at_];
  auto& ring = i.from->ring;
  ring.discard(n);
  if (ring.size() <= ring.capacity() - i.from->enough_room() && i.from->producer_sleeps.take())
    i.producer->wake(nullptr, 0);
}

inline bool inputs::ended() noexcept {
  for (one& i : all_)
    if (!i.ended()) return false;
  return true;
}

inline bool inputs::sleep() noexcept {
  for (one& i : all_) i.from->consumer_sleeps.set();
  bool all_ended = true;
  for (one& i : all_) {
    if (i.from->ring.size() != 0) return false;
    if (!i.ended()) all_ended = false;
  }
  return !all_ended;
}

}  // namespace garrick::patterns::detail
