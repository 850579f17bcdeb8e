// expect: coroutine_takes_references<slow,
// expect: by value
// each: constant moved changeable several
// A coroutine that refers to its message would read freed memory after its first wait. The same
// actor's other handlers may refer to theirs.
#include <garrick/garrick.hpp>

struct order {
  std::string what;
};
using work =
    garrick::protocol<std::string(order), void(int, std::string), long(std::string), void(long),
                      std::size_t(std::vector<std::string>), int(std::vector<int>)>;

class slow : public garrick::actor<work> {
 public:
#ifdef GARRICK_WITHOUT_constant
  garrick::task<std::string> on(const order& o) { co_return o.what; }
#else
  garrick::task<std::string> on(order o) { co_return o.what; }
#endif
#ifdef GARRICK_WITHOUT_several
  garrick::task<> on(int, const std::string&) { co_return; }
#else
  garrick::task<> on(int, const std::string) const { co_return; }
#endif
#ifdef GARRICK_WITHOUT_moved
  garrick::task<long> on(std::string&&) { co_return 0; }
#else
  garrick::task<long> on(std::string) noexcept { co_return 0; }
#endif
#ifdef GARRICK_WITHOUT_changeable
  garrick::task<> on(long&) { co_return; }
#else
  static garrick::task<> on(long) { co_return; }
#endif
  template <class T>
  garrick::task<int> on(std::vector<T>) {
    co_return 0;
  }
  std::size_t on(const std::vector<std::string>& texts) { return texts.size(); }
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<slow>()); }
