// each: linked unlinked watched watched_by weak linked_weak itself parameter nothing no_function
// expect: garrick: link(who), unlink(who) and monitor(who, f) take a handle or an address|garrick: the function of monitor takes a const down&
// Links and monitors of what is no actor, and functions of a monitor that are called with nothing
// that they take.
#include <garrick/garrick.hpp>

#include <string>

using namespace garrick;
using jobs = protocol<void(int)>;

struct member {
  operator const address&() const { return who; }
  address who;
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
