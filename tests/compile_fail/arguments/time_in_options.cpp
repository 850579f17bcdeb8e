// expect: to ‘const garrick::core::supervision&’|from 'int' to 'base::duration'
// The same in braces, where there is no place for a sentence of ours.
#include <garrick/garrick.hpp>

class top : public garrick::actor<garrick::protocol<void(int)>> {
 public:
  void on(int) {}
#ifdef GARRICK_CONTROL
  void on_start() { set_supervision({.window = garrick::duration::seconds(5)}); }
#else
  void on_start() { set_supervision({.window = 5}); }
#endif
};
