// expect: cannot_be_sent<
// expect: message.1
// expect: is_a_reference
// A reference to a constant is shared memory as well: its owner may change it.
#include <garrick/garrick.hpp>

struct named {
  int id;
#ifdef GARRICK_CONTROL
  const std::string name;
#else
  const std::string& name;
#endif
};

void test(const garrick::any_ref& to, const std::string& name) { send(to, named{1, name}); }
