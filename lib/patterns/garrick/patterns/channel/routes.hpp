// An output that leads to several: each result goes to one of them, as a policy chooses, or to all.
//
// A policy is an object of the producer's own, so it needs no atomics. It has
//
//   std::size_t choose(const T& result, const Choices& among)   the number of the one that gets it
//   static constexpr bool any_will_do = true                    if others would do as well
//   bool is_for_all(const T&), T one_more(const T&)             this one goes to all, in copies
//
// or it is `to_all`. `among.size()` says how many there are, `among.waiting(i)` how many tuples
// wait there.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the producer's run right.
#pragma once

#include <garrick/base/values/random.hpp>
#include <garrick/patterns/channel/called.hpp>
#include <garrick/patterns/channel/output.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

/// What a policy chooses among.
template <class T>
class choices {
 public:
  explicit choices(const std::vector<std::unique_ptr<detail::output<T>>>& among) noexcept
      : among_(among) {}
  /// How many there are, at least one.
  [[nodiscard]] std::size_t size() const noexcept { return among_.size(); }
  /// How many tuples wait at number `i`, or, if that leads to several, at the emptiest of them.
  [[nodiscard]] std::size_t waiting(std::size_t i) const noexcept { return among_[i]->waiting(); }

 private:
  const std::vector<std::unique_ptr<detail::output<T>>>& among_;
};

}  // namespace garrick::patterns

namespace garrick::patterns::detail {

/// Each result goes to all.
struct to_all {
  static constexpr const char* name = "broadcast";
};
/// One after the other.
struct in_turn {
  static constexpr const char* name = "round_robin";
  static constexpr bool any_will_do = true;
  std::size_t next = 0;
  template <class T, class Choices>
  std::size_t choose(const T&, const Choices& among) noexcept {
    if (next >= among.size()) next = 0;
    return next++;
  }
};
/// Any, each as likely as the others.
struct at_random {
  static constexpr const char* name = "random_member";
  static constexpr bool any_will_do = true;
  std::uint64_t state = 1;
  template <class T, class Choices>
  std::size_t choose(const T&, const Choices& among) noexcept {
    return static_cast<std::size_t>(base::splitmix64(state) % among.size());
  }
};
/// Where fewest tuples wait. Reads the consumers' indices of all channels, which costs cache
/// misses, so only once in `between_looks` results.
struct to_least_loaded {
  static constexpr const char* name = "least_loaded";
  static constexpr bool any_will_do = true;
  static constexpr std::uint32_t between_looks = 8;
  std::size_t best = 0;
  std::uint32_t until_look = 0;
  template <class T, class Choices>
  std::size_t choose(const T&, const Choices& among) noexcept {
    if (until_look-- == 0) {
      until_look = between_looks - 1;
      std::size_t start = ++best, least = ~std::size_t{0};
      for (std::size_t i = 0; i < among.size(); ++i) {
        const std::size_t at = (start + i) % among.size();
        if (const std::size_t n = among.waiting(at); n < least) least = n, best = at;
      }
    }
    return best;
  }
};
/// Equal keys to the same one. `Key` is a function, or a pointer to a member; its results know
/// std::hash.
template <class Key>
struct keyed {
  static constexpr const char* name = "by_key";
  [[no_unique_address]] Key key;

  explicit keyed(Key k) : key(std::move(k)) {}
  template <class T, class Choices>
  std::size_t choose(const T& result, const Choices& among) {
    decltype(auto) k = of(result);
    // the high half of a product: std::hash of a number is often that number
    const std::uint64_t mixed =
        std::hash<std::decay_t<decltype(k)>>()(k) * 0x9e3779b97f4a7c15ull >> 32;
    return static_cast<std::size_t>(mixed * among.size() >> 32);
  }

 private:
  template <class T>
  decltype(auto) of(const T& result) {
    if constexpr (std::is_member_object_pointer_v<Key>)
      return (result.*key);
    else if constexpr (std::is_member_function_pointer_v<Key>)
      return (result.*key)();
    else
      return detail::called(key)(result);
  }
};
/// As a user's function says: it takes the result and the choices, or their number.
template <class F>
struct chosen {
  static constexpr const char* name = "own policy";
  [[no_unique_address]] F f;
  template <class T, class Choices>
  std::size_t choose(const T& result, const Choices& among) {
    std::size_t i = 0;
    if constexpr (std::is_invocable_v<detail::callee<F>, const T&, const Choices&>)
      i = static_cast<std::size_t>(detail::called(f)(result, among));
    else
      i = static_cast<std::size_t>(detail::called(f)(result, among.size()));
    if (i >= among.size()) throw std::out_of_range("a policy chose a replica that is not there");
    return i;
  }
};

/// To several outputs.
template <class T, class Policy>
class routes final : public output<T> {
 public:
  routes(std::vector<std::unique_ptr<output<T>>> to, Policy policy)
      : to_(std::move(to)), touched_(to_.size()), policy_(std::move(policy)) {}

