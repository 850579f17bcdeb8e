// A master shares the vector, which cannot be changed then; each worker makes a new part from its
// part of it, and the master puts these together in a new vector.
#include <memory>

#include "common/garrick_system.hpp"
#include "data_parallel/common/increment.hpp"

namespace {

using bench::numbers;
using garrick::result;

struct slice {
  std::shared_ptr<const numbers> all;
  std::size_t begin;
  std::size_t end;
};
using slices = garrick::protocol<result<numbers>(slice)>;

class worker : public garrick::actor<slices> {
 public:
  result<numbers> on(const slice& s) {
    numbers part(s.end - s.begin);
    for (std::size_t i = s.begin; i < s.end; ++i) part[i - s.begin] = bench::changed((*s.all)[i]);
    return part;
  }
};

class master : public garrick::actor<garrick::protocol<result<numbers>(numbers)>> {
 public:
  explicit master(std::uint32_t workers) : parts_(workers) {
    for (std::uint32_t i = 0; i < workers; ++i) workers_.push_back(spawn<worker>());
  }

  result<numbers> on(numbers& all) {
    const auto shared = std::make_shared<const numbers>(std::move(all));
    outstanding_ = workers_.size();
    promise_ = make_promise<numbers>();
    result<numbers> later = promise_;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const std::size_t begin = bench::begin_of_part(shared->size(), i, workers_.size());
      const std::size_t end = bench::begin_of_part(shared->size(), i + 1, workers_.size());
      request(workers_[i], slice{shared, begin, end}).then([this, i](numbers& part) {
        parts_[i] = std::move(part);
        if (--outstanding_ == 0) put_together();
      });
    }
    return later;
  }

 private:
  void put_together() {
    std::size_t size = 0;
    for (const numbers& part : parts_) size += part.size();
    numbers all;
    all.reserve(size);
    for (numbers& part : parts_) {
      all.insert(all.end(), part.begin(), part.end());
      part = {};
    }
    promise_.deliver(std::move(all));
  }

  std::vector<garrick::ref<slices>> workers_;
  std::vector<numbers> parts_;
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
