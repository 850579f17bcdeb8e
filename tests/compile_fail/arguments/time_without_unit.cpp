// each: within asked awaited delay silence all shutdown stop temporary
// expect: garrick: a time has a unit: say 5s or 100ms
// A plain number in the place of a time.
#include <garrick/garrick.hpp>

#include <chrono>
#include <string>

using namespace garrick;
using namespace std::chrono_literals;

struct order {
  std::string what;
};
using shop = protocol<long(int), void(order)>;

#ifdef GARRICK_WITHOUT_within
constexpr int limit = 5;
#else
constexpr auto limit = 5s;
#endif
#ifdef GARRICK_WITHOUT_awaited
constexpr double wait = 0.5;
#else
constexpr auto wait = 500ms;
#endif
#ifdef GARRICK_WITHOUT_delay
constexpr int rest = 5;
#else
constexpr auto rest = 5s;
#endif
#ifdef GARRICK_WITHOUT_silence
constexpr unsigned silence = 5;
#else
constexpr auto silence = 5s;
#endif
#ifdef GARRICK_WITHOUT_temporary
constexpr int soon = 5;
#else
constexpr auto soon = 5s;
#endif

/// Classes may have functions of these names beside, which take numbers.
class counts_seconds : public actor<protocol<void(int)>> {
 public:
  using actor_base::delay;
  using actor_base::set_receive_timeout;
  pending_response<> delay(double n) { return delay(std::chrono::duration<double>(n)); }
  void set_receive_timeout(long n) { set_receive_timeout(duration::seconds(n)); }
  void on(int x) {
    set_receive_timeout(x);
    delay(x).then([] {});
  }
};
class system_of_seconds : public actor_system {
 public:
  using actor_system::await_all;
  using actor_system::shutdown;
  using actor_system::stop_now;
  void await_all(long n) { await_all(duration::seconds(n)); }
  void shutdown(long n) { shutdown(duration::seconds(n)); }
  void stop_now(long n) { stop_now(duration::seconds(n)); }
};
void test(system_of_seconds& system) {
  system.await_all(5);
  system.shutdown(5);
  system.stop_now(5);
}

class client : public actor<protocol<void(int)>> {
 public:
  void on_start() { set_receive_timeout(silence); }
  void on(const receive_timeout&) { quit(); }
  task<> on(int x) {
    request(shop_, x).within(limit).then([](long) {});
    request(shop_, order{"tea"}).within(soon).then([] {});
    static_cast<void>(co_await request<int>(shop_, x).within(wait));
    static_cast<void>(co_await delay(rest));
  }

 private:
  ref<shop> shop_;
};

void test(actor_system& system, const ref<shop>& to) {
#if defined(GARRICK_WITHOUT_asked)
  static_cast<void>(system.request(to, 1).within(5).get());
#elif defined(GARRICK_WITHOUT_all)
  system.await_all(5);
#elif defined(GARRICK_WITHOUT_shutdown)
  system.shutdown(5);
#elif defined(GARRICK_WITHOUT_stop)
  system.stop_now(5);
#else
  static_cast<void>(system.request(to, 1).within(5s).get());
  auto named = system.request(to, 1);
  static_cast<void>(named.within(5ms).get());
  system.await_all(5s);
  system.shutdown(5s);
  system.stop_now(duration::seconds(5));
#endif
}
