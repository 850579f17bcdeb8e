// A link that many senders use at once: messages that they encode themselves, messages that the
// link has to encode, and large ones, in one order for each of them.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <support/quiet.hpp>

namespace busy_links_test {

using namespace garrick;

constexpr std::uint32_t senders = 4;
constexpr std::uint32_t each = 5000;

struct step {
  std::uint32_t sender = 0;
  std::uint32_t number = 0;
};
struct text_step {
  step what;
  std::string text;
};
using nobody_type = protocol<void(step)>;
struct handle_step {
  step what;
  ref<nobody_type> who;
};
struct asked_step {
  step what;
};
struct count {};
struct wanted {
  std::uint32_t bytes = 0;
};
using reader_type = protocol<void(step), void(text_step), void(handle_step),
                             std::uint32_t(asked_step), std::uint64_t(count), std::string(wanted)>;

class nobody : public actor<nobody_type> {
 public:
  void on(const step&) {}
};

class reader : public actor<reader_type> {
 public:
  explicit reader(std::atomic<std::uint64_t>& wrong) : wrong_(wrong) {}
  void on(const step& s) { take(s); }
  void on(const text_step& t) {
    take(t.what);
    if (t.text != std::string(t.what.number % 6000, 'x')) ++wrong_;
  }
  void on(const handle_step& h) { take(h.what); }
  std::uint32_t on(const asked_step& a) {
    take(a.what);
    return a.what.number;
  }
  std::uint64_t on(count) { return taken_; }
  std::string on(wanted w) { return std::string(w.bytes, 'x'); }

 private:
  void take(const step& s) {
    if (s.sender >= senders || next_[s.sender]++ != s.number) ++wrong_;
    ++taken_;
  }
  std::atomic<std::uint64_t>& wrong_;
  std::array<std::uint32_t, senders> next_{};
  std::uint64_t taken_ = 0;
};

class watcher : public actor<protocol<bool(count), void(down)>> {
 public:
  watcher(ref<reader_type> whom, std::atomic<bool>& told) : whom_(std::move(whom)), told_(told) {}
  bool on(count) {
    monitor(whom_);
    return true;
  }
  void on(const down&) { told_ = true; }

 private:
  ref<reader_type> whom_;
  std::atomic<bool>& told_;
};

struct two_nodes {
  std::atomic<std::uint64_t> wrong{0};
  actor_system left{tests::quiet()};
  actor_system right{tests::quiet()};
  std::unique_ptr<net::node> a;
  std::unique_ptr<net::node> b;
  ref<reader_type> there = left.spawn<reader>(lent(wrong));
  ref<reader_type> far;
  std::string at;

  explicit two_nodes(net::node_settings s = {}, net::node_settings of_a = {}) {
    a = std::make_unique<net::node>(left, std::move(of_a));
    b = std::make_unique<net::node>(right, std::move(s));
    const auto listens = a->listen("tcp://127.0.0.1:0");
    REQUIRE(listens.has_value());
    at = listens->to_string();
    REQUIRE(a->publish("reader", there).has_value());
    const auto found = b->remote<reader_type>(at, "reader");
    REQUIRE(found.has_value());
    far = *found;
  }
};

/// Sends the messages of one thread, of all forms.
void send_all(actor_system& from, const ref<reader_type>& to, std::uint32_t sender) {
  const auto own = from.spawn<nobody>();
  for (std::uint32_t i = 0; i != each; ++i) {
    const step s{sender, i};
    if (i % 17 == 3)
      send(to, handle_step{s, own});
    else if (i % 23 == 5)
      send(to, text_step{s, std::string(i % 6000, 'x')});
    else if (i % 29 == 7)
      CHECK(from.request(to, asked_step{s}).get().value() == i);
    else
      send(to, s);
  }
}

TEST_CASE("busy links: messages of several threads come in each one's order, each once") {
  for (const std::uint32_t window : {4096u, 8u}) {
    CAPTURE(window);
    net::node_settings s;
    s.link.mailbox.messages = window;  // a small window is full most of the time
    s.io.threads = 2;
    two_nodes n(s, {.io = {.threads = 2}});
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i != senders; ++i)
      threads.emplace_back([&n, i] { send_all(n.right, n.far, i); });
    for (std::thread& t : threads) t.join();
    // A request goes behind this thread's messages only, so it is repeated until all have come.
    for (std::uint64_t seen = 0; seen != senders * each;) {
      seen = n.right.request(n.far, count{}).get().value();
      REQUIRE(n.wrong == 0);
    }
    CHECK(n.right.dead_letter_count() == 0);
  }
}

TEST_CASE("busy links: answers of all sizes come to their askers, between messages both ways") {
  two_nodes n({.io = {.threads = 2}}, {.io = {.threads = 2}});
  std::vector<ref<reader_type>> givers;
  for (std::uint32_t i = 0; i != 3; ++i) {
    const std::string name = "giver " + std::to_string(i);
    REQUIRE(n.a->publish(name, n.left.spawn<reader>(lent(n.wrong))).has_value());
    givers.push_back(*n.b->remote<reader_type>(n.at, name));
  }
  std::vector<std::thread> threads;
  threads.emplace_back([&n] { send_all(n.right, n.far, 0); });
  for (const ref<reader_type>& whom : givers)
    threads.emplace_back([&n, whom] {
      std::uint32_t bytes = 1;
      for (int i = 0; i != 150; ++i, bytes = bytes * 7 % 1'000'003) {
        const auto answer = n.right.request(whom, wanted{bytes}).get();
        if (!answer || *answer != std::string(bytes, 'x')) ++n.wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(n.wrong == 0);
}

TEST_CASE("busy links: a message under way when the peer is gone is delivered or a dead letter") {
  for (int round = 0; round != 5; ++round) {
    net::node_settings s;
    s.link.mailbox.messages = round % 2 == 0 ? 4096 : 16;
    s.patience = base::duration::milliseconds(1);
    two_nodes n(s);
    std::atomic<std::uint64_t> sent{0};
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i != senders; ++i)
      threads.emplace_back([&n, &sent, i] {
        for (std::uint32_t k = 0; k != 10'000; ++k) {
          if (k % 50 == 1)
            send(n.far, text_step{{i, k}, std::string(k % 6000, 'x')});
          else
            send(n.far, step{i, k});
          ++sent;
        }
      });
    while (sent < 2000) std::this_thread::yield();
    n.a.reset();
    for (std::thread& t : threads) t.join();
    n.b.reset();
    const std::uint64_t taken = n.left.request(n.there, count{}).get().value();
    // A message that was delivered and never confirmed counts on both sides.
    CHECK(taken + n.right.dead_letter_count() >= sent);
    CHECK(taken <= sent);
    CHECK(n.wrong == 0);
  }
}

TEST_CASE("busy links: a signal gets through between the messages of many senders") {
  net::node_settings s;
  s.link.mailbox.messages = 8;
  s.patience = base::duration::milliseconds(1);
  two_nodes n(s);
  std::atomic<bool> told{false};
  const auto watches = n.right.spawn<watcher>(n.far, lent(told));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i != senders; ++i)
    threads.emplace_back([&n, &stop, i] {
      for (std::uint32_t k = 0; !stop; ++k) send(n.far, step{i, k});
    });
  CHECK(n.right.request(watches, count{}).get().has_value());  // it watches
  n.right.exit(n.far);
  while (!told) std::this_thread::yield();
  stop = true;
  for (std::thread& t : threads) t.join();
  CHECK(n.wrong == 0);
}

}  // namespace busy_links_test
