// expect: message.1.0.1
// expect: const char
// expect: is_a_pointer
// A pointer deep inside a message is found and named.
#include <garrick/base/types/sendable.hpp>

#include <utility>
#include <vector>

struct table {
  int id;
#if defined(GARRICK_CONTROL)
  std::vector<std::pair<int, char>> rows;
#else
  std::vector<std::pair<int, const char*>> rows;
#endif
};

void use() { garrick::base::check_sendable<table>(); }
