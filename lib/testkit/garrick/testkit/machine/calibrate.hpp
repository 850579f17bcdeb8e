// Measures on the host what the simulated machine charges, so that a simulation of the host's cores predicts what programs take there.
//
// Thread safety: one at a time. A busy machine gives too large figures; each is the least of several trials.
#pragma once

#include <garrick/testkit/machine/costs.hpp>

namespace garrick::testkit::machine {

/// Both of the following on the default costs. Takes about a second.
[[nodiscard]] costs calibrate();

/// Lines, clocks, sleeps and wake-ups. With one processor, what two threads do to each other keeps its price. All distances get the price of the nearest; `memory_line` and `hit` are not measured.
void measure_machine(costs& c);

/// Messages and actors of ours, on one worker: a stream from one actor to another, a message that goes from one of two or of many to another at random, and lines of actors each of which makes the next. Each price is what is
/// left of such a program's time when the simulation has charged everything else, so measure the machine first.
void measure_actors(costs& c);

}  // namespace garrick::testkit::machine
