// The same numbers in one loop, without a queue.
#include "streams/common/stretch.hpp"
#include "streams/pc4/number.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 100'000'000);

  seen4 found;
  const stretch all;
  for (std::uint64_t i = 0; i < messages; ++i) {
    auto number = static_cast<std::uint32_t>(i);
    keep(number);
    found.add(number);
  }
  all.into(out, messages);
  found.check(out, messages);
}
