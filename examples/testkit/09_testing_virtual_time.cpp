// Testing an actor with virtual time: an hour passes in a microsecond, and every order of messages
// can be tried and repeated.
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;

// [actor]
struct touch {};    // the session is used
struct is_open {};  // asks if the session still lives
struct expire {};   // the session's message to itself

using session = garrick::protocol<void(touch), bool(is_open), void(expire)>;

/// Ends half an hour after its last use.
class session_actor : public garrick::actor<session> {
 public:
  void on_start() { rest(); }
  void on(touch) {
    ++touches_;
    rest();
  }
  bool on(is_open) const { return true; }
  void on(expire) {
    if (now() >= due_) quit();  // a touch may have come after the timer fired
  }

 private:
  void rest() {
    due_ = now() + 30min;
    timer_.cancel();
    timer_ = send_after(30min, self(), expire{});
  }

  int touches_ = 0;
  garrick::instant due_;
  garrick::timer timer_;
};
// [/actor]

// [time]
void a_session_lives_half_an_hour_after_its_last_use() {
  garrick::testkit::test_system kit(1);
  auto s = kit.spawn<session_actor>();
  kit.run_for(29min);
  send(s, touch{});
  kit.run_for(29min);
  kit.expect_alive(s);
  kit.run_for(1min);
  kit.expect_down(s);
}
// [/time]

// [expect]
void a_touch_is_one_message() {
  garrick::testkit::test_system kit(1);
  auto s = kit.spawn<session_actor>();
  kit.run();
  send(s, touch{});
  kit.expect<touch>().to(s);  // asserts the next message, and delivers exactly that
  kit.advance(30min);         // the timer fires, but no actor runs yet
  kit.expect<expire>().to(s).from(s);
  kit.expect_down(s);
  send(s, touch{});
  kit.expect_dead_letter<touch>(garrick::errc::not_handled);
}
// [/expect]

// [explore]
void a_touch_at_the_last_moment_counts(garrick::testkit::test_system& kit) {
  auto s = kit.spawn<session_actor>();
  auto user = kit.spawn(
      [](garrick::dynamic_actor& self, garrick::ref<session> to) -> garrick::behavior {
        self.send_after(30min, to, touch{});  // exactly when the session would end
        return {[](int) {}};
      },
      garrick::ref<session>(s));
  kit.run_for(31min);
  // Either the touch is handled first and keeps the session, or the end is first and the touch is a
  // dead letter: never both, never neither.
  const bool alive = kit.actor_count() == 2;
  const bool lost = !kit.dead_letters().empty();
  kit.require(alive != lost, "the touch was neither counted nor lost");
}
// [/explore]

int main() {
  a_session_lives_half_an_hour_after_its_last_use();
  std::puts("a session lives half an hour after its last use");
  a_touch_is_one_message();
  std::puts("a touch is one message");
  garrick::testkit::explore(200, a_touch_at_the_last_moment_counts);
  std::puts("a touch at the last moment: 200 orders tried");
}
