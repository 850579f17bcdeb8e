// The part of a kernel's stage that does not depend on its signature's types: the stage's actor
// gives calls to the device, and puts out their results in the order of the tuples.
//
// Problem: a stage could send requests to a kernel's actor, as users do. Then the compiler would
// make two classes of actors for each signature, and each tuple would take two more messages. So
// the stage's actor gives its calls to the device itself. A call knows its types, so the actor does
// not need to know them.
//
// Private: installed because templates need it.
//
// Invariants
// Q1 A tuple is in the queue from `begin` until its call has been settled and all older tuples have
//    left. Until then the stage has a `stage_hold` for it.
// Q2 The oldest tuple's call is not settled, except while `settled` runs.
// Q3 Results are put out, and failures reported, in the order of the tuples.
//
// Thread safety: the actor's turns.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/gpu/detail/kernel_base.hpp>
#include <garrick/patterns/stage_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace garrick::gpu::detail {

/// A tuple's call.
class stage_call : public kernel_call {
 public:
  /// Takes the answer of a call that has succeeded. May throw.
  virtual void take_answer() = 0;
  /// Puts the answer out to the next stage.
  virtual void put_out(patterns::detail::actor_node& to, actor_base& me) = 0;
  /// Reports that the tuple has failed.
  virtual void lose(patterns::detail::actor_node& at, const error& why) = 0;
};

/// The parts from which a stage's actors are made.
struct stage_seed {
  using garrick_sendable = void;
  kernel_seed kernel;
  const kernel_facts* facts;
  std::size_t under_way;
};

/// The actor of a kernel's stage.
class kernel_stage_actor
    : public actor<protocol<void(patterns::detail::go), void(patterns::detail::leave)>>,
      protected patterns::detail::actor_of_stage,
      private kernel_base {
 public:
  explicit kernel_stage_actor(stage_seed s);
  /// Abandons the calls that are under way.
  ~kernel_stage_actor() override;

  void on_start() { hold_at_most(under_way_); }
  void on(patterns::detail::go) {}
  void on(patterns::detail::leave) {}

  /// Gives the next tuple's call to the device. If it throws, the tuple is not in the queue.
  void begin(std::unique_ptr<stage_call> next);

 private:
  enum class state : std::uint8_t { under_way, answered, failed };
  struct entry {
    patterns::stage_hold hold;  ///< held until the result is put out, or the failure reported
    std::shared_ptr<stage_call> its_call;
    state is = state::under_way;
    error why{};
  };
  void settled(const std::shared_ptr<call>& c, const error& why) override;

  const std::size_t under_way_;
  std::deque<entry> waiting_;  ///< the oldest tuple first
};

/// Makes the actors of a kernel's stage. A derived class makes the calls.
class kernel_stage_maker : public patterns::detail::actor_maker {
 public:
  kernel_stage_maker(const patterns::detail::tuple_type& t, stage_seed s);

  [[nodiscard]] result<ref<protocol<void(patterns::detail::go), void(patterns::detail::leave)>>>
  make(actor_base& from, const spawn_options& o, patterns::detail::stage_seat seat) const override;

 private:
  const stage_seed seed_;
};

/// Returns the stage of these actors. Takes ownership of `made`.
[[nodiscard]] patterns::detail::any_actor_stage stage_of_actors(const kernel_stage_maker* made,
                                                                std::string name);

}  // namespace garrick::gpu::detail
