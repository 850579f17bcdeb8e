// A thread loads, one takes the answers, and each stage between has a pool of `threads` threads,
// with a bounded queue before it.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "data_parallel/ferret/search.hpp"

namespace {

// For several producers, each of which leaves when it is done, and several consumers.
template <class T>
class queue {
 public:
  explicit queue(std::size_t producers) : producers_(producers) {}

  void push(T x) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return waiting_.size() < 64; });
    waiting_.push_back(std::move(x));
    lock.unlock();
    filled_.notify_one();
  }
  // Returns false if the queue is empty and all producers have left.
  bool pop(T& x) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return !waiting_.empty() || producers_ == 0; });
    if (waiting_.empty()) return false;
    x = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    room_.notify_one();
    return true;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--producers_ == 0) filled_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable filled_;
  std::deque<T> waiting_;
  std::size_t producers_;
};

// A pool that applies `f` to the elements of one queue, into another one.
template <class In, class Out, class F>
void start(std::vector<std::thread>& all, std::size_t threads, queue<In>& from, queue<Out>& to,
           F f) {
  for (std::size_t i = 0; i < threads; ++i) {
    all.emplace_back([&from, &to, f] {
      for (In x; from.pop(x);) to.push(f(std::move(x)));
      to.leave();
    });
  }
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const gallery g = make_gallery(args);
  const std::size_t threads = args.count("threads", 2);

  std::vector<answer> found;
  const std::int64_t start_ns = now_ns();
  {
    queue<photo> loaded(1);
    queue<segmented> cut(threads);
    queue<described> extracted(threads);
    queue<indexed> looked_up(threads);
    queue<answer> ranked(threads);
    std::vector<std::thread> all;
    all.emplace_back([&] {
      for (std::uint32_t i = 0; i < g.queries; ++i) loaded.push(load(i));
      loaded.leave();
    });
    start(all, threads, loaded, cut, segment);
    start(all, threads, cut, extracted, extract);
    start(all, threads, extracted, looked_up,
          [&](const described& d) { return look_up(g.all, d); });
    start(all, threads, looked_up, ranked, [&](const indexed& q) { return rank(g.all, q); });
    for (answer a; ranked.pop(a);) found.push_back(a);
    for (std::thread& t : all) t.join();
  }
  out.seconds = seconds_since(start_ns);
  check_answers(out, g, std::move(found));
}
