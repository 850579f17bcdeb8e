// The main of every benchmark program that is run; programs that are only compiled or measured in
// size have their own.
#include <exception>

#include "common/measure.hpp"

int main(int argc, char** argv) {
  try {
    bench::arguments args(argc, argv);
    bench::result out;
    bench::run(args, out);
    args.reject_unknown();
    return out.print();
  } catch (const std::exception& error) { bench::arguments::fail(error.what()); }
}
