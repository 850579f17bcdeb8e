// oneTBB's pipeline. A token is a block of messages, as its manual advises for small items.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>

#include "streams/common/stretch.hpp"
#include "streams/pc4/number.hpp"

namespace {

using block = std::vector<std::uint32_t>;

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 100'000'000);
  const std::size_t size = args.count("block", 4096);
  const std::size_t workers = args.count("threads", 2);

  seen4 found;
  const stretch all;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    std::uint64_t next = 0;
    const auto produce = [&](tbb::flow_control& flow) {
      block made;
      if (next == messages) {
        flow.stop();
        return made;
      }
      made.reserve(size);
      const std::uint64_t end = std::min(messages, next + size);
      for (; next < end; ++next) made.push_back(static_cast<std::uint32_t>(next));
      return made;
    };
    const auto consume = [&](const block& from) {
      for (const std::uint32_t n : from) found.add(n);
    };
    constexpr auto in_order = tbb::filter_mode::serial_in_order;
    tbb::parallel_pipeline(4 * workers, tbb::make_filter<void, block>(in_order, produce) &
                                            tbb::make_filter<block, void>(in_order, consume));
  }
  all.into(out, messages);
  found.check(out, messages);
}
