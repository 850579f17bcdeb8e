// The same copies without actors: a thread for each part makes a new one, and the main thread puts
// these together in a new vector.
#include <thread>

#include "data_parallel/common/increment.hpp"

void bench::run(arguments& args, result& out) {
  rounds all(args);
  numbers v = all.input();
  const std::size_t threads = args.count("threads", 2);
  all.measure([&] {
    std::vector<numbers> parts(threads);
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&, i] {
        const std::size_t begin = begin_of_part(v.size(), i, threads);
        const std::size_t end = begin_of_part(v.size(), i + 1, threads);
        numbers part(end - begin);
        for (std::size_t k = begin; k < end; ++k) part[k - begin] = changed(v[k]);
        parts[i] = std::move(part);
      });
    }
    for (std::thread& worker : workers) worker.join();
    numbers whole;
    whole.reserve(v.size());
    for (const numbers& part : parts) whole.insert(whole.end(), part.begin(), part.end());
    v = std::move(whole);
  });
  all.check(out, v);
}
