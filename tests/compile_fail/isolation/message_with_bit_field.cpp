// expect: cannot_be_sent<
// expect: flags
// expect: has_a_bit_field
// expect: i_promise_this_owns_everything
#include <garrick/garrick.hpp>

struct flags {
  unsigned a : 3;
  unsigned b : 5;
};

#ifdef GARRICK_CONTROL
template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<flags> = true;
#endif

void test(const garrick::any_ref& to) { send(to, flags{}); }
