// The smallest useful program: one actor answers another. The figure is the cost to compile it.
#include <garrick/garrick.hpp>
#include <iostream>
#include <string>

using reflecting = garrick::protocol<std::string(std::string)>;

class mirror : public garrick::actor<reflecting> {
 public:
  std::string on(const std::string& what) { return {what.rbegin(), what.rend()}; }
};

struct greet {};

class hello : public garrick::actor<garrick::protocol<void(greet)>> {
 public:
  explicit hello(garrick::ref<reflecting> buddy) : buddy_(std::move(buddy)) {}
  void on(greet) {
    request(buddy_, std::string("!dlroW olleH")).then([](const std::string& what) {
      std::cout << what << std::endl;
    });
  }

 private:
  garrick::ref<reflecting> buddy_;
};

int main() {
  garrick::actor_system system;
  send(system.spawn<hello>(system.spawn<mirror>()), greet{});
}
