#include "garrick/gpu/settings.hpp"

#include <garrick/base/settings/setting_table.hpp>

namespace garrick::gpu {

void add_settings(base::setting_table& table, gpu_settings& s) {
  using base::duration;
  using base::note;
  table.add({"gpu.memory",
             &s.memory,
             {0, 1 << 30},
             note("MiB"),
             note("The most memory of buffers on one device; 0: three quarters of its memory"),
             "gpu/internal/device_core.cpp"});
  table.add({"gpu.in_flight",
             &s.in_flight,
             {1, 256},
             note("requests"),
             note("How many are with the driver of one device at once"),
             "gpu/internal/device_core.cpp"});
  table.add({"gpu.waiting",
             &s.waiting,
             {1, 1 << 24},
             note("requests"),
             note("How many wait for one device at most"),
             "gpu/internal/device_core.cpp"});
  table.add({"gpu.queues",
             &s.queues,
             {0, 16},
             note("queues"),
             note("In-order queues of one device; 0: one out-of-order queue if it can"),
             "gpu/internal/device_core.cpp"});
  table.add({"gpu.deadline",
             &s.deadline,
             {duration::microseconds(1), duration::infinite()},
             {},
             note("How long a request may take, unless its actor's options say"),
             "gpu/detail/kernel_base.cpp"});
  table.add({"gpu.shutdown",
             &s.shutdown,
             {duration(), duration::seconds(600)},
             {},
             note("How long the end of a runtime waits for calls of drivers"),
             "gpu/runtime.cpp"});
  table.add({"gpu.cache",
             &s.cache,
             base::setting_range::at_most_bytes(4096),
             {},
             note("The folder of compiled programs; empty: they are kept in memory alone"),
             "gpu/internal/builder.cpp"});
}

}  // namespace garrick::gpu
