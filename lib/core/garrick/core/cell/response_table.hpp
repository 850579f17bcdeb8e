// The requests of one actor that wait for their response.
//
// Private: installed with its room; only sources of core, system and the testkit include it.
//
// Problem: a response may come late, twice or never, and must find its continuation without a
// search. So an id names a slot and the slot's generation, and a late response finds nothing.
//
// Thread safety: the actor's turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace garrick::core {

class cell;
class continuation;
class environment;
struct envelope;
class timer_record;

/// Requests of one actor that wait for their response.
class response_table {
 public:
  /// Returns a new id (never 0), or 0 if `limit` requests are out.
  [[nodiscard]] std::uint64_t reserve(std::uint32_t limit, std::uint64_t target);
  void attach(std::uint64_t id, continuation* k) noexcept { at(id).k = k; }
  void set_timer(std::uint64_t id, timer_record* t) noexcept { at(id).timer = t; }
  [[nodiscard]] bool alive(std::uint64_t id) const noexcept;

  struct slot {
    continuation* k = nullptr;
    envelope* early = nullptr;  ///< the response came before its await
    timer_record* timer = nullptr;
    std::uint64_t target = 0;  ///< id of the actor asked, for diagnosis
    cell* proxy = nullptr;     ///< the asked proxy, a strong reference: told if no actor waits
                               ///< for the response any more
    std::uint32_t generation = 1;
    std::uint32_t next_free = none;
    bool used = false;
    bool exclusive = false;  ///< awaited
    /// a part of a larger request (fan_out, first_of): its response is handled during any await
    bool inner = false;
    /// its answer is due from outside of the actors: the environment counts it
    bool outside = false;
  };
  [[nodiscard]] slot& at(std::uint64_t id) noexcept { return slots_[id & index_mask]; }
  /// Counts the answer to `id` as due from outside, until it has come or no actor waits for it.
  void expect_from_outside(std::uint64_t id, environment& env) noexcept;
  /// Ends the count: the answer has come, or no actor waits for it any more.
  static void no_longer_due(slot& s, environment& env) noexcept {
    if (s.outside) [[unlikely]]
      end_outside(s, env);
  }
  /// Frees the slot; its continuation is the caller's, and so is its proxy (`asked_proxy::finish`).
  void finish(std::uint64_t id, environment& env) noexcept;
  [[nodiscard]] std::uint32_t active() const noexcept { return active_; }
  template <class F>
  void for_each(F f) {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].used) f((std::uint64_t{slots_[i].generation} << index_bits) | i, slots_[i]);
  }

  static constexpr unsigned index_bits = 20;
  static constexpr std::uint64_t index_mask = (1u << index_bits) - 1;
  static constexpr std::uint32_t none = 0xffffffff;

 private:
  static void end_outside(slot& s, environment& env) noexcept;

  std::vector<slot> slots_;
  std::uint32_t free_ = none;
  std::uint32_t active_ = 0;
};

}  // namespace garrick::core
