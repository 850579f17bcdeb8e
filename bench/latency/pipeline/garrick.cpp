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

void bench::run(arguments& args, result& out) {
  pipeline_run pipeline = read_pipeline(args);

  run_system(args, [&](garrick::actor_system& system) {
    garrick::ref<hops> first = system.spawn<collector>(garrick::lent(&pipeline));
    for (std::uint64_t i = pipeline.actors(); i > 0; --i) {
      garrick::spawn_options how;
      how.detached = i == pipeline.detached();
      first = system.spawn<stage>(how, std::move(first));
    }
    system.spawn(garrick::lent([first, &pipeline](garrick::blocking_actor&) {
      pipeline.run([&](std::int64_t now) {
        if (pipeline.traced())
          send(first, trail{now});
        else
          send(first, now);
      });
    }));
    first = {};
    static_cast<void>(system.await_all());
  });
  pipeline.report(out);
}
