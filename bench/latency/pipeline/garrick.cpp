// A pipeline of event-based actors between a blocking generator and a collector.
#include "common/garrick_system.hpp"
#include "latency/pipeline/pipeline.hpp"

namespace {

using hops = garrick::protocol<void(std::int64_t), void(bench::trail)>;

class stage : public garrick::actor<hops> {
 public:
  explicit stage(garrick::ref<hops> next) : next_(std::move(next)) {}
  void on(std::int64_t sent) { send(next_, sent); }
  void on(bench::trail stamps) {
    stamps.push_back(bench::now_ns());
    send(next_, std::move(stamps));
  }

 private:
  garrick::ref<hops> next_;
};

class collector : public garrick::actor<hops> {
 public:
  explicit collector(bench::pipeline_run* run) : run_(run) {}
  void on(std::int64_t sent) { run_->arrived(sent); }
  void on(const bench::trail& stamps) { run_->arrived(stamps); }

 private:
  bench::pipeline_run* run_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  bench::pipeline_run run = bench::read_pipeline(args);
  const garrick::options options = bench::garrick_options(args);
  args.reject_unknown();
  {
    garrick::actor_system system(options);
    garrick::ref<hops> first = system.spawn<collector>(&run);
    for (std::uint64_t i = run.actors(); i > 0; --i) {
      garrick::spawn_options how;
      how.detached = i == run.detached();
      first = system.spawn<stage>(how, std::move(first));
    }
    system.spawn([first, &run](garrick::blocking_actor&) {
      run.run([&](std::int64_t now) {
        if (run.traced())
          send(first, bench::trail{now});
        else
          send(first, now);
      });
    });
    first = {};
    static_cast<void>(system.await_all());
  }
  return run.print();
}
