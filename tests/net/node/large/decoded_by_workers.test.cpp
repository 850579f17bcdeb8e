// A large incoming message is decoded by a worker: meanwhile its link goes on in all other lanes,
// and later messages of its lane wait. Types here stop, count or fail when they are read.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/system/system_core.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <support/quiet.hpp>

#include "net/node/simulated_machines.hpp"

namespace decoded_by_workers_test {

using namespace garrick;

/// Counts the values that are read in the link and by actors. Readers wait while it is closed.
struct gate {
  std::atomic<bool> is_open{true};
  std::atomic<std::uint32_t> by_actors{0};
  std::atomic<std::uint32_t> by_links{0};
  void pass() {
    ++(base::this_thread.actor_id != 0 ? by_actors : by_links);
    is_open.wait(false);
  }
  void close() { is_open = false; }
  void open() {
    is_open = true;
    is_open.notify_all();
  }
  void wait_for(std::uint32_t actors) const {
    while (by_actors < actors) std::this_thread::yield();
  }
};
gate* reading = nullptr;

using bytes = std::vector<std::uint8_t>;
constexpr std::size_t size = 1'000'000;
/// The first byte decides the fate.
enum class fate : std::uint8_t { good, refused, throws };
struct gated {
  using garrick_sendable = void;
  bytes all;
};
gated some(fate f = fate::good, std::size_t n = size) {
  gated g{bytes(n)};
  g.all[0] = static_cast<std::uint8_t>(f);
  return g;
}

}  // namespace decoded_by_workers_test

template <>
struct garrick::net::codec<decoded_by_workers_test::gated> {
  static void encode(byte_writer& out, const decoded_by_workers_test::gated& x) {
    encode_value(out, x.all);
  }
  static void decode(byte_reader& in, decoded_by_workers_test::gated& x) {
    using decoded_by_workers_test::fate;
    if (decoded_by_workers_test::reading != nullptr) decoded_by_workers_test::reading->pass();
    decode_value(in, x.all);
    const auto what = static_cast<fate>(x.all.empty() ? 0 : x.all[0]);
    if (what == fate::refused) return in.fail("a refused one");
    if (what == fate::throws) throw std::runtime_error("a throwing one");
  }
};

namespace decoded_by_workers_test {

using echo_type = protocol<std::uint64_t(std::uint64_t)>;
struct echo : actor<echo_type> {
  std::uint64_t on(std::uint64_t n) { return n; }
};
struct with_handle {
  ref<echo_type> who;
  gated what;
};
struct wanted {
  std::uint8_t which = 0;
};
struct what_came {};
using log_type = protocol<void(gated), std::uint64_t(gated, bool), void(std::uint64_t),
                          void(with_handle), gated(wanted), std::vector<std::uint64_t>(what_came)>;
/// The sizes of its messages, and numbers.
class log : public actor<log_type> {
 public:
  void on(const gated& g) { all_.push_back(g.all.size()); }
  std::uint64_t on(const gated& g, bool) { return all_.emplace_back(g.all.size()); }
  void on(std::uint64_t n) { all_.push_back(n); }
  void on(const with_handle& h) {
    all_.push_back(h.what.all.size());
    if (h.who) send(h.who, std::uint64_t{1});
  }
  gated on(const wanted& w) { return some(fate{w.which}); }
  std::vector<std::uint64_t> on(what_came) { return all_; }

 private:
  std::vector<std::uint64_t> all_;
};
using numbers = std::vector<std::uint64_t>;

// ---- between real nodes -------------------------------------------------------------------------

using start = protocol<void(int)>;
/// Asks several actors at once: few of them, if any, are in one lane.
class asker : public actor<start> {
 public:
  asker(std::vector<ref<echo_type>> whom, std::atomic<std::uint32_t>& answered)
      : whom_(std::move(whom)), answered_(answered) {}
  void on(int) {
    for (const auto& one : whom_)
      request(one, std::uint64_t{7}).then([this](std::uint64_t) { ++answered_; });
  }

