// The output of a node takes the node's results to one channel, or to several by a policy.
//
// Problem: a result should cost no more than being built in the slot where the next node reads it.
// So an output has a pointer to the next free slot and a pointer to the end of the contiguous free
// slots. Only when the two meet, a virtual function is called. A step takes both pointers into a
// local variable, `slots`, so that they stay in registers. Members of the output could not stay
// there, since the compiler must assume that a write to a slot may change them. Results become
// visible to the consumer batch by batch, by `publish`.
//
// The results of a stage's `consume` for one input can be taken back until the next `begin_input`:
// if the call throws, its results are dropped. So nothing is published in the middle of a
// `consume`: a result that finds no slot is kept in the output, and the node makes no further step
// until the kept results have found room.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the producer's run right.
#pragma once

#include <garrick/patterns/channel/channel.hpp>
#include <garrick/patterns/channel/tuple_queue.hpp>
#include <garrick/patterns/node/wakeable.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace garrick::patterns::detail {

template <class T>
class slots;

/// The place for a node's results. Only its ends know their type.
class output {
 public:
  output() = default;
  virtual ~output() = default;
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  /// Puts the next result out. Its type T is exactly that of the channel's tuples. Throws
  /// std::bad_alloc when the result has to be kept, and a policy's exceptions; then `value` is as
  /// before.
  template <class T>
  void put(T& value) {
    if (next_ != end_) [[likely]] {
      T* const here = static_cast<T*>(next_);
      std::construct_at(here, std::move(value));
      next_ = here + 1;
    } else {
      put_elsewhere(&value);
    }
  }
  /// The same for a result of the given type.
  void put(const tuple_type& type, void* value) {
    if (next_ != end_) [[likely]] {
      type.move_one(next_, value);
      next_ = static_cast<std::byte*>(next_) + type.size;
    } else {
      put_elsewhere(value);
    }
  }
  /// Puts `value` out. Returns false and leaves `value` as it was if `limit` or more tuples wait in
  /// the channel. Throws as `put`.
  [[nodiscard]] virtual bool try_put(std::size_t limit, void* value);

  /// Notes that the next results come from another input.
  void begin_input() noexcept {
    mark_ = next_;
    fresh_ = true;
  }
  /// Drops the results since `begin_input`.
  virtual void take_back() noexcept = 0;

  /// Starts the stages that are fused behind the node, when the node begins.
  virtual void start() {}
  /// Stops the stages that are fused behind the node, when the node has seen the end of its inputs.
  virtual void stop() {}

  /// Returns how many results have not been handed on.
  [[nodiscard]] virtual std::size_t pending() const noexcept = 0;
  /// Hands on as many results as there is room for. Returns how many tuples are among them.
  virtual std::size_t publish(turn& t) = 0;
  /// After `publish`: returns true if the node must wait until there is room.
  [[nodiscard]] bool is_blocked() const noexcept { return blocked_; }
  /// Called before the node sleeps for lack of room for the kept results. Returns false if there is
  /// room now.
  [[nodiscard]] virtual bool sleep() noexcept = 0;
  /// Ends the output. Drops the kept results, and returns how many tuples were among them.
  virtual std::size_t close(turn& t) noexcept = 0;
  /// Returns how many tuples wait in the channel that the output leads to; with several channels,
  /// in the emptiest.
  [[nodiscard]] virtual std::size_t waiting() noexcept = 0;
  /// Returns true if all nodes behind have enough. Further results are dropped there.
  [[nodiscard]] virtual bool is_unwanted() noexcept = 0;

 protected:
  template <class T>
  friend class slots;
  /// Moves `value`, a result for which there is no slot at `next_`.
  virtual void put_elsewhere(void* value) = 0;

  void* next_ = nullptr;
  void* end_ = nullptr;
  /// `next_` at the last `begin_input`, unless a derived class says otherwise.
  void* mark_ = nullptr;
  bool blocked_ = false;  ///< a result is kept that found no room
  bool fresh_ = false;    ///< no result came to `put_elsewhere` since `begin_input`
};

/// An output, as a step uses it to put results out. Meanwhile no other code uses the output.
template <class T>
class slots {
 public:
  explicit slots(output& of) noexcept : of_(of) { look(); }
  [[gnu::always_inline]] ~slots() { give_back(); }
  slots(const slots&) = delete;
  slots& operator=(const slots&) = delete;

