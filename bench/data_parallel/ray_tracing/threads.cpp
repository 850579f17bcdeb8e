// Threads take the next row of a frame from a shared counter; a barrier ends a frame.
#include <atomic>
#include <barrier>
#include <thread>

#include "data_parallel/ray_tracing/scene.hpp"

void bench::run(arguments& args, result& out) {
  const world w = make_world(args);
  const std::size_t threads = args.count("threads", 2);

  std::vector<picture> film;
  const std::int64_t start = now_ns();
  {
    film.push_back(blank(w, 0));
    std::atomic<std::uint32_t> next{0};
    std::barrier end_of_frame(static_cast<std::ptrdiff_t>(threads), [&]() noexcept {
      if (film.size() == w.frames) return;
      film.push_back(blank(w, static_cast<std::uint32_t>(film.size())));
      next = 0;
    });
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&] {
        for (std::uint32_t frame = 0; frame < w.frames; ++frame) {
          for (std::uint32_t y = next++; y < w.height; y = next++) draw(w, film[frame][y]);
          end_of_frame.arrive_and_wait();
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
  out.seconds = seconds_since(start);
  check_film(out, w, film);
}
