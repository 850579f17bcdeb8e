// each: linked unlinked watched watched_by weak linked_weak itself parameter nothing no_function
// expect: garrick: link(who), unlink(who) and monitor(who, f) take|garrick: the function of monitor
// Links and monitors of arguments that name no actor, and functions of monitors that take no
// `down`.
#include <garrick/garrick.hpp>

#include <string>
#include <vector>

using namespace garrick;
using jobs = protocol<void(int)>;

struct member {
  operator const address&() const { return who; }
  address who;
};

/// A class may have functions of these names beside, with arguments that are not actors.
class knows_by_name : public actor<jobs> {
 public:
  using actor_base::link;
  using actor_base::monitor;
  using actor_base::unlink;
  template <class P>
  void link(const std::vector<ref<P>>& all) {
    for (const ref<P>& one : all) link(one);
  }
  void unlink(const std::string& name) { unlink(by_name(name)); }
  void monitor(const std::string& name, long times) {
    if (times > 0) monitor(by_name(name));
  }
  void on(int x) {
    link(std::vector<ref<jobs>>());
    unlink("worker");
    monitor("worker", x);
  }

 private:
  static ref<jobs> by_name(const std::string&) { return {}; }
};

class keeper : public actor<jobs> {
 public:
  void on(int x) {
#if defined(GARRICK_WITHOUT_linked)
    link(x);
#elif defined(GARRICK_WITHOUT_unlinked)
    unlink(x);
#elif defined(GARRICK_WITHOUT_watched)
    monitor(x);
#elif defined(GARRICK_WITHOUT_watched_by)
    monitor("worker", [](const down&){});
#elif defined(GARRICK_WITHOUT_weak)
    monitor(weak_, [](const down&){});
#elif defined(GARRICK_WITHOUT_linked_weak)
    link(weak_);
#elif defined(GARRICK_WITHOUT_itself)
    link(*this);
#elif defined(GARRICK_WITHOUT_parameter)
    monitor(worker_, [](const std::string&){});
#elif defined(GARRICK_WITHOUT_nothing)
    monitor(worker_.address(), []{});
#elif defined(GARRICK_WITHOUT_no_function)
    monitor(worker_, x);
#else
    demonitor(monitor(worker_));
    monitor(worker_.address());
    monitor(weak_.address(), [this](const down& d) { link(d.who); });
    monitor(worker_, [](auto&&) {});
    monitor(member_);
    link(member_);
    unlink(weak_.address());
    link(any_ref(worker_));
    on(x);
#endif
  }

 private:
  ref<jobs> worker_;
  weak_ref<jobs> weak_;
  member member_;
};
