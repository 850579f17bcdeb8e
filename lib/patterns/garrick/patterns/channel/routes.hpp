// An output that leads to several channels: each result goes to one of them, chosen by a policy, or
// to all of them.
//
// Each producer has a policy object of its own, so a policy needs no atomics. It is `to_all`, or it
// has the first of these members and may have the others:
//
//   std::size_t choose(const T& result, const Choices& among)   the number of the chosen channel
//   static constexpr bool any_will_do = true                    any other channel would do, too
//   bool is_for_all(const T&)                                   true if the result is for all
//   T one_more(const T&)                                        makes a copy for one of them
//   bool goes_to(const T&, std::size_t i)                       false if channel i gets no copy
//   static constexpr bool may_refuse = true                     `choose` must throw for some
//                                                               results even with one channel
//
// `among.size()` is the number of channels, and `among.waiting(i)` the number of tuples that wait
// at channel i.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the producer's run right.
#pragma once

#include <garrick/base/values/random.hpp>
#include <garrick/patterns/channel/called.hpp>
#include <garrick/patterns/channel/output.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

/// The channels that a policy chooses among.
template <class T>
class choices {
 public:
  /// For the framework: chooses among these channels.
  explicit choices(const std::vector<std::unique_ptr<detail::output>>& among) noexcept
      : among_(among) {}
  /// Returns the number of channels, at least one.
  [[nodiscard]] std::size_t size() const noexcept { return among_.size(); }
  /// Returns how many tuples wait at output number `i`; if that output leads to several channels,
  /// at the emptiest.
  [[nodiscard]] std::size_t waiting(std::size_t i) const noexcept { return among_[i]->waiting(); }

 private:
  const std::vector<std::unique_ptr<detail::output>>& among_;
};

}  // namespace garrick::patterns

namespace garrick::patterns::detail {

/// The policy that sends each result to all channels.
struct to_all {
  static constexpr const char* name = "broadcast";
};
/// The policy that chooses each channel in turn.
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
/// The policy that chooses any channel, each as likely as the others.
struct at_random {
  static constexpr const char* name = "random_member";
  static constexpr bool any_will_do = true;
  std::uint64_t state = 1;
  template <class T, class Choices>
  std::size_t choose(const T&, const Choices& among) noexcept {
    return static_cast<std::size_t>(base::splitmix64(state) % among.size());
  }
};
/// The policy that chooses the channel where fewest tuples wait. It reads the consumers' indices of
/// all channels only once in `between_looks` results, since these reads cost cache misses.
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
/// Returns the number of the output, of `n`, that gets the keys of this hash. The number comes from
/// the high half of a product, since std::hash of a number is often that number.
[[nodiscard]] inline std::size_t member_of_hash(std::size_t hash, std::size_t n) noexcept {
  const std::uint64_t mixed = std::uint64_t{hash} * 0x9e3779b97f4a7c15ull >> 32;
  return static_cast<std::size_t>(mixed * n >> 32);
}
/// The policy that sends equal keys to the same channel. `Key` is a function, or a pointer to a
/// member; std::hash knows its results.
template <class Key>
struct keyed {
  static constexpr const char* name = "by_key";
  [[no_unique_address]] Key key;

  explicit keyed(Key k) : key(std::move(k)) {}
  template <class T, class Choices>
  std::size_t choose(const T& result, const Choices& among) {
    decltype(auto) k = of(result);
    return member_of_hash(std::hash<std::decay_t<decltype(k)>>()(k), among.size());
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
/// The policy by which a user's function chooses: it takes the result and the choices, or their
/// number.
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

/// An output to several outputs. A derived class chooses the output for each result.
class routes_base : public output {
 public:
  explicit routes_base(std::vector<std::unique_ptr<output>> to);

  void take_back() noexcept override;
  void start() override;
  void stop() override;
  [[nodiscard]] std::size_t pending() const noexcept override;
  std::size_t publish(turn& t) override;
  [[nodiscard]] bool sleep() noexcept override;
  std::size_t close(turn& t) noexcept override;
  [[nodiscard]] std::size_t waiting() noexcept override;
  [[nodiscard]] bool is_unwanted() noexcept override;

 protected:
  /// Called for each result. Counts the present input at its first result.
  void next_result() noexcept {
    if (std::exchange(fresh_, false)) ++input_;
  }
  /// Returns output number `i`, which may get a result of this input.
  output& touch(std::size_t i) noexcept {
    output& o = *to_[i];
    if (std::exchange(touched_[i], input_) != input_) o.begin_input();
    return o;
  }
  template <class T>
  void put_to(std::size_t i, T& value) {
    touch(i).put(value);
    blocked_ |= to_[i]->is_blocked();
  }
  /// Puts `value` out to output number `i` or, if that has no room, to the next output with room.
  /// Tries at most `tries` outputs. Returns false if none of them has room.
  [[nodiscard]] bool try_from(std::size_t i, std::size_t tries, std::size_t limit, void* value);
  /// Returns true if `limit` or more tuples wait at one of the outputs.
  [[nodiscard]] bool some_is_full(std::size_t limit) noexcept;

  std::vector<std::unique_ptr<output>> to_;
  std::vector<std::uint64_t> touched_;  ///< for each output, the last input with a result for it
  std::uint64_t input_ = 0;             ///< counts the inputs that had results
};

/// An output to several outputs, by a policy.
template <class T, class Policy>
class routes final : public routes_base {
 public:
  routes(std::vector<std::unique_ptr<output>> to, Policy policy)
      : routes_base(std::move(to)), policy_(std::move(policy)) {}

  /// Returns false if there is no room: in the channel that the policy chooses, or in each if any
  /// will do. With `to_all`, all channels need room.
  [[nodiscard]] bool try_put(std::size_t limit, void* value) override {
    if constexpr (std::is_same_v<Policy, to_all>) {
      if (some_is_full(limit)) return false;
      put_elsewhere(value);
      return true;
    } else {
      next_result();
      return try_from(policy_.choose(*static_cast<const T*>(value), choices<T>(to_)),
                      any_will_do ? to_.size() : 1, limit, value);
    }
  }

 private:
  void put_elsewhere(void* at) override {
    T& value = *static_cast<T*>(at);
    next_result();
    if constexpr (std::is_same_v<Policy, to_all>) {
      for (std::size_t i = 0; i + 1 < to_.size(); ++i) {
        T copy(std::as_const(value));
        put_to(i, copy);
      }
      put_to(to_.size() - 1, value);
    } else {
      if constexpr (requires { policy_.is_for_all(value); })
        if (policy_.is_for_all(value)) {
          for (std::size_t i = 0; i < to_.size(); ++i)
            if (goes_to(value, i)) {
              T one = policy_.one_more(value);
              put_to(i, one);
            }
          return;
        }
      put_to(policy_.choose(std::as_const(value), choices<T>(to_)), value);
    }
  }

  /// For a result that goes to all: returns true if channel `i` gets it, too.
  [[nodiscard]] bool goes_to(const T& value, std::size_t i) const noexcept {
    if constexpr (requires { policy_.goes_to(value, i); })
      return policy_.goes_to(value, i);
    else
      return true;
  }

  static constexpr bool any_will_do = requires { Policy::any_will_do; };

  [[no_unique_address]] Policy policy_;
};

}  // namespace garrick::patterns::detail
