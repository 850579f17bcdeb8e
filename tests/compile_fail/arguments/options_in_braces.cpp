// each: system system_function own supervised under constructor several
// expect: garrick: in braces stand members of|options_in_braces_have_no_such_member
// Options in braces with a member that they do not have, and a constructor's argument in braces.
#include <garrick/garrick.hpp>

#include <string>

using namespace garrick;

class worker : public actor<protocol<void(int)>> {
 public:
  worker() = default;
  worker(int first, const std::string& name) : sum_(first), name_(name) {}
  void on(int x) { sum_ += x; }

 private:
  int sum_ = 0;
  std::string name_;
};

class head : public actor<protocol<void(int)>> {
 public:
  void on(int x) {
#if defined(GARRICK_WITHOUT_own)
    spawn<worker>({.nam = "w"}, x, "w");
#elif defined(GARRICK_WITHOUT_supervised)
    supervise<worker>({.nam = "w"});
#else
    spawn<worker>({.name = "w", .linked = true}, x, "w");
    static_cast<void>(try_spawn<worker>({.name = "w"}).value());
    const spawn_options how;
    spawn<worker>(how);
    spawn<worker>();
    supervise<worker>({.name = "w"}, x, "w");
    const child_options known;
    supervise<worker>(known);
    supervise<worker>();
#endif
  }
};

void test(actor_system& system, const ref<core::supervisor_protocol>& top) {
#if defined(GARRICK_WITHOUT_system)
  system.spawn<worker>({.nam = "w"});
#elif defined(GARRICK_WITHOUT_system_function)
  system.spawn({.nam = "w"}, [](dynamic_actor&) {});
#elif defined(GARRICK_WITHOUT_under)
  supervise<worker>(top, {.nam = "w"});
#elif defined(GARRICK_WITHOUT_constructor)
  system.spawn<supervisor>({.strategy = one_for_all}, child<worker>());
#elif defined(GARRICK_WITHOUT_several)
  system.spawn<worker>(1, {"w"});
#else
  system.spawn<worker>({.name = "w"}, 1, "w");
  system.spawn<worker>({});
  system.spawn({.name = "w"}, [](dynamic_actor&) {});
  static_cast<void>(system.try_spawn<worker>({.detached = true}, 1, "w").value());
  system.spawn<supervisor>(supervision{.strategy = one_for_all}, child<worker>({.name = "w"}),
                           child<worker>(child_options(), 1, "w"), child<worker>());
  supervise<worker>(top, {.restart = transient}, 1, "w");
  supervise<worker>(top);
#endif
}
