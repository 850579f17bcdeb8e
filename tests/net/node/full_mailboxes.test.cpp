// A mailbox that is full is its actor's own trouble: the thread that brings messages of another
// node never waits for it, and messages without room become dead letters.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <semaphore>
#include <thread>

#include <support/quiet.hpp>

namespace full_mailboxes_test {

using namespace garrick;

struct item {
  std::int64_t n = 0;
};
struct question {
  std::int64_t n = 0;
};
using box_type = protocol<void(item)>;
using echo_type = protocol<std::int64_t(question)>;

/// Stays in its first message until it may go on.
class box : public actor<box_type> {
 public:
  box(std::binary_semaphore& may_go_on, std::atomic<int>& begun)
      : may_go_on_(may_go_on), begun_(begun) {}
  void on(const item&) {
    if (begun_++ == 0) may_go_on_.acquire();
  }

 private:
  std::binary_semaphore& may_go_on_;
  std::atomic<int>& begun_;
};
class echo : public actor<echo_type> {
 public:
  std::int64_t on(question q) { return q.n; }
};

/// Settings under which a thread that waited for a full mailbox would wait for a minute.
settings patient() {
  settings s = tests::quiet(3);
  s.mailbox.full_wait = duration::seconds(60);
  return s;
}

template <class P>
void wait_until(P p) {
  while (!p()) std::this_thread::yield();
}

/// Lets the box go on when a test ends, also by a failure.
struct going_on {
  std::binary_semaphore& box;
  ~going_on() { box.release(); }
};

TEST_CASE("full mailboxes: others of the same link are answered, and losses are told") {
  constexpr int room = 4;
  constexpr int sent = 100;  // less than the first credit, so no sender waits for it
  struct mailbox {
    spawn_options of_box;
    int lost;  // none with the policy `wait`, as the items have waited for credit
  };
  const mailbox all[] = {{{.policy = mailbox_policy::wait, .bound = room}, 0},
                         {{.policy = mailbox_policy::reject, .bound = room}, sent - 1 - room},
                         {{.soft_limit = room}, 0},
                         {{.soft_limit = room, .hard_limit = room}, sent - 1 - room}};
  for (const auto& [of_box, lost] : all) {
    CAPTURE(static_cast<int>(of_box.policy));
    CAPTURE(of_box.hard_limit);
    std::binary_semaphore may_go_on(0);
    std::atomic<int> begun{0};
    actor_system left(patient());
    actor_system right(tests::quiet());
    net::node a(left);
    net::node b(right);
    const going_on at_end{may_go_on};
    const auto at = a.listen("tcp://127.0.0.1:0");
    REQUIRE(at.has_value());
    const auto full = left.spawn<box>(of_box, lent(may_go_on), lent(begun));
    REQUIRE(a.publish("box", full).has_value());
    REQUIRE(a.publish("echo", left.spawn<echo>()).has_value());
    const auto far = b.remote<box_type>(at->to_string(), "box");
    const auto other = b.remote<echo_type>(at->to_string(), "echo");
    REQUIRE(far.has_value());
    REQUIRE(other.has_value());
    send(*far, item{0});
    wait_until([&] { return begun == 1; });
    for (int i = 1; i < sent; ++i) send(*far, item{i});
    // The answer comes behind all items if they are in one lane, and at once otherwise.
    for (std::int64_t i = 0; i < 10; ++i) {
      const auto answer = right.request(*other, question{i}, duration::seconds(30)).get();
      REQUIRE_MESSAGE(answer.has_value(), answer.error().to_string());
      CHECK(*answer == i);
    }
    // Items that have come wait or are lost, though their receiver has not gone on.
    const auto n = static_cast<unsigned>(lost);
    wait_until([&] { return left.dead_letter_count(errc::overload) == n; });
    CHECK(begun == 1);
    may_go_on.release();
    wait_until([&] { return begun == sent - lost; });
    CHECK(left.dead_letter_count() == n);
    CHECK(right.dead_letter_count() == 0);
    // The receiver takes further items now.
    send(*far, item{sent});
    wait_until([&] { return begun == sent + 1 - lost; });
  }
}

/// Answers with the number of items, and checks that each came once and in order.
class row : public actor<protocol<void(item), std::int64_t(question)>> {
 public:
  void on(const item& i) {
    is_exact_ = is_exact_ && i.n == next_;
    ++next_;
  }
  std::int64_t on(question) { return is_exact_ ? next_ : -1; }

 private:
  std::int64_t next_ = 0;
  bool is_exact_ = true;
};

TEST_CASE("full mailboxes: one that lets its senders wait loses nothing of another node") {
  constexpr std::int64_t sent = 2000;
  actor_system left(patient()), right(patient());
  net::node_settings s;
  s.patience = duration::seconds(60);
  net::node a(left, s), b(right, s);
  const auto at = a.listen("tcp://127.0.0.1:0").value().to_string();
  const auto one = left.spawn<row>(spawn_options{.policy = mailbox_policy::wait, .bound = 10});
  a.publish("row", one).value();
  const auto far = b.remote<row::protocol_type>(at, "row").value();
  for (std::int64_t i = 0; i < sent; ++i) send(far, item{i});
  CHECK(right.request(far, question{}, duration::seconds(60)).get().value() == sent);
  CHECK(left.dead_letter_count() == 0);
  CHECK(right.dead_letter_count() == 0);
}

/// Is slow with each item, so that its mailbox never gets short by itself.
class slow_row : public actor<box_type> {
 public:
  explicit slow_row(std::atomic<std::int64_t>& taken) : taken_(&taken) {}
  void on(const item&) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    while (std::chrono::steady_clock::now() < end) {}
    ++*taken_;
  }

 private:
  std::atomic<std::int64_t>* taken_;
};

TEST_CASE(
    "full mailboxes: a sender that waits for room finds some while another node sends on and on") {
  std::atomic<std::int64_t> taken{0};
  std::atomic<bool> is_over{false};
  actor_system left(patient()), right(patient());
  net::node a(left), b(right);
  const auto one =
      left.spawn<slow_row>(spawn_options{.policy = mailbox_policy::wait, .bound = 10}, lent(taken));
  REQUIRE(a.publish("row", one).has_value());
  const std::string at = a.listen("tcp://127.0.0.1:0").value().to_string();
  const auto far = b.remote<box_type>(at, "row").value();
  std::thread flood([&] {
    while (!is_over) send(far, item{0});
  });
  for (int i = 0; i != 20; ++i) {
    const std::int64_t now = taken;
    wait_until([&] { return taken > now + 500; });  // items of the other node, and more are coming
    send(one, item{1});
  }
  is_over = true;
  flood.join();
  CHECK(left.dead_letter_count() == 0);
}

}  // namespace full_mailboxes_test
