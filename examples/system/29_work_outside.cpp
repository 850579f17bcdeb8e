// Work outside the actors: a library's callback, and a thread of the program that sends. The system
// ends only after both.
#include <garrick/garrick.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

/// A foreign library: it calls back from a thread of its own.
class resolver {
 public:
  void lookup(std::string name, std::function<void(std::string)> done) {
    threads_.emplace_back([name = std::move(name), done = std::move(done)] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done(name == "here" ? "127.0.0.1" : "10.0.0.7");
    });
  }
  ~resolver() {
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::vector<std::thread> threads_;
};

struct find_host {
  std::string name;
};
struct line {
  std::string text;
};
using printing = garrick::protocol<void(find_host), void(line)>;

// [adapt]
class printer : public garrick::actor<printing> {
 public:
  void on(const find_host& wanted) {
    garrick::adapt<std::string>(*this, [&](garrick::completion<std::string> done) {
      library_.lookup(wanted.name, done);
    }).then([](const std::string& address) { std::printf("the host is %s\n", address.c_str()); });
  }
  void on(const line& l) { std::printf("the thread says %s\n", l.text.c_str()); }

 private:
  resolver library_;
};
// [/adapt]

int main() {
  std::thread reader;
  {
    garrick::actor_system system;
    const auto out = system.spawn<printer>();
    send(out, find_host{"here"});
    send(out, line{"hello"});
  }  // waits for the library
  {
    garrick::actor_system system;
    const auto out = system.spawn<printer>();
    // [token]
    reader = std::thread([out, busy = garrick::outside_work(system.env())] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // reads something slow
      send(out, line{"goodbye"});
    });
    // [/token]
  }  // waits for the line
  reader.join();
}
