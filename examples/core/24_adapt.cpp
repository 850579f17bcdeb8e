// A library with callbacks on threads of its own, awaited like a request.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

/// A foreign library: looks names up, and calls back on any thread.
class resolver {
 public:
  ~resolver() {
    for (std::thread& t : threads_) t.join();
  }
  void look_up(std::string name, std::function<void(std::string)> found,
               std::function<void()> unknown) {
    threads_.emplace_back(
        [name = std::move(name), found = std::move(found), unknown = std::move(unknown)] {
          if (name == "localhost")
            found("127.0.0.1");
          else
            unknown();
        });
  }

 private:
  std::vector<std::thread> threads_;
};

// [actor]
using names = garrick::protocol<std::string(std::string)>;

class names_actor : public garrick::actor<names> {
 public:
  garrick::task<std::string> on(std::string name) {
    // Two statements, and the type by its name: see guide 6.
    garrick::pending_response<std::string> pending =
        garrick::adapt<std::string>(*this, [&](const garrick::completion<std::string>& done) {
          resolver_.look_up(
              name, [done](std::string address) { done(std::move(address)); },
              [done, name] { done.fail(make_error(garrick::errc::not_found, name, "no host")); });
        });
    const garrick::result<std::string> address = co_await std::move(pending).within(5s);
    if (!address) co_return address.error();
    co_return *address;  // on this actor's turn again
  }

 private:
  resolver resolver_;
};
// [/actor]

int main() {
  garrick::actor_system system;
  const auto a = system.spawn<names_actor>();
  for (const char* name : {"localhost", "nowhere"}) {
    const auto address = system.request(a, std::string(name)).get();
    std::printf("%s: %s\n", name, address ? address->c_str() : address.error().to_string().c_str());
  }
}