 private:
  std::vector<ref<echo_type>> whom_;
  std::atomic<std::uint32_t>& answered_;
};

/// Sends these messages to the log, in one lane; the middle one is a request.
class speaker : public actor<start> {
 public:
  speaker(ref<log_type> to, std::atomic<bool>& answered)
      : to_(std::move(to)), answered_(answered) {}
  void on(int) {
    send(to_, some());
    send(to_, std::uint64_t{1});
    request(to_, some(fate::good, size + 1), true).then([this](std::uint64_t) {
      answered_ = true;
    });
    send(to_, std::uint64_t{2});
    send(to_, some(fate::good, size + 2));
    send(to_, std::uint64_t{3});
  }

 private:
  ref<log_type> to_;
  std::atomic<bool>& answered_;
};

class watcher : public actor<protocol<bool(int), void(down)>> {
 public:
  watcher(ref<log_type> whom, std::atomic<bool>& told) : whom_(std::move(whom)), told_(told) {}
  bool on(int) {
    monitor(whom_);
    return true;
  }
  void on(const down&) { told_ = true; }

 private:
  ref<log_type> whom_;
  std::atomic<bool>& told_;
};

/// Two nodes in one process. The far one has the log, and its reads pass the gate.
struct two_nodes {
  gate at;
  std::atomic<std::uint32_t> answered{0};
  std::optional<actor_system> near, far;
  std::optional<net::node> a, b;
  ref<log_type> there, here;  // the log there, and one here
  ref<log_type> far_log, near_log;
  ref<start> asks;
  std::string address_of_a;

