// Uses Garrick the way a project elsewhere would: its installed headers and its libraries, nothing
// of its sources.
#include <garrick/garrick.hpp>

#include <garrick/base/values/error.hpp>

#include <cstdio>

int main() {
  // An error's text lies in the compiled library, so this also proves that it was linked.
  const garrick::base::error refused(garrick::base::errc::spawn_failed, "consumer",
                                     "to see the text");
  std::puts(refused.to_string().c_str());
  return refused.message().empty() ? 1 : 0;
}
