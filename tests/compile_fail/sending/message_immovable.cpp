// expect: can be neither moved nor copied
// It owns its data, but cannot be brought to its receiver.
#include <garrick/garrick.hpp>

struct fixed {
  explicit fixed(int n) : number(n) {}
  fixed(const fixed&) = delete;
#ifdef GARRICK_CONTROL
  fixed(fixed&&) = default;
#endif
  int number;
};
template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<fixed> = true;

void test(const garrick::any_ref& to) { send(to, fixed(1)); }