  /// Makes the nodes. `far_log_is` has the options for the far log.
  explicit two_nodes(std::uint32_t workers = 2, const spawn_options& far_log_is = {}) {
    reading = &at;
    near.emplace(tests::quiet());
    far.emplace(tests::quiet(workers));
    net::node_settings s;
    s.leave_limit = {};
    s.patience = duration::seconds(60);
    a.emplace(*near, s);
    b.emplace(*far, s);
    there = far->spawn<log>(far_log_is);
    here = near->spawn<log>();
    const auto to_b = b->listen("tcp://127.0.0.1:0");
    const auto to_a = a->listen("tcp://127.0.0.1:0");
    REQUIRE((to_a && to_b && b->publish("log", there) && a->publish("log", here)));
    address_of_a = to_a->to_string();
    far_log = a->remote<log_type>(to_b->to_string(), "log").value();
    near_log = b->remote<log_type>(address_of_a, "log").value();
    std::vector<ref<echo_type>> all;
    for (int i = 0; i != 8; ++i) {
      const std::string name = "echo " + std::to_string(i);
      REQUIRE(b->publish(name, far->spawn<echo>()));
      all.push_back(a->remote<echo_type>(to_b->to_string(), name).value());
    }
    asks = near->spawn<asker>(std::move(all), lent(answered));
  }
  two_nodes(const two_nodes&) = delete;
  two_nodes& operator=(const two_nodes&) = delete;
  ~two_nodes() {
    at.open();
    asks = {};
    far_log = near_log = there = here = {};
    a.reset();
    b.reset();
    near.reset();
    far.reset();
    reading = nullptr;
  }
  ref<echo_type> shown_to_far(const std::string& name, const ref<echo_type>& who) {
    REQUIRE(a->publish(name, who));
    return b->remote<echo_type>(address_of_a, name).value();
  }
  static std::uint64_t count(net::node& at, net::node& of, std::string_view name) {
    for (const net::link_count& c : at.counters(of.self()))
      if (c.name == name) return c.value;
    return 0;
  }
  /// Checks that small requests to the far node are answered.
  void most_are_answered() {
    const std::uint32_t before = answered;
    send(asks, 1);
    while (answered < before + 6) std::this_thread::yield();
  }
};

TEST_CASE("decoded by workers: others are answered while a large one is read") {
  two_nodes n;
  n.at.close();
  SUBCASE("a message") {
    send(n.far_log, some());
    n.at.wait_for(1);
    n.most_are_answered();
    CHECK(n.far->request(n.there, what_came{}).get().value().empty());
    n.at.open();
    CHECK(n.near->request(n.far_log, what_came{}).get().value() == numbers{size});
  }
  SUBCASE("a request") {
    auto asked = n.near->request(n.far_log, some(), true);
    n.at.wait_for(1);
    n.most_are_answered();
    n.at.open();
    CHECK(asked.get().value() == size);
  }
  SUBCASE("an answer") {
    auto asked = n.far->request(n.near_log, wanted{});
    n.at.wait_for(1);
    n.most_are_answered();
    n.at.open();
    CHECK(asked.get().value().all.size() == size);
  }
  CHECK(n.at.by_actors == 1);
  CHECK(n.at.by_links == 0);
}

TEST_CASE("decoded by workers: later messages in the lane wait, and come in order") {
  std::atomic<bool> answered{false};
  two_nodes n;
  n.at.close();
  const auto speaks = n.near->spawn<speaker>(n.far_log, lent(answered));
  send(speaks, 1);
  n.at.wait_for(1);
  n.most_are_answered();
  CHECK(n.far->request(n.there, what_came{}).get().value().empty());
  n.at.open();
  while (!answered) std::this_thread::yield();
  numbers came;
  while (came.size() < 6) came = n.far->request(n.there, what_came{}).get().value();
  CHECK(came == numbers{size, 1, size + 1, 2, size + 2, 3});
  CHECK(n.at.by_actors == 3);
  CHECK(n.near->dead_letter_count() == 0);
  while (two_nodes::count(*n.a, *n.b, "under_way") != 0) std::this_thread::yield();  // confirmed
}

TEST_CASE("decoded by workers: a link that ends meanwhile delivers nothing of that lane") {
  std::atomic<bool> told{false}, answered{false};
  two_nodes n;
  n.at.close();
  const auto watches = n.far->spawn<watcher>(n.near_log, lent(told));
  CHECK(n.far->request(watches, 1).get().has_value());
  send(n.near->spawn<speaker>(n.far_log, lent(answered)), 1);
  n.at.wait_for(1);
  n.a.reset();
  while (!told) std::this_thread::yield();
  SUBCASE("and is read to its end") { n.at.open(); }
  SUBCASE("and its node is gone, too") {
    n.b.reset();
    n.at.open();
  }
  SUBCASE("and its system is stopping") {
    n.b.reset();
    std::thread opens([&] { n.at.open(); });
    n.there = n.near_log = {};
    n.far.reset();
    opens.join();
    return;
  }
  CHECK(n.far->request(n.there, what_came{}).get().value().empty());
}

TEST_CASE("decoded by workers: a system may stop while its node reads a large one") {
  std::atomic<bool> told{false};
  two_nodes n;
  n.at.close();
  const auto watches = n.near->spawn<watcher>(n.far_log, lent(told));
  CHECK(n.near->request(watches, 1).get().has_value());
  auto asked = n.near->request(n.far_log, some(), true);
  n.at.wait_for(1);
  n.there = n.near_log = {};
  std::thread stops([&] {
    n.b.reset();
    n.far.reset();
  });
  while (!told) std::this_thread::yield();
  CHECK(asked.get().error() == net::net_errc::perhaps_delivered);
  n.at.open();
  stops.join();
}

/// Stays in its first message.
class stuck : public actor<echo_type> {
 public:
  explicit stuck(std::atomic<bool>& free) : free_(free) {}
  std::uint64_t on(std::uint64_t n) {
    free_.wait(false);
    return n;
  }

 private:
  std::atomic<bool>& free_;
};
/// Sends more than there is credit for.
class flooder : public actor<start> {
 public:
  explicit flooder(ref<echo_type> to) : to_(std::move(to)) {}
  void on(int) {
    for (std::uint64_t i = 0; i != 1000; ++i) send(to_, i);
  }

