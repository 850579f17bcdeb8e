// A master hands out the rows of a frame one by one, to whichever worker has sent one back.
#include "common/garrick_system.hpp"
#include "data_parallel/ray_tracing/scene.hpp"

namespace {

using bench::row;
using garrick::actor;
using garrick::protocol;
using garrick::ref;

using gathering = protocol<void(std::uint32_t, row)>;
using drawing = protocol<void(ref<gathering>, row)>;

class worker : public actor<drawing> {
 public:
  worker(std::uint32_t number, std::shared_ptr<const bench::world> w)
      : number_(number), world_(std::move(w)) {}
  void on(ref<gathering> master, row r) {
    bench::draw(*world_, r);
    send(master, number_, std::move(r));
  }

 private:
  std::uint32_t number_;
  std::shared_ptr<const bench::world> world_;
};

class master : public actor<gathering> {
 public:
  master(std::shared_ptr<const bench::world> w, std::vector<ref<drawing>> workers,
         std::vector<bench::picture>* film)
      : world_(std::move(w)), workers_(std::move(workers)), film_(film) {}
  void on_start() { begin(); }
  void on(std::uint32_t worker, row r) {
    const std::uint32_t y = r.y;
    film_->back()[y] = std::move(r);
    if (next_ != world_->height) hand_out(worker);
    if (--left_ == 0 && film_->size() != world_->frames) begin();
  }

 private:
  void begin() {
    film_->push_back(bench::blank(*world_, static_cast<std::uint32_t>(film_->size())));
    next_ = 0;
    left_ = world_->height;
    for (std::uint32_t i = 0; i < workers_.size() && next_ != world_->height; ++i) hand_out(i);
  }
  void hand_out(std::uint32_t worker) {
    send(workers_[worker], ref<gathering>(self()), std::move(film_->back()[next_++]));
  }

  std::shared_ptr<const bench::world> world_;
  std::vector<ref<drawing>> workers_;
  std::vector<bench::picture>* film_;
  std::uint32_t next_ = 0;  // the row that is handed out next
  std::uint32_t left_ = 0;  // rows that are not drawn
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto w = std::make_shared<const world>(make_world(args));
  const std::uint32_t threads = args.count("threads", 2);

  std::vector<picture> film;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      std::vector<ref<drawing>> workers;
      for (std::uint32_t i = 0; i < threads; ++i) workers.push_back(system.spawn<worker>(i, w));
      system.spawn<master>(w, std::move(workers), garrick::lent(&film));
    }
    static_cast<void>(system.await_all());
  });
  check_film(out, *w, film);
}
