// Where the results of a node go: to one channel, or to several by a policy.
//
// Problem: a result should cost no more than being built in the slot where the next node reads it.
// So an output has a pointer to the next free slot and one to the end of those that lie side by
// side; only when they meet is a virtual function called. A step takes both into a local variable,
// `slots`: there they stay in registers, which members could not, since what is written to a slot
// might be one of them, for all the compiler knows. What was built becomes visible to the consumer
// batch by batch, by `publish`.
//
// What one input's `consume` has put out can be taken back until the next `begin_input`: if it
// throws, its results are dropped with it. So nothing is published in the middle of a `consume`:
// what finds no slot then is kept in the output, and the node makes no further step until that has
// found room.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the producer's run right.
#pragma once

#include <garrick/patterns/channel/channel.hpp>
#include <garrick/patterns/node/wakeable.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>

namespace garrick::patterns::detail {

template <class T>
class slots;

/// Where a node puts its results.
template <class T>
class output {
 public:
  using in_hand = slots<T>;  ///< what a step puts results into

  output() = default;
  virtual ~output() = default;
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  /// The next result. Throws std::bad_alloc when it has to be kept, and what a policy throws.
  template <class... Args>
  void put(Args&&... args) {
    if (next_ != end_) [[likely]] {
      std::construct_at(next_, std::forward<Args>(args)...);
      ++next_;
    } else {
      put_elsewhere(T(std::forward<Args>(args)...));
    }
  }
  /// The same. If it throws because `value` has no way, or cannot be kept, `value` is as before.
  void put(T&& value) {
    if (next_ != end_) [[likely]] {
      std::construct_at(next_, std::move(value));
      ++next_;
    } else {
      put_elsewhere(std::move(value));
    }
  }
  /// Puts `value` out. Returns false and leaves `value` as it was if `limit` or more wait there.
  /// Throws as `put`.
  [[nodiscard]] virtual bool try_put(std::size_t limit, T& value) {
    if (waiting() >= limit) return false;
    put(std::move(value));
    return true;
  }

  /// The next results come from another input.
  void begin_input() noexcept {
    mark_ = next_;
    fresh_ = true;
  }
  /// Drops the results since `begin_input`.
  virtual void take_back() noexcept = 0;

  /// The node begins: the stages that are fused behind it do, too.
  virtual void start() {}
  /// The node has seen the end of its inputs: the stages behind it have, too.
  virtual void stop() {}

  /// How many results have not been handed on.
  [[nodiscard]] virtual std::size_t pending() const noexcept = 0;
  /// Hands on what there is room for. Returns how many tuples that are.
  virtual std::size_t publish(turn& t) = 0;
  /// After `publish`: must the node wait until there is room?
  [[nodiscard]] bool is_blocked() const noexcept { return blocked_; }
  /// The node will sleep until there is room for what is kept. False: there is some now.
  [[nodiscard]] virtual bool sleep() noexcept = 0;
  /// Nothing comes any more. What is kept is dropped; returns how many tuples that were.
  virtual std::size_t close(turn& t) noexcept = 0;
  /// How many tuples wait in the channel behind; of several channels, in the emptiest.
  [[nodiscard]] virtual std::size_t waiting() noexcept = 0;
  /// Has everybody behind enough? What is put out all the same is dropped there.
  [[nodiscard]] virtual bool is_unwanted() noexcept = 0;

 protected:
  friend slots<T>;
  virtual void put_elsewhere(T&& value) = 0;

  T* next_ = nullptr;
  T* end_ = nullptr;
  T* mark_ = nullptr;  ///< `next_` at the last `begin_input`, unless a class below says otherwise
  bool blocked_ = false;  ///< something is kept that found no room
  bool fresh_ = false;    ///< nothing came to `put_elsewhere` since `begin_input`
};

/// An output in the hands of a step, which puts results there. Meanwhile nobody else uses the
/// output.
template <class T>
class slots {
 public:
  explicit slots(output<T>& of) noexcept : of_(of) { look(); }
  ~slots() { give_back(); }
  slots(const slots&) = delete;
  slots& operator=(const slots&) = delete;

  /// The same as those of the output.
  template <class... Args>
  void put(Args&&... args) {
    if (next_ != end_) [[likely]] {
      std::construct_at(next_, std::forward<Args>(args)...);
      ++next_;
    } else {
      T value(std::forward<Args>(args)...);
      give_back();
      try {
        of_.put_elsewhere(std::move(value));
      } catch (...) {
        look();
        throw;
      }
      look();
    }
  }
  [[nodiscard]] bool try_put(std::size_t limit, T& value) {
    give_back();
    bool done = false;
    try {
      done = of_.try_put(limit, value);
    } catch (...) {
      look();
      throw;
    }
    look();
    return done;
  }
  void begin_input() noexcept {
    mark_ = next_;
    fresh_ = true;
  }
  void take_back() noexcept {
    give_back();
    of_.take_back();
    look();
  }
  [[nodiscard]] bool is_blocked() const noexcept { return blocked_; }
  [[nodiscard]] std::size_t waiting() noexcept {
    give_back();
    return of_.waiting();
  }

 private:
  // Nobody else may get this object's address, or it would have to be in memory all the time. So
  // both are inlined, and what is not is a function of the output.
  void look() noexcept {
    next_ = of_.next_;
    end_ = of_.end_;
    mark_ = of_.mark_;
    blocked_ = of_.blocked_;
    fresh_ = of_.fresh_;
  }
  void give_back() noexcept {
    of_.next_ = next_;
    of_.mark_ = mark_;
    of_.fresh_ = fresh_;
  }

