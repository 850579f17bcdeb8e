// Allocations that fail when a test says so, on one thread. The program has failing_memory.cpp
// among its sources. Sanitizers have an allocator of their own: there it is left out, and so are
// the tests that need it.
#pragma once

#include <cstddef>

namespace garrick::tests {

/// This thread's n-th allocation from now on fails; 0: none does.
extern constinit thread_local int failing_allocation;
/// And so do all that follow.
extern constinit thread_local bool fails_for_good;
/// Only allocations of this many bytes or more count.
extern constinit thread_local std::size_t failing_size;

}  // namespace garrick::tests
