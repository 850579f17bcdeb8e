// expect: argument_must_be_moved<
// expect: std::move it into the message
#include <garrick/garrick.hpp>

#include <memory>

struct parcel {
  std::unique_ptr<int> content;
};
using office = garrick::protocol<void(parcel)>;

void test(const garrick::ref<office>& to) {
  parcel p;
#ifdef GARRICK_CONTROL
  send(to, std::move(p));
#else
  send(to, p);
#endif
}