 private:
  ref<echo_type> to_;
};

TEST_CASE("decoded by workers: if all workers wait for credit, the link reads it itself") {
  std::atomic<bool> free{false};  // a handler looks at it until the system's end
  two_nodes n(1);
  const auto far_stuck = n.shown_to_far("stuck", n.near->spawn<stuck>(lent(free)));
  send(n.far->spawn<flooder>(far_stuck), 1);
  auto asked = n.near->request(n.far_log, some(), true);
  while (n.at.by_links + n.at.by_actors == 0) std::this_thread::yield();
  free = true;
  free.notify_all();
  CHECK(asked.get().value() == size);
  CHECK(n.at.by_links + n.at.by_actors == 1);
}

/// Holds its worker until it is free: as if it computed, or as a wait in a send does.
class holder : public actor<echo_type> {
 public:
  holder(base::executor& workers, std::atomic<bool>& free, std::atomic<bool>& holds, bool waits)
      : workers_(workers), free_(free), holds_(holds), waits_(waits) {}
  std::uint64_t on(std::uint64_t n) {
    if (waits_) workers_.begin_wait();
    holds_ = true;
    free_.wait(false);
    if (waits_) workers_.end_wait();
    return n;
  }

 private:
  base::executor& workers_;
  std::atomic<bool>& free_;
  std::atomic<bool>& holds_;
  const bool waits_;
};
/// These outlive the systems: a handler may look at them until its system's end.
struct flags {
  std::atomic<bool> free{false}, holds{false};
};
/// Two nodes, of which the far one's only worker is held. Its log has a thread of its own.
struct one_held_worker : flags, two_nodes {
  std::size_t living = 0;  ///< actors of the far node

  explicit one_held_worker(bool waits) : two_nodes(1, {.detached = true}) {
    base::executor& workers = *far->env().workers;
    send(far->spawn<holder>(lent(workers), lent(free), lent(holds), waits), std::uint64_t{1});
    while (!holds) std::this_thread::yield();
    living = all_that_live();
  }
  one_held_worker(const one_held_worker&) = delete;
  one_held_worker& operator=(const one_held_worker&) = delete;
  ~one_held_worker() { let_go(); }
  void let_go() {
    free = true;
    free.notify_all();
  }
  [[nodiscard]] std::size_t all_that_live() { return far->core().living(true); }
  /// Asks the log with large messages, one after another.
  void ask(std::uint64_t times) {
    for (std::uint64_t i = 0; i != times; ++i)
      CHECK(near->request(far_log, some(fate::good, size + i), true).get().value() == size + i);
  }
};

TEST_CASE("decoded by workers: while all workers wait, no message is left to them") {
  one_held_worker n(true);
  n.ask(5);
  CHECK(n.at.by_links == 5);
  CHECK(n.at.by_actors == 0);
  CHECK(n.all_that_live() == n.living);
}

TEST_CASE("decoded by workers: a message that no worker begins with is read by the link") {
  one_held_worker n(false);
  n.ask(5);
  CHECK(n.at.by_links == 5);
  CHECK(n.at.by_actors == 0);
  CHECK(n.all_that_live() == n.living + 1);  // only the first message was left to a worker
  n.let_go();
  while (n.at.by_actors == 0) n.ask(1);  // until the worker has read that message
}

/// Asks again and again.
class pinger : public actor<start> {
 public:
  pinger(ref<log_type> whom, std::atomic<bool>& is_over) : whom_(std::move(whom)), over_(is_over) {}
  void on(int) {
    if (over_) return;
    request(whom_, what_came{}).then([this](const numbers&) { on(1); });
  }

 private:
  ref<log_type> whom_;
  std::atomic<bool>& over_;
};

TEST_CASE("decoded by workers: a busy link looks after messages that no worker begins with") {
  std::atomic<bool> is_over{false};
  one_held_worker n(false);
  send(n.near->spawn<pinger>(n.far_log, lent(is_over)), 1);
  n.ask(1);
  is_over = true;
  CHECK(n.at.by_links == 1);
}

TEST_CASE("decoded by workers: a request that is withdrawn meanwhile is not handled") {
  two_nodes n;
  n.at.close();
  auto asked = n.near->request(n.far_log, some(), true);
  n.at.wait_for(1);
  CHECK(asked.within(duration::milliseconds(1)).get().error() == errc::timeout);
  while (two_nodes::count(*n.a, *n.b, "cancelled") == 0) std::this_thread::yield();
  n.most_are_answered();  // so the cancel has come, too
  CHECK(two_nodes::count(*n.b, *n.a, "held_lanes") == 1);
  n.at.open();
  while (two_nodes::count(*n.b, *n.a, "held_lanes") != 0) std::this_thread::yield();
  CHECK(n.far->request(n.there, what_came{}).get().value().empty());
}

// ---- in virtual time ----------------------------------------------------------------------------

struct two_machines {
  garrick::testkit::test_world world;
  net::testkit::simulated_network net;
  tests::listening_machine a, b;
  gate at;
  ref<log_type> far;

