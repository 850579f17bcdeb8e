// A class that leaves mail in its mailbox until it can handle it, and that gets a time-out when no
// mail arrives. The time is virtual.
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdio>
#include <string>

using namespace std::chrono_literals;

struct connected {};
struct query {
  std::string text;
};
using database = garrick::protocol<void(connected), std::string(query)>;

// [skips]
class database_actor : public garrick::actor<database> {
 public:
  void on_start() { set_receive_timeout(10s); }

  // called before the handler: true leaves the message in its place
  bool skips(const query&) const { return !connected_; }

  std::string on(const query& q) { return "answer to " + q.text; }
  void on(connected) {
    connected_ = true;
    retry_skipped();  // the skipped messages are next, in their order
  }
  void on(const garrick::receive_timeout&) {
    std::puts(connected_ ? "no query comes" : "still not connected");
  }

 private:
  bool connected_ = false;
};
// [/skips]

int main() {
  garrick::testkit::test_system kit(1);
  const auto db = kit.spawn<database_actor>();
  auto first = kit.request(db, query{"life"});
  auto second = kit.request(db, query{"the universe"});
  kit.run_for(25s);
  std::printf("%u messages wait\n", db.mailbox_length());
  send(db, connected{});
  std::printf("%s\n", first.get().value().c_str());
  std::printf("%s\n", second.get().value().c_str());
  kit.run_for(10s);
}
