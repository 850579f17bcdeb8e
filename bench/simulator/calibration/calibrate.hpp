// Measures on the host the prices that the simulated machine charges, so that a simulation of the
// host's cores predicts the time of programs there.
//
//   calibration c;
//   for (int i = 0; i < 5; ++i) c.sample();
//   simulation s({.machine = topology::flat(2), .workers = 2, .prices = c.prices()});
//
// Every figure is the least of all samples, since other users of the machine only make things
// dearer; take more of them, spread over time, where the machine is not quiet.
//
// Thread safety: one real thread at a time.
#pragma once

#include <garrick/machine/costs.hpp>

#include <limits>

namespace bench::simulator {

using garrick::machine::costs;

/// The times of one worker for programs of ours, in nanoseconds a message or an actor.
struct actor_times {
  double burst_send = std::numeric_limits<double>::max();     ///< a send in a burst
  double burst_receive = std::numeric_limits<double>::max();  ///< and the receiver's part
  /// a message of a stream that is longer than a mailbox
  double stream = std::numeric_limits<double>::max();
  /// of a message that goes back and forth between two actors
  double hop_of_two = std::numeric_limits<double>::max();
  /// and from one of many to another at random
  double hop_of_many = std::numeric_limits<double>::max();
  /// of an actor that makes another one, gets its answer and ends
  double birth = std::numeric_limits<double>::max();
};

class calibration {
 public:
  /// Takes a third of a second. With one processor, the prices of effects between threads stay.
  void sample();

  /// Requires a sample. The prices of actors are the rest of the times above when the simulation
  /// has charged everything else. All distances get the price of the nearest; `memory_line` and
  /// `hit` keep their defaults.
  [[nodiscard]] costs prices() const;

  [[nodiscard]] const actor_times& actors() const noexcept { return actors_; }

 private:
  costs machine_ = no_price();
  actor_times actors_;

  static costs no_price() noexcept;
};

/// The time to fetch a line that another thread has just written, in nanoseconds; the largest
/// double if the two had no processor each. Takes up to some milliseconds. On a virtual machine it
/// changes when a processor moves.
[[nodiscard]] double measure_transfer();

/// Lowers `times` to the times that it measures.
void measure_actors(actor_times& times);

/// Sets send, receive, run, cold and spawn in `c`, whose other prices are known.
void derive_actor_prices(costs& c, const actor_times& times);

}  // namespace bench::simulator
