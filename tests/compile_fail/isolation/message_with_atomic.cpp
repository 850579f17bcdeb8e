// expect: cannot_be_sent<
// expect: std::atomic<int>
// expect: has_private_or_captured_state
// One error, though it cannot be moved either.
#include <garrick/garrick.hpp>

#include <atomic>

struct counted {
#ifdef GARRICK_CONTROL
  int count;
#else
  std::atomic<int> count;
#endif
  int of;
};

void test(const garrick::any_ref& to) { send(to, counted{1, 2}); }