  /// These functions work as those of `output` with the same names.
  template <class... Args>
  void put(Args&&... args) {
    if (next_ != end_) [[likely]] {
      std::construct_at(next_, std::forward<Args>(args)...);
      ++next_;
    } else {
      T value(std::forward<Args>(args)...);
      give_back();
      try {
        of_.put_elsewhere(&value);
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
      done = of_.try_put(limit, &value);
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

  /// Makes `goes_on(n)` return true, in a loop over inputs, while n is below `limit` and the output
  /// is not blocked. So one comparison answers both questions.
  void let_go_on_below(std::size_t limit) noexcept { below_ = blocked_ ? 0 : limit; }
  [[nodiscard]] bool goes_on(std::size_t n) const noexcept { return n < below_; }

 private:
  // No other function may get this object's address, or the object would have to be in memory all
  // the time. So these two are inlined, and functions that are not inlined belong to the output.
  [[gnu::always_inline]] void look() noexcept {
    next_ = static_cast<T*>(of_.next_);
    end_ = static_cast<T*>(of_.end_);
    mark_ = static_cast<T*>(of_.mark_);
    blocked_ = of_.blocked_;
    fresh_ = of_.fresh_;
    below_ = blocked_ ? 0 : below_;
  }
  [[gnu::always_inline]] void give_back() noexcept {
    of_.next_ = next_;
    of_.mark_ = mark_;
    of_.fresh_ = fresh_;
  }

  output& of_;
  T* next_;
  T* end_;
  T* mark_;
  std::size_t below_ = 0;
  bool blocked_;
  bool fresh_;
};

/// An output to one channel.
class channel_output final : public output {
 public:
  channel_output(std::shared_ptr<channel> to, wakeable& consumer);
  ~channel_output() override;

  void take_back() noexcept override;
  std::size_t publish(turn& t) override;
  [[nodiscard]] std::size_t pending() const noexcept override;
  [[nodiscard]] bool sleep() noexcept override;
  std::size_t close(turn& t) noexcept override;
  [[nodiscard]] std::size_t waiting() noexcept override;
  [[nodiscard]] bool is_unwanted() noexcept override;

 private:
  [[nodiscard]] std::size_t slots_up_to(const void* slot) const noexcept;
  [[nodiscard]] std::size_t unpublished() const noexcept;
  [[nodiscard]] std::size_t marked() const noexcept;
  [[nodiscard]] std::size_t tuples_before(std::size_t n) const noexcept;
  std::size_t publish_all(std::size_t n) noexcept;
  [[nodiscard]] bool claim() noexcept;
  void drop_unpublished(std::size_t from) noexcept;
  void move_to_slot(void* value) noexcept;
  void put_elsewhere(void* value) override;

  std::shared_ptr<channel> to_;
  wakeable& consumer_;
  const tuple_type& type_;
  void* region_ = nullptr;  ///< the first of the slots side by side
  std::size_t before_ = 0;  ///< results before those slots
  std::size_t marked_ = 0;  ///< results before the present input, if `mark_` is null
  /// Results that found no room: of the present input or, on the way back in a loop, of any input.
  tuple_queue kept_;
  std::size_t kept_before_ = 0;  ///< kept results of the inputs before the present one
};

/// The output of a stage without results.
class no_output final : public output {
 public:
  void take_back() noexcept override;
  [[nodiscard]] std::size_t pending() const noexcept override;
  std::size_t publish(turn& t) override;
  [[nodiscard]] bool sleep() noexcept override;
  std::size_t close(turn& t) noexcept override;
  [[nodiscard]] std::size_t waiting() noexcept override;
  [[nodiscard]] bool is_unwanted() noexcept override;

 private:
  void put_elsewhere(void* value) override;
};
/// The slots of a step whose stage has no output.
template <>
class slots<void> {
 public:
  explicit slots(output& /*of*/) noexcept {}
  void begin_input() noexcept {}
  [[nodiscard]] bool is_blocked() const noexcept { return false; }
  void let_go_on_below(std::size_t limit) noexcept { below_ = limit; }
  [[nodiscard]] bool goes_on(std::size_t n) const noexcept { return n < below_; }

 private:
  std::size_t below_ = 0;
};

}  // namespace garrick::patterns::detail
