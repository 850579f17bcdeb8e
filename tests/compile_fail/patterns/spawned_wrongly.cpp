// each: function lambda window several nowhere swapped options name number pointer child braces
// each: try_function try_lambda try_swapped try_number try_braces
// expect: garrick: spawn(system, pattern, options)|garrick: windows become a stage|garrick: in braces stand members of stream_options|Garrick = detail::options_in_braces_have_no_such_member
// A `spawn` of something that is no pattern, or with arguments that it does not take.
#include <garrick/patterns/patterns.hpp>

#include <chrono>

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;

int twice(int x) { return 2 * x; }
void drop(int) {}

class feeder : public actor<protocol<void(int)>> {
 public:
  void on(int) {
#ifdef GARRICK_WITHOUT_pointer
    static_cast<void>(patterns::spawn(this, pipeline(counting(0, 9), drop)));
#else
    static_cast<void>(patterns::spawn(*this, pipeline(counting(0, 9), drop)));
#endif
  }
};

void test(actor_system& system) {
  const auto stream = pipeline(counting(0, 9), twice, drop);
#ifdef GARRICK_WITHOUT_function
  static_cast<void>(spawn(system, twice));
#elif defined(GARRICK_WITHOUT_lambda)
  static_cast<void>(spawn(system, [](int) {}));
#elif defined(GARRICK_WITHOUT_window)
  static_cast<void>(spawn(system, window(tumbling(1s))));
#elif defined(GARRICK_WITHOUT_several)
  static_cast<void>(spawn(system, counting(0, 9), drop));
#elif defined(GARRICK_WITHOUT_nowhere)
  static_cast<void>(spawn(stream));
#elif defined(GARRICK_WITHOUT_swapped)
  static_cast<void>(spawn(stream, system));
#elif defined(GARRICK_WITHOUT_options)
  static_cast<void>(spawn(system, stream_options{.capacity = 64}, stream));
#elif defined(GARRICK_WITHOUT_name)
  const auto handle = spawn(system, stream, "name");
  static_cast<void>(system.request(handle, join{}).get().value());
#elif defined(GARRICK_WITHOUT_number)
  static_cast<void>(spawn(system, stream, 64));
#elif defined(GARRICK_WITHOUT_child)
  static_cast<void>(stream_child({.name = "log"}, drop));
#elif defined(GARRICK_WITHOUT_braces)
  const auto handle = spawn(system, stream, {.name = "log"});
  static_cast<void>(system.request(handle, join{}).get().value());
#elif defined(GARRICK_WITHOUT_try_function)
  static_cast<void>(try_spawn(system, twice));
#elif defined(GARRICK_WITHOUT_try_lambda)
  static_cast<void>(try_spawn(system, [](int) {}));
#elif defined(GARRICK_WITHOUT_try_swapped)
  static_cast<void>(try_spawn(stream, system));
#elif defined(GARRICK_WITHOUT_try_number)
  const auto handle = try_spawn(system, stream, 64);
  static_cast<void>(system.request(*handle, join{}).get().value());
#elif defined(GARRICK_WITHOUT_try_braces)
  const auto handle = try_spawn(system, stream, {.capacity = "many"});
  static_cast<void>(system.request(*handle, join{}).get().value());
#else
  spawn_options how;
  const stream_options o;
  static_cast<void>(spawn(system, stream, o));
  static_cast<void>(spawn(system, how, stream));
  static_cast<void>(spawn(system, how, stream, o));
  static_cast<void>(try_spawn(system, stream, {.capacity = 64}));
  static_cast<void>(try_spawn(system, stream));
  static_cast<void>(spawn(system, {.name = "log"}, stream, {.capacity = 64}));
  static_cast<void>(spawn(system, how, map([](int& x) { ++x; })));
  static_cast<void>(stream_child({.name = "log"}, stream));
#endif
}
