// expect: message.0
// expect: int
// expect: is_a_reference
// A reference in a message is found and named.
#include <garrick/base/types/sendable.hpp>

struct borrowed {
#if defined(GARRICK_CONTROL)
  int place;
#else
  int& place;
#endif
  long id;
};

void use() { garrick::base::check_sendable<borrowed>(); }
