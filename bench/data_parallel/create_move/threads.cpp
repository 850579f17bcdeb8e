// The same copies without actors: the main thread copies the parts, a thread for each changes it,
// and the main thread copies it to its place.
#include <algorithm>
#include <thread>

#include "data_parallel/common/increment.hpp"

void bench::run(arguments& args, result& out) {
  rounds all(args);
  numbers v = all.input();
  const std::size_t threads = args.count("threads", 2);
  all.measure([&] {
    const auto begin = [&](std::size_t i) {
      return v.begin() + static_cast<std::ptrdiff_t>(begin_of_part(v.size(), i, threads));
    };
    std::vector<numbers> parts(threads);
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      parts[i].assign(begin(i), begin(i + 1));
      workers.emplace_back([&part = parts[i]] { change(part.data(), part.size()); });
    }
    for (std::size_t i = 0; i < threads; ++i) {
      workers[i].join();
      std::copy(parts[i].begin(), parts[i].end(), begin(i));
    }
  });
  all.check(out, v);
}
