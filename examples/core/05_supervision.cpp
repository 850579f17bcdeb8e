// Let it fail: a supervisor restarts a worker, which keeps its address and its unread mail. Too
// many failures in a window end both of them.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

// [worker]
struct job {
  int n;
};
using worker = garrick::protocol<std::string(job)>;

class worker_actor : public garrick::actor<worker> {
  int done_ = 0;  // lost with each restart: the object is made again

 public:
  std::string on(job j) {
    if (j.n % 13 == 0) throw std::runtime_error("job " + std::to_string(j.n) + " brings bad luck");
    return "job " + std::to_string(j.n) + " done, " + std::to_string(++done_) +
           " since the last start";
  }
};
// [/worker]

int main() {
  garrick::settings quiet;
  quiet.log.level =
      garrick::system::log_level::off;  // failures would be logged; here they are expected
  garrick::actor_system system(quiet);

  // [supervise]
  auto top = system.spawn<garrick::supervisor>(
      garrick::supervision{.strategy = garrick::one_for_one, .max_restarts = 2, .window = 60s});
  auto w = garrick::supervise<worker_actor>(top, garrick::child_options{.name = "worker"});
  // [/supervise]

  for (int n = 11; n <= 15; ++n) {
    const auto answer = system.request(w, job{n}).get();
    std::printf("%s\n",
                answer ? answer->c_str() : ("failed: " + answer.error().to_string()).c_str());
  }

  std::puts("-- the third failure is one too many --");
  for (const int n : {26, 39}) static_cast<void>(system.request(w, job{n}).get());
  static_cast<void>(system.await_all());  // the supervisor has given up and stopped its child
  std::printf("%s\n", system.request(w, job{1}).get().error().to_string().c_str());
}
