// expect: nothing can be delegated to a broadcast
#include <garrick/garrick.hpp>

struct job {};
using worker = garrick::protocol<int(job)>;

class front : public garrick::actor<worker> {
  garrick::router<worker, garrick::broadcast> all_;
  garrick::router<worker> one_;

 public:
  explicit front(std::vector<garrick::ref<worker>> members) : all_(members), one_(members) {}
#ifdef GARRICK_CONTROL
  garrick::result<int> on(job j) { return delegate(one_, j); }
#else
  garrick::result<int> on(job j) { return delegate(all_, j); }
#endif
};
