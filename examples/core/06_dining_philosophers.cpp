// Dining philosophers without a deadlock: chopsticks are actors, and no philosopher waits while
// holding one.
//
// A philosopher requests both chopsticks at once. If one is taken, the philosopher puts the other
// back and tries again a little later. This needs no lock and no order of chopsticks.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <string>
#include <vector>

struct take {};
struct put_back {};
using chopstick = garrick::protocol<bool(take), void(put_back)>;

// [chopstick]
class chopstick_actor : public garrick::actor<chopstick> {
 public:
  bool on(take) { return taken_ ? false : (taken_ = true); }
  void on(put_back) { taken_ = false; }

 private:
  bool taken_ = false;
};
// [/chopstick]

struct get_hungry {};
struct finish_meal {};
using philosopher = garrick::protocol<void(get_hungry), void(finish_meal)>;
struct full {
  std::string name;
};
using host = garrick::protocol<void(full)>;

// [philosopher]
class philosopher_actor : public garrick::actor<philosopher> {
 public:
  philosopher_actor(std::string who, garrick::ref<chopstick> left, garrick::ref<chopstick> right,
                    garrick::ref<host> at)
      : name_(std::move(who)),
        left_(std::move(left)),
        right_(std::move(right)),
        host_(std::move(at)) {}

  void on_start() { send(self(), get_hungry{}); }

  garrick::task<> on(get_hungry) {
    auto left = request(left_, take{});  // both requests are under way at once
    auto right = request(right_, take{});
    const bool got_left = (co_await std::move(left)).value();
    const bool got_right = (co_await std::move(right)).value();
    if (got_left && got_right) {
      send_after(garrick::duration::microseconds(100), self(), finish_meal{});
      co_return;
    }
    if (got_left) send(left_, put_back{});
    if (got_right) send(right_, put_back{});
    send_after(garrick::duration::microseconds(50 + 10 * static_cast<long>(id() % 7)), self(),
               get_hungry{});
  }

  void on(finish_meal) {
    send(left_, put_back{});
    send(right_, put_back{});
    if (++meals_ == 3) return send(host_, full{name_});
    send_after(garrick::duration::microseconds(20), self(), get_hungry{});
  }

 private:
  std::string name_;
  garrick::ref<chopstick> left_, right_;
  garrick::ref<host> host_;
  int meals_ = 0;
};
// [/philosopher]

int main() {
  const std::vector<std::string> names{"Hypatia", "Ibn Rushd", "Kant", "Laozi", "Simone"};
  garrick::actor_system system;
  garrick::scoped_actor table(system.env());  // this thread takes part
  std::vector<garrick::ref<chopstick>> sticks;
  for (std::size_t i = 0; i < names.size(); ++i) sticks.push_back(system.spawn<chopstick_actor>());

  class host_actor : public garrick::actor<host> {
   public:
    host_actor(garrick::any_ref main_thread, std::size_t guests)
        : main_(std::move(main_thread)), left_(guests) {}
    void on(const full&) {
      if (--left_ == 0) send(main_, std::string("everybody has eaten three times"));
    }

   private:
    garrick::any_ref main_;
    std::size_t left_;
  };
  const garrick::ref<host> counting = system.spawn<host_actor>(table->self(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    system.spawn<philosopher_actor>(names[i], sticks[i], sticks[(i + 1) % names.size()], counting);

  table->receive([](const std::string& news) { std::printf("%s\n", news.c_str()); });
}