  two_machines() : world(7), net(world), a(world, way(), "a", 1), b(world, net, "b", 2) {
    far = b.shown_to(a, "log", b.system.spawn<log>());
    reading = &at;
  }
  two_machines(const two_machines&) = delete;
  two_machines& operator=(const two_machines&) = delete;
  ~two_machines() { reading = nullptr; }
  numbers came() { return a.system.request(far, what_came{}).get().value(); }

 private:
  net::testkit::simulated_network& way() {
    net.both("a", "b", {.delay = duration::milliseconds(1), .rate = 100'000'000});
    return net;
  }
};

TEST_CASE("decoded by workers: a large one that cannot be read is told as a small one is") {
  for (const fate f : {fate::refused, fate::throws}) {
    CAPTURE(static_cast<int>(f));
    two_machines m;
    const auto near = m.a.shown_to(m.b, "near", m.a.system.spawn<log>());
    send(m.far, some(f));
    send(m.far, std::uint64_t{1});
    CHECK(m.came() == numbers{1});
    REQUIRE(m.a.system.dead_letters().size() == 1);
    CHECK(m.a.system.dead_letters()[0].reason == net::net_errc::decode_failed);
    CHECK(m.a.system.request(m.far, some(f), true).get().error() == net::net_errc::decode_failed);
    CHECK(counted(m.b, m.a, "not_decoded") == 2);
    const auto answer = m.b.system.request(near, wanted{static_cast<std::uint8_t>(f)}).get();
    CHECK(answer.error() == net::net_errc::decode_failed);
    CHECK(counted(m.b, m.a, "not_decoded") == 3);
    CHECK(m.at.by_actors == 3);
    CHECK(m.came() == numbers{1});
  }
}

TEST_CASE("decoded by workers: small ones and those with handles are read in the link") {
  two_machines m;
  const auto own = m.a.system.spawn<echo>();
  SUBCASE("a small one") {
    send(m.far, some(fate::good, 1000));
    CHECK(m.came() == numbers{1000});
    CHECK(m.at.by_links == 1);
  }
  SUBCASE("with a new handle") {
    send(m.far, with_handle{own, some()});
    CHECK(m.came() == numbers{size});
    CHECK(m.at.by_links == 1);
  }
  SUBCASE("with an empty handle") {
    send(m.far, with_handle{{}, some()});
    CHECK(m.came() == numbers{size});
    CHECK(m.at.by_links == 0);
  }
  CHECK(m.at.by_actors == 1 - m.at.by_links);
}

TEST_CASE("decoded by workers: one that brings a handle home is read again, in the link") {
  two_machines m;
  const auto back = m.b.shown_to(m.a, "echo", m.b.system.spawn<echo>());
  send(m.far, with_handle{back, some()});
  send(m.far, std::uint64_t{1});
  CHECK(m.came() == numbers{size, 1});
  CHECK(m.a.system.dead_letters().empty());
  // The worker stopped at the handle, so the message was read again in the link, perhaps by the
  // same worker on its visit. From then on the link knows that messages of this type need it.
  CHECK(m.at.by_links + m.at.by_actors == 1);
  const std::uint32_t by_actors = m.at.by_actors, by_links = m.at.by_links;
  send(m.far, with_handle{back, some()});
  CHECK(m.came() == numbers{size, 1, size});
  CHECK(m.at.by_links == by_links + 1);
  CHECK(m.at.by_actors == by_actors);
}

}  // namespace decoded_by_workers_test
