// Two systems in one test: a server that ends and starts again, and a client that must notice. One
// seed decides the order of both.
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

using namespace std::chrono_literals;

struct query {};
struct ask {};
struct use {
  garrick::ref<garrick::protocol<int(query)>> server;
};
using server = garrick::protocol<int(query)>;
using client = garrick::protocol<void(use), void(ask)>;

class server_actor : public garrick::actor<server> {
 public:
  int on(query) { return 42; }
};

/// Asks its server once in a second.
class client_actor : public garrick::actor<client> {
 public:
  void on_start() { send_every(1s, self(), ask{}); }
  void on(const use& u) { server_ = u.server; }
  void on(ask) {
    if (!server_) return;
    request(server_, query{}, 500ms)
        .then([this](int) { ++answers; }, [this](const garrick::error&) { ++failures; });
  }

  int answers = 0;
  int failures = 0;

 private:
  garrick::ref<server> server_;
};

// [world]
void the_client_survives_its_server(garrick::testkit::test_system& here) {
  const auto c = here.spawn<client_actor>();
  for (int life = 0; life < 2; ++life) {
    garrick::testkit::test_system there(here.world());  // for example, another process
    send(c, use{there.spawn<server_actor>()});
    there.run_for(10s);  // both systems run: they share a clock
  }
  here.run_for(5s);  // the server has ended
  const auto& state = here.inspect<client_actor>(c);
  here.require(state.answers >= 18, "an answer was lost while the server lived");
  here.require(state.answers + state.failures >= 24, "a request has no outcome");
}
// [/world]

int main() {
  garrick::testkit::explore(50, the_client_survives_its_server);
  std::printf("the client survived its server in 50 orders\n");
}
