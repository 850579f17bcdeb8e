// A guarantee program has two processes. Each is an end of a real transport that sends numbers and
// asks questions as long as it may, and that records all events (record.hpp).
//
//   guarantee_peer keep NUMBER ROLE ENDPOINT STACK SEED MESSAGES DOWN_AFTER_MS ANSWER_WITHIN_MS
//   guarantee_peer tethered PROGRAM…
//
// `keep` runs such an end in a child, and starts the next life when it was killed and there is an
// order for that. `tethered` becomes another program. Each process ends with the process that has
// started it, even while it is stopped.
#pragma once

#include <cstdint>

namespace garrick::net {
class stack_catalogue;
}

namespace garrick::tests {

/// The main function of such a process, which knows the standard stacks and those that `add` adds.
/// Returns its exit status.
int run_guarantee_peer(int argc, char** argv, void (*add)(net::stack_catalogue&) = nullptr);

/// The right answer to the question of this number.
constexpr std::uint64_t answer_to(std::uint64_t number) { return number * 3 + 1; }

}  // namespace garrick::tests
