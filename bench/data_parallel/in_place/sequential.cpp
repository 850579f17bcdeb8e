// One loop.
#include "data_parallel/common/increment.hpp"

void bench::run(arguments& args, result& out) {
  rounds all(args);
  numbers v = all.input();
  all.measure([&] { change(v.data(), v.size()); });
  all.check(out, v);
}
