// The inputs of a node: a channel from each of its producers. A batch comes from one of them.
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

/// The channels that a node reads. Only their ends know the type of the tuples.
class inputs {
 public:
  explicit inputs(const tuple_type& type) noexcept;
  ~inputs();
  inputs(const inputs&) = delete;
  inputs& operator=(const inputs&) = delete;

  /// Returns the type of the tuples.
  [[nodiscard]] const tuple_type& type() const noexcept { return type_; }
  /// Adds a channel. With `back_edge`, the channel is part of that loop, and ends with it.
  void add(std::shared_ptr<channel> from, wakeable& producer, const loop* back_edge = nullptr);

  /// Returns the oldest tuples of the next channel that has some, at most `most`. They stay there
  /// until `done`. Returns no tuples if all channels are empty.
  [[nodiscard]] some_tuples next(std::size_t most) noexcept;
  /// Returns the same as `next`, for channel number `i` alone.
  [[nodiscard]] some_tuples next_of(std::size_t i, std::size_t most) noexcept;
  /// Returns the number of the channel that the last batch came from.
  [[nodiscard]] std::size_t number() const noexcept { return at_; }
  /// Returns true if something waits in channel number `i`.
  [[nodiscard]] bool waits_at(std::size_t i) const noexcept;
  /// Returns the number of channels.
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// Removes the first `n` tuples of the batch, which were dealt with. Wakes their producer if it
  /// waits for room.
  void done(std::size_t n) noexcept;
  /// Returns true if all channels are empty and have ended.
  [[nodiscard]] bool ended() noexcept;
  /// Called before the node sleeps for lack of input. Returns false if a channel has input, or if
  /// all channels have ended.
  [[nodiscard]] bool sleep() noexcept;
  /// Returns the same as `ended`, for channel number `i` alone.
  [[nodiscard]] bool ended_at(std::size_t i) noexcept;
  [[nodiscard]] bool sleep_at(std::size_t i) noexcept;
  /// Tells the nodes before this one, once, that this node has enough. This node still reads up to
  /// the end.
  void leave() noexcept;
  /// Returns how many items waited in the channels a moment ago. Any thread, once the graph is
  /// built.
  [[nodiscard]] std::size_t waiting() const noexcept;
  /// Drops the items in the channels. Returns how many of them were tuples.
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

// These functions are in the header, since each batch calls them.

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