  /// Of the one that the policy chooses, or of one after the other if any will do. If all get the
  /// result, all have to have room.
  [[nodiscard]] bool try_put(std::size_t limit, T& value) override {
    if constexpr (std::is_same_v<Policy, to_all>) {
      for (auto& o : to_)
        if (o->waiting() >= limit) return false;
      put_elsewhere(std::move(value));
      return true;
    } else {
      if (std::exchange(this->fresh_, false)) ++input_;
      std::size_t i = policy_.choose(std::as_const(value), choices<T>(to_));
      for (std::size_t tries = any_will_do ? to_.size() : 1; tries != 0; --tries) {
        if (touch(i).try_put(limit, value)) {
          this->blocked_ |= to_[i]->is_blocked();
          return true;
        }
        i = i + 1 < to_.size() ? i + 1 : 0;
      }
      return false;
    }
  }

  void take_back() noexcept override {
    if (this->fresh_) return;
    for (std::size_t i = 0; i < to_.size(); ++i)
      if (touched_[i] == input_) to_[i]->take_back();
    this->blocked_ = false;
    for (auto& o : to_) this->blocked_ |= o->is_blocked();
  }
  void start() override {
    for (auto& o : to_) o->start();
  }
  void stop() override {
    for (auto& o : to_) {
      o->stop();
      this->blocked_ |= o->is_blocked();
    }
  }
  [[nodiscard]] std::size_t pending() const noexcept override {
    std::size_t n = 0;
    for (auto& o : to_) n += o->pending();
    return n;
  }
  std::size_t publish(turn& t) override {
    std::size_t n = 0;
    this->blocked_ = false;
    for (auto& o : to_) {
      if (o->pending() != 0) n += o->publish(t);
      this->blocked_ |= o->is_blocked();
    }
    return n;
  }
  [[nodiscard]] bool sleep() noexcept override {
    bool asleep = true;
    for (auto& o : to_)
      if (!o->sleep()) asleep = false;
    return asleep;
  }
  std::size_t close(turn& t) noexcept override {
    std::size_t n = 0;
    for (auto& o : to_) n += o->close(t);
    this->blocked_ = false;
    return n;
  }
  [[nodiscard]] std::size_t waiting() noexcept override {
    std::size_t least = ~std::size_t{0};
    for (auto& o : to_) least = std::min(least, o->waiting());
    return least;
  }
  [[nodiscard]] bool is_unwanted() noexcept override {
    for (auto& o : to_)
      if (!o->is_unwanted()) return false;
    return true;
  }

 private:
  void put_elsewhere(T&& value) override {
    if (std::exchange(this->fresh_, false)) ++input_;
    if constexpr (std::is_same_v<Policy, to_all>) {
      for (std::size_t i = 0; i + 1 < to_.size(); ++i) put_to(i, T(value));
      put_to(to_.size() - 1, std::move(value));
    } else {
      if constexpr (requires { policy_.is_for_all(value); })
        if (policy_.is_for_all(value)) {
          for (std::size_t i = 0; i < to_.size(); ++i) put_to(i, policy_.one_more(value));
          return;
        }
      put_to(policy_.choose(std::as_const(value), choices<T>(to_)), std::move(value));
    }
  }
  void put_to(std::size_t i, T&& value) {
    touch(i).put(std::move(value));
    this->blocked_ |= to_[i]->is_blocked();
  }
  /// Number `i`, which may get a result of this input.
  output<T>& touch(std::size_t i) noexcept {
    output<T>& o = *to_[i];
    if (std::exchange(touched_[i], input_) != input_) o.begin_input();
    return o;
  }

  static constexpr bool any_will_do = requires { Policy::any_will_do; };

  std::vector<std::unique_ptr<output<T>>> to_;
  std::vector<std::uint64_t> touched_;  ///< the last input that had a result for it
  std::uint64_t input_ = 0;             ///< counts the inputs that had results
  [[no_unique_address]] Policy policy_;
};

/// To a stage that is fused with the one before it: it consumes each result at once.
template <class T, class Stage, class Out>
class fused_output final : public output<T> {
 public:
  fused_output(Stage stage, std::unique_ptr<Out> to)
      : stage_(std::move(stage)), to_(std::move(to)) {}

  void take_back() noexcept override {
    if (!this->fresh_) to_->take_back();
    this->blocked_ = to_->is_blocked();
  }
  void start() override {
    stage_.start();
    to_->start();
  }
  void stop() override {
    to_->begin_input();
    {
      typename Out::in_hand to(*to_);
      stage_.stop(to);
    }
    to_->stop();
    this->blocked_ = to_->is_blocked();
  }
  [[nodiscard]] std::size_t pending() const noexcept override { return to_->pending(); }
  std::size_t publish(turn& t) override {
    const std::size_t n = to_->publish(t);
    this->blocked_ = to_->is_blocked();
    return n;
  }
  [[nodiscard]] bool sleep() noexcept override { return to_->sleep(); }
  std::size_t close(turn& t) noexcept override { return to_->close(t); }
  [[nodiscard]] std::size_t waiting() noexcept override { return to_->waiting(); }
  [[nodiscard]] bool is_unwanted() noexcept override { return to_->is_unwanted(); }

 private:
  void put_elsewhere(T&& value) override {
    if (std::exchange(this->fresh_, false)) to_->begin_input();
    {
      typename Out::in_hand to(*to_);
      stage_.consume(std::move(value), to);
    }
    this->blocked_ = to_->is_blocked();
  }

  Stage stage_;
  std::unique_ptr<Out> to_;
};

}  // namespace garrick::patterns::detail
