// An actor for each range, with shared memory: all work in the vector itself, through a pointer
// that the message hides from the compiler's check of isolation. Only the pattern's design keeps
// each actor to its range.
#include "common/garrick_system.hpp"
#include "data_parallel/quicksort_inplace/kernel.hpp"

namespace {

struct range {
  using garrick_sendable = void;
  bench::value* first;
  std::size_t n;
};
struct sorted {};
using parent = garrick::protocol<void(sorted)>;

class sorter : public garrick::actor<garrick::protocol<void(range), void(sorted)>> {
 public:
  sorter(garrick::ref<parent> above, std::uint32_t cutoff)
      : above_(std::move(above)), cutoff_(cutoff) {}

  void on(range r) {
    if (r.n < cutoff_) {
      bench::sort_few(r.first, r.n);
      send(above_, sorted{});
      return;
    }
    const std::size_t k = bench::divide(r.first, r.n);
    send(spawn<sorter>(self(), cutoff_), range{r.first, k});
    send(spawn<sorter>(self(), cutoff_), range{r.first + k, r.n - k});
  }
  // With the second answer the last handle to this actor goes, and the actor with it.
  void on(sorted) {
    if (++answers_ == 2) send(above_, sorted{});
  }

 private:
  garrick::ref<parent> above_;
  std::uint32_t cutoff_;
  int answers_ = 0;
};

class root : public garrick::actor<parent> {
 public:
  void on(sorted) {}
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("values", 10'000'000);
  const std::uint32_t cutoff = args.count("cutoff", default_cutoff);

  values v = quicksort_input(count);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<sorter>(system.spawn<root>(), cutoff), range{v.data(), v.size()});
    static_cast<void>(system.await_all());
  });
  check_quicksort(out, v, count);
}
