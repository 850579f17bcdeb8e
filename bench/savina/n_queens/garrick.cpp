// A master deals placements of the first queens to a crew in turn. A worker returns each safe
// placement of one more queen to the master, or, beyond the threshold, counts all completions
// itself.
#include "common/garrick_system.hpp"
#include "savina/n_queens/board.hpp"

namespace {

struct placement {
  bench::queens columns;
};
struct done {
  std::uint64_t solutions;
};
using dealer = garrick::protocol<void(placement), void(done)>;
using solver = garrick::protocol<void(placement)>;

class worker : public garrick::actor<solver> {
 public:
  worker(garrick::ref<dealer> master, std::uint8_t size, std::size_t threshold)
      : master_(std::move(master)), size_(size), threshold_(threshold) {}

  void on(placement& p) {
    if (p.columns.size() >= threshold_) {
      send(master_, done{bench::count_placements(p.columns, size_)});
      return;
    }
    for (std::uint8_t column = 0; column < size_; ++column) {
      p.columns.push_back(column);
      if (bench::last_is_safe(p.columns)) send(master_, placement{p.columns});
      p.columns.pop_back();
    }
    send(master_, done{0});
  }

 private:
  garrick::ref<dealer> master_;
  std::uint8_t size_;
  std::size_t threshold_;
};

class master : public garrick::actor<dealer> {
 public:
  master(std::uint8_t size, std::size_t threshold, std::uint64_t crew, std::uint64_t* found)
      : size_(size), threshold_(threshold), crew_(crew), found_(found) {}

  void on_start() {
    for (std::uint64_t i = 0; i < crew_; ++i)
      workers_.push_back(spawn<worker>(self(), size_, threshold_));
    on(placement{});
  }
  void on(placement p) { send(workers_[dealt_++ % workers_.size()], std::move(p)); }
  // A worker's placements arrive before its `done`, so that the counts meet only at the end.
  void on(done d) {
    *found_ += d.solutions;
    // master and workers know each other: one side lets go
    if (++completed_ == dealt_) workers_.clear();
  }

 private:
  std::uint8_t size_;
  std::size_t threshold_;
  std::uint64_t crew_;
  std::uint64_t* found_;
  std::vector<garrick::ref<solver>> workers_;
  std::uint64_t dealt_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t size = args.number("size", 12);
  const std::uint64_t crew = args.number("crew", 20);
  const std::uint64_t threshold = args.number("threshold", 4);

  std::uint64_t found = 0;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    static_cast<void>(system.spawn<master>(static_cast<std::uint8_t>(size), threshold, crew,
                                           garrick::lent(&found)));
    static_cast<void>(system.await_all());
  });
  check_queens(out, size, found);
}
