// expect: cannot_be_sent<
// expect: tagged
// expect: has_an_anonymous_union
// A structured binding cannot name an anonymous union, and its living member is unknown.
#include <garrick/garrick.hpp>

struct tagged {
  int kind;
  union {
    int number;
    float fraction;
  };
};

#ifdef GARRICK_CONTROL
template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<tagged> = true;
#endif

void test(const garrick::any_ref& to) { send(to, tagged{}); }
