// Models of the programs that the papers measured, at sizes that a simulation finishes in seconds.
// Each runs once on the given machine and checks that it did all its work.
//
// Thread safety: pure functions.
#pragma once

#include <garrick/machine/event_log.hpp>
#include <garrick/machine/simulation.hpp>

#include <cstdint>
#include <vector>

namespace bench::simulator {

using garrick::machine::outcome;
using garrick::machine::simulation_options;

/// Paper 002 §4, figure 5. Controllers hand out searches, one at a time to each of their searchers;
/// a searcher has a matrix of its own, which it builds when it runs first, and looks for a word in
/// its columns.
struct matrix_search {
  std::uint32_t controllers = 15;
  std::uint32_t searchers = 15;  ///< of each controller
  std::uint32_t searches = 100;  ///< of each searcher
  double cells = 3500.0 * 3500;  ///< of each matrix, a byte each
  /// assumed: to compare a cell and, for one in 26, walk down; without the memory's time, which is
  /// as much again if it is near
  double cell_ns = 1;
  double found = 3.2e-9;  ///< probability that the word begins at a cell: 26^-6
  double build_ns = 3;    ///< a cell
  /// All matrices of a controller are built before its first search. Otherwise each searcher starts
  /// as soon as its own is built.
  bool build_first = false;
};
[[nodiscard]] outcome run(const matrix_search& program, simulation_options on);

/// Paper 002 §4.3 (Savina's Big): each actor sends a ping to another one at random, which answers,
/// and so on. No state, only communication.
struct n_to_n {
  std::uint32_t actors = 120;
  std::uint32_t pings = 500;  ///< of each actor
};
[[nodiscard]] outcome run(const n_to_n& program, simulation_options on);

/// Paper 000: a generator outside sends on an absolute schedule into a chain of actors.
struct pipeline {
  std::uint32_t actors = 12;
  double rate = 10;  ///< messages a second
  std::uint32_t messages = 20;
  std::uint32_t not_counted = 1;  ///< the first ones
  /// For so long the generator turns on the spot before a message is due; before that it sleeps.
  /// If threads share processors, it holds one meanwhile.
  double spin_ns = 0;
  bool generator_apart = false;  ///< it has a processor of its own, though the others may share
  std::vector<garrick::machine::foreign_thread> foreign{};  ///< busy neighbours
  garrick::machine::event_log* log = nullptr;  ///< is told of each thread and each handler, if any
};
struct pipeline_outcome : outcome {
  /// of each counted message, from before the generator's send until the last actor has it
  std::vector<double> latency_us;
  std::vector<double> sent_us;  ///< when each counted message was sent
  [[nodiscard]] double mean_us() const noexcept;
  /// The latency below which the share `q` of the messages lies.
  [[nodiscard]] double percentile_us(double q) const;
};
[[nodiscard]] pipeline_outcome run(const pipeline& program, simulation_options on);
/// The pipeline as `bench latency` measures it, for `ms` milliseconds: its generator sleeps no
/// longer than until 70 µs before a message is due, so from some 10 000 a second on it holds a
/// processor all the time. A fifth of the messages is not counted.
[[nodiscard]] pipeline shared_pipeline(std::uint32_t actors, double rate, std::uint32_t ms);

/// Paper 001 §7.1: each actor makes two more with n − 1 and adds their results.
struct actor_creation {
  std::uint32_t n = 14;
};
[[nodiscard]] outcome run(const actor_creation& program, simulation_options on);

/// Paper 001 §7.2: many actors send to one.
struct mailbox_n1 {
  std::uint32_t senders = 100;
  std::uint32_t messages = 1000;  ///< of each sender
};
[[nodiscard]] outcome run(const mailbox_n1& program, simulation_options on);

/// Paper 001 §7.3: rings pass a token, are ended and rebuilt, while an actor for each ring
/// factorises. The token's rounds and the factorisation are shortened alike.
struct mixed {
  std::uint32_t rings = 100;
  std::uint32_t size = 20;  ///< actors of a ring
  std::uint32_t token = 50;
  std::uint32_t repetitions = 4;
  double factorise_ns = 10e6;
};
[[nodiscard]] outcome run(const mixed& program, simulation_options on);

/// Paper 001 §7.4: one actor for each row of the picture, and one that collects the rows.
struct mandelbrot {
  std::vector<double> row_ns;
  /// Rows of a picture of `size` squared over [−1.5−i, 0.5+i] with at most `limit` iterations of
  /// `iteration_ns` each.
  [[nodiscard]] static mandelbrot of(std::uint32_t size, std::uint32_t limit, double iteration_ns);
};
[[nodiscard]] outcome run(const mandelbrot& program, simulation_options on);

/// The actors that work on a heavy actor's container.
enum class offloading : std::uint8_t {
  none,         ///< the actor itself
  own_maps,     ///< a team of each such actor's own
  accelerator,  ///< one team that all share
};
/// A team as lib/patterns has it, which works on containers: its actors run on the workers.
struct team_model {
  std::uint32_t elements = 5000;  ///< of each container
  double element_ns = 1000;       ///< to work on one
  double elements_in_line = 8;    ///< doubles; a line is fetched once
};

/// Paper 003 §6.3, figures 26 to 28: chains of actors, each with one that works on a container for
/// each message. A generator outside sends to the chains in turn, on an absolute schedule.
struct heavy_chains {
  std::uint32_t chains = 100;
  std::uint32_t actors = 8;  ///< of each chain; the fourth is heavy
  double rate = 1000;        ///< messages a second, for all chains together
  std::uint32_t messages = 1000;
  std::uint32_t not_counted = 100;  ///< the first ones
  bool at_once = false;             ///< all messages are due at the beginning
  offloading how = offloading::none;
  team_model work{};
};
[[nodiscard]] pipeline_outcome run(const heavy_chains& program, simulation_options on);

/// Paper 003 §6.3, figure 25: an actor has a function computed for each element of a matrix, row by
/// row, and adds up each row itself.
struct matrix_rows {
  std::uint32_t rows = 100;
  offloading how = offloading::accelerator;  ///< or none
  team_model work{.element_ns = 200'000};
  double add_ns = 1;  ///< an element of a row
};
[[nodiscard]] outcome run(const matrix_rows& program, simulation_options on);

}  // namespace bench::simulator
