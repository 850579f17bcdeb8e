// A master copies the parts of the vector and sends each to a worker, which changes it and sends it
// back; the master copies it to its place.
#include "common/garrick_system.hpp"
#include "data_parallel/common/increment.hpp"

namespace {

using bench::numbers;
using garrick::result;
using workers_part = garrick::protocol<result<numbers>(numbers)>;

class worker : public garrick::actor<workers_part> {
 public:
  result<numbers> on(numbers& part) {
    bench::change(part.data(), part.size());
    return std::move(part);
  }
};

class master : public garrick::actor<garrick::protocol<result<numbers>(numbers)>> {
 public:
  explicit master(std::uint32_t workers) {
    for (std::uint32_t i = 0; i < workers; ++i) workers_.push_back(spawn<worker>());
  }

  result<numbers> on(numbers& all) {
    whole_ = std::move(all);
    outstanding_ = workers_.size();
    promise_ = make_promise<numbers>();
    result<numbers> later = promise_;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const std::size_t begin = bench::begin_of_part(whole_.size(), i, workers_.size());
      const std::size_t end = bench::begin_of_part(whole_.size(), i + 1, workers_.size());
      numbers part(whole_.begin() + static_cast<std::ptrdiff_t>(begin),
                   whole_.begin() + static_cast<std::ptrdiff_t>(end));
      request(workers_[i], std::move(part)).then([this, begin](const numbers& part_of_it) {
        std::copy(part_of_it.begin(), part_of_it.end(),
                  whole_.begin() + static_cast<std::ptrdiff_t>(begin));
        if (--outstanding_ == 0) promise_.deliver(std::move(whole_));
      });
    }
    return later;
  }

 private:
  std::vector<garrick::ref<workers_part>> workers_;
  numbers whole_;
  std::size_t outstanding_ = 0;
  garrick::response_promise<numbers> promise_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  rounds all(args);
  numbers v = all.input();
  const std::uint32_t workers = args.count("workers", 2);
  run_system(args, [&](garrick::actor_system& system) {
    const auto raise = system.spawn<master>(workers);
    all.measure([&] { v = system.request(raise, std::move(v)).get().value(); });
  });
  all.check(out, v);
}