  output<T>& of_;
  T* next_;
  T* end_;
  T* mark_;
  bool blocked_;
  bool fresh_;
};

/// To one channel.
template <class T>
class channel_output final : public output<T> {
 public:
  channel_output(std::shared_ptr<channel<T>> to, wakeable& consumer)
      : to_(std::move(to)), consumer_(consumer) {}
  ~channel_output() override { drop_unpublished(0); }

  void take_back() noexcept override {
    if (this->fresh_ && this->mark_ == nullptr) return;  // nothing was put since begin_input
    drop_unpublished(marked());
    if (!this->fresh_)
      while (kept_.size() > kept_before_) kept_.pop_back();
    this->blocked_ = !kept_.empty();
  }

  std::size_t publish(turn& t) override {
    std::size_t n = unpublished();
    std::size_t tuples = n == 0 ? 0 : publish_all(n);
    while (!kept_.empty()) {
      if (!claim()) break;
      std::construct_at(this->next_++, std::move(kept_.front()));
      kept_.pop_front();
      if (kept_.empty() || this->next_ == this->end_) {
        const std::size_t more = unpublished();
        tuples += publish_all(more);
        n += more;
      }
    }
    this->blocked_ = !kept_.empty();
    if (n != 0 && to_->consumer_sleeps.take()) consumer_.wake(&t, n);
    return tuples;
  }

  [[nodiscard]] std::size_t pending() const noexcept override {
    return unpublished() + kept_.size();
  }

  [[nodiscard]] bool sleep() noexcept override {
    if (kept_.empty()) return true;
    to_->producer_sleeps.set();
    return to_->ring.room() < to_->enough_room();
  }

  std::size_t close(turn& t) noexcept override {
    std::size_t dropped = tuples_before(unpublished());
    for (const T& one : kept_) dropped += tuples_among(std::span<const T>(&one, 1));
    kept_.clear();
    this->blocked_ = false;
    drop_unpublished(0);
    to_->ring.close();
    if (to_->consumer_sleeps.take()) consumer_.wake(&t, 0);
    return dropped;
  }

  [[nodiscard]] std::size_t waiting() noexcept override {
    return to_->ring.capacity() - to_->ring.room() + unpublished() + kept_.size();
  }
  [[nodiscard]] bool is_unwanted() noexcept override {
    return to_->unwanted.load(std::memory_order_relaxed);  // order: relaxed; a wake-up follows it
  }

 private:
  [[nodiscard]] std::size_t unpublished() const noexcept {
    return before_ + static_cast<std::size_t>(this->next_ - region_);
  }
  /// How many of them the inputs before the present one have put out.
  [[nodiscard]] std::size_t marked() const noexcept {
    return this->mark_ == nullptr ? marked_
                                  : before_ + static_cast<std::size_t>(this->mark_ - region_);
  }
  /// How many of the first `n` unpublished results are tuples.
  [[nodiscard]] std::size_t tuples_before(std::size_t n) const noexcept {
    if constexpr (always_tuples<T>) {
      return n;
    } else {
      std::size_t tuples = 0;
      for (std::size_t i = 0; i < n; ++i)
        tuples += tuples_among(std::span<const T>(to_->ring.unpublished_slot(i), 1));
      return tuples;
    }
  }
  /// Returns how many tuples that are.
  std::size_t publish_all(std::size_t n) noexcept {
    const std::size_t tuples = tuples_before(n);
    to_->ring.publish(n);
    before_ = 0;
    region_ = this->next_;
    this->mark_ = nullptr;
    marked_ = 0;
    return tuples;
  }
  /// Are there slots side by side from `next_` on? Looks for some.
  [[nodiscard]] bool claim() noexcept {
    if (this->next_ != this->end_) return true;
    marked_ = marked();
    this->mark_ = nullptr;
    before_ = unpublished();
    const auto slots = to_->ring.claim(before_);
    region_ = this->next_ = slots.first;
    this->end_ = slots.first + slots.count;
    return slots.count != 0;
  }
  void drop_unpublished(std::size_t from) noexcept {
    for (std::size_t i = unpublished(); i > from; --i)
      std::destroy_at(to_->ring.unpublished_slot(i - 1));
    before_ = marked_ = from;
    region_ = this->next_ = this->end_ = this->mark_ = nullptr;
  }
  void put_elsewhere(T&& value) override {
    if (std::exchange(this->fresh_, false)) {
      if (this->mark_ == nullptr) marked_ = unpublished();
      kept_before_ = kept_.size();
    }
    if (kept_.empty() && claim()) {
      std::construct_at(this->next_++, std::move(value));
    } else {
      kept_.push_back(std::move(value));
      this->blocked_ = true;
    }
  }

  std::shared_ptr<channel<T>> to_;
  wakeable& consumer_;
  T* region_ = nullptr;     ///< the first of the slots side by side
  std::size_t before_ = 0;  ///< results before those slots
  std::size_t marked_ = 0;  ///< results before the present input, if `mark_` is null
  /// Results that found no room: of the present input, or, on the way back in a loop, of any.
  std::deque<T> kept_;
  std::size_t kept_before_ = 0;  ///< those of the inputs before the present one
};

}  // namespace garrick::patterns::detail
