// No actors: a task for each message, which works on its container with parallel_for. The actors
// around the heavy ones are left out.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <memory>
#include <mutex>

#include "data_parallel/accelerator_chains/chains.hpp"

void bench::run(arguments& args, result& out) {
  chains_run chains(args);
  const std::size_t threads = args.count("threads", 2);
  args.reject_unknown();
  {
    // The generator's thread is not a worker, but counts as one.
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads + 1);
    tbb::task_arena arena(static_cast<int>(threads), 0);
    std::mutex collector;
    chains.run([&](std::size_t, parcel p) {
      arena.enqueue([&, whole = std::make_shared<parcel>(std::move(p))] {
        row& r = whole->elements;
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, r.size()), [&](const auto& part) {
          for (std::size_t k = part.begin(); k != part.end(); ++k)
            r[k] = worked_on(r[k], chains.steps);
        });
        const std::lock_guard here(collector);
        chains.arrived(*whole);
      });
    });
  }
  chains.report(out);
}
