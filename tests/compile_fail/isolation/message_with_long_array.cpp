// expect: cannot_be_sent<
// expect: frame
// expect: has_over_100_fields_or_a_long_c_array
#include <garrick/garrick.hpp>

#include <array>

struct frame {
#ifdef GARRICK_CONTROL
  std::array<char, 65536> bytes;
#else
  char bytes[65536];
#endif
};

void test(const garrick::any_ref& to, const frame& f) { send(to, f); }
