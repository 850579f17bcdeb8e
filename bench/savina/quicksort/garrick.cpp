// Each actor divides its values around a pivot, gives copies of both sides to two children and puts
// their answers together.
#include "common/garrick_system.hpp"
#include "savina/quicksort/values.hpp"

namespace {

struct sort {
  bench::values all;
};
enum class side : std::uint8_t { left, right };
struct sorted {
  side from;
  bench::values all;
};
using parent = garrick::protocol<void(sorted)>;

class sorter : public garrick::actor<garrick::protocol<void(sort), void(sorted)>> {
 public:
  sorter(garrick::ref<parent> above, side position, std::uint64_t cutoff)
      : above_(std::move(above)), position_(position), cutoff_(cutoff) {}

  void on(sort& s) {
    if (s.all.size() < cutoff_) {
      std::sort(s.all.begin(), s.all.end());
      send(above_, sorted{position_, std::move(s.all)});
      return;
    }
    parts_ = bench::divide(s.all);
    send(spawn<sorter>(self(), side::left, cutoff_), sort{std::move(parts_.less)});
    send(spawn<sorter>(self(), side::right, cutoff_), sort{std::move(parts_.greater)});
  }
  // With the second answer the last handle to this actor goes, and the actor with it.
  void on(sorted& s) {
    (s.from == side::left ? parts_.less : parts_.greater) = std::move(s.all);
    if (++answers_ < 2) return;
    bench::values all = std::move(parts_.less);
    all.reserve(all.size() + parts_.equal.size() + parts_.greater.size());
    all.insert(all.end(), parts_.equal.begin(), parts_.equal.end());
    all.insert(all.end(), parts_.greater.begin(), parts_.greater.end());
    send(above_, sorted{position_, std::move(all)});
  }

 private:
  garrick::ref<parent> above_;
  side position_;
  std::uint64_t cutoff_;
  bench::division parts_;
  int answers_ = 0;
};

class root : public garrick::actor<parent> {
 public:
  explicit root(bench::values* found) : found_(found) {}
  void on(sorted& s) { *found_ = std::move(s.all); }

 private:
  bench::values* found_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("values", 1'000'000);
  const std::uint64_t cutoff = args.number("cutoff", 2048);

  values found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<sorter>(system.spawn<root>(garrick::lent(&found)), side::left, cutoff),
         sort{quicksort_input(count)});
    static_cast<void>(system.await_all());
  });
  check_quicksort(out, found, count);
}
