// Proxies: everything sent to an actor that lives elsewhere leaves the process, in order, and
// nothing else in the program can tell the difference. And the fate of such sends when the actor
// ends.
#include <doctest/doctest.h>
#include <garrick/core/seam/answers.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/core/seam/signals.hpp>
#include <garrick/garrick.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/quiet.hpp"

namespace proxies_test {

namespace {

using namespace garrick;
using tests::quiet;
using core::envelope_flag;
using core::envelope_ptr;
using core::pending_request;

using remote = protocol<void(std::string), int(int)>;

/// The items that have left the process.
struct wire {
  std::mutex mutex;
  std::vector<std::string> text;                            // under `mutex`
  std::vector<std::pair<pending_request, int>> requests;    // under `mutex`
  std::vector<std::pair<address, std::uint64_t>> watchers;  // under `mutex`
  std::atomic<int> released{0}, freed{0};
  std::function<void()> at_signal;  ///< comes before the next signal leaves; set before it is sent

  void note(std::string what) {
    const std::lock_guard guard(mutex);
    text.push_back(std::move(what));
  }
  std::vector<std::string> lines() {
    const std::lock_guard guard(mutex);
    return text;
  }
};

class noting_proxy final : public core::proxy_cell {
 public:
  noting_proxy(core::environment& env, std::shared_ptr<wire> to)
      : proxy_cell(env), wire_(std::move(to)) {}
  std::string_view type_name() const noexcept override { return "remote"; }

 private:
  ~noting_proxy() { ++wire_->freed; }

  void forward(envelope_ptr e, instant) noexcept override {
    std::string what;
    const void* const content = core::content_pointer(e.get());
    if (e->type == &base::message_type_of<std::string>)
      what = *static_cast<const std::string*>(content);
    else
      e->type->print(content, what);
    if (e->is(envelope_flag::response)) {
      wire_->note("answer " + std::to_string(e->id()) + ": " + what);
    } else if (e->is(envelope_flag::request)) {
      wire_->note("request " + what);
      const std::lock_guard guard(wire_->mutex);
      const int argument = *static_cast<const int*>(core::content_pointer(e.get()));
      wire_->requests.emplace_back(core::take_request(e.get()), argument);
    } else {
      wire_->note("message " + what);
    }
  }
  void forward_signal(envelope_ptr e) noexcept override {
    if (const auto now = std::exchange(wire_->at_signal, nullptr)) {
      now();
      return answer_as_ended(e);
    }
    if (e->type == &base::message_type_of<core::signals::watch>) {
      const auto& w = *static_cast<const core::signals::watch*>(e->raw());
      wire_->note(w.monitor == 0 ? "link" : "monitor");
      const std::lock_guard guard(wire_->mutex);
      wire_->watchers.emplace_back(w.watcher, w.monitor);
    } else if (e->type == &base::message_type_of<core::signals::unwatch>) {
      wire_->note("unwatch");
    } else if (e->type == &base::message_type_of<core::signals::kill>) {
      wire_->note("kill");
    } else if (e->type == &base::message_type_of<exit_signal>) {
      wire_->note("exit: " + static_cast<const exit_signal*>(e->raw())->reason.to_string());
    } else if (e->type == &base::message_type_of<down>) {
      wire_->note("down: " + static_cast<const down*>(e->raw())->reason.to_string());
    } else if (e->type == &base::message_type_of<core::signals::withdrawn>) {
      wire_->note("withdrawn");
    } else {
      wire_->note("unknown");
    }
  }
  void nobody_holds_it() noexcept override { ++wire_->released; }
  void free_self() noexcept override { delete this; }

  std::shared_ptr<wire> wire_;
};

/// A system, and an actor of another process.
struct fixture {
  actor_system system{quiet()};
  std::shared_ptr<wire> out = std::make_shared<wire>();
  noting_proxy* cell = new noting_proxy(system.env(), out);
  ref<remote> proxy = core::handle_access::adopt<remote>(cell);

  void answer_all() {
    std::vector<std::pair<pending_request, int>> all;
    {
      const std::lock_guard guard(out->mutex);
      all.swap(out->requests);
    }
    for (const auto& [request, argument] : all) core::respond_value<int>(request, argument * 2);
  }
  void wait_for_requests(std::size_t n) {
    for (;;) {
      {
        const std::lock_guard guard(out->mutex);
        if (out->requests.size() >= n) return;
      }
      std::this_thread::yield();
    }
  }
  void wait_for_lines(std::size_t n) {
    while (out->lines().size() < n) std::this_thread::yield();
  }
};

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a message to a proxy is forwarded before the send returns, in the sender's order") {
  fixture f;
  send(f.proxy, std::string("one"));
  send_urgent(f.proxy, std::string("two"));
  CHECK(!try_send(f.proxy, std::string("three")));
  CHECK(f.out->lines() == lines{"message one", "message two", "message three"});
  CHECK(f.proxy.mailbox_length() == 0);
  CHECK(!core::handle_access::get(f.proxy)->has_ended());
  CHECK(f.system.actor_count() == 0);
  CHECK(f.system.dead_letter_count() == 0);
}

TEST_CASE("many threads send through one proxy, and each keeps its order") {
  fixture f;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&f, t, to = f.proxy] {
      for (int i = 0; i < 500; ++i) {
        send(to, std::to_string(t) + "." + std::to_string(1000 + i));
        if (i % 50 == 0) f.system.exit(to, make_error(errc::user, std::to_string(t)));
      }
    });
  for (std::thread& t : threads) t.join();
  const lines all = f.out->lines();
  CHECK(all.size() == 4 * 510);
  for (int t = 0; t < 4; ++t) {
    const std::string mine = "message " + std::to_string(t) + ".";
    lines of_one;
    std::copy_if(all.begin(), all.end(), std::back_inserter(of_one),
                 [&](const std::string& s) { return s.starts_with(mine); });
    CHECK(of_one.size() == 500);
    CHECK(std::is_sorted(of_one.begin(), of_one.end()));
  }
}

TEST_CASE("a request through a proxy is answered when the other side answers") {
  fixture f;
  auto first = f.system.request(f.proxy, 4);
  auto second = f.system.request(f.proxy, 5);
  f.answer_all();
  CHECK(second.get().value() == 10);
  CHECK(first.get().value() == 8);
  CHECK(f.system.request(f.proxy, 6, duration::milliseconds(1)).get().error() == errc::timeout);
  f.answer_all();  // late
  CHECK(f.out->lines() == lines{"request 4", "request 5", "request 6", "withdrawn"});
}

TEST_CASE("an actor's request, its delegation and its timer go through a proxy as to any actor") {
  fixture f;
  struct asker : actor<protocol<result<int>(int), int(char), void(bool), int(float)>> {
    ref<remote> to;
    explicit asker(ref<remote> r) : to(std::move(r)) {}
    task<result<int>> on(int x) {
      auto asked = request(to, x);
      co_return co_await std::move(asked);
    }
    delegated<int> on(char c) { return delegate(to, static_cast<int>(c)); }
    void on(bool) { send_after(duration::milliseconds(1), to, std::string("late")); }
    task<int> on(float) {
      auto entered = send_when_room(to, std::string("there is room"));
      const result<void> sent = co_await std::move(entered);
      co_return sent.has_value() ? 1 : 0;
    }
  };
  const auto a = f.system.spawn<asker>(f.proxy);
  auto asked = f.system.request(a, 7);
  auto handed_on = f.system.request(a, 'a');
  f.wait_for_requests(1);
  f.answer_all();
  CHECK(asked.get().value() == 14);
  f.wait_for_requests(1);
  f.answer_all();
  CHECK(handed_on.get().value() == 2 * 'a');
  send(a, true);
  f.wait_for_lines(3);
  CHECK(f.out->lines().back() == "message late");
  CHECK(f.system.request(a, 1.5f).get().value() == 1);
  CHECK(f.out->lines().back() == "message there is room");
}

TEST_CASE("an answer to a proxy's request is forwarded, and not dropped as late") {
  fixture f;
  struct local : actor<protocol<int(int)>> {
    int on(int x) { return x + 1; }
  };
  const auto a = f.system.spawn<local>();
  core::envelope* const e = core::detail::make_envelope<int>(41);
  f.cell->add_strong();
  e->requester = f.cell;
  e->word |= 77;
  e->set(envelope_flag::request);
  core::handle_access::get(a)->deliver(e);
  f.wait_for_lines(1);
  CHECK(f.out->lines() == lines{"answer 77: 42"});
}

TEST_CASE("exit, kill, link and monitor act on the actor elsewhere, and the proxy lives on") {
  fixture f;
  f.system.exit(f.proxy);
  f.system.kill(f.proxy);
  CHECK(f.out->lines() ==
        lines{"exit: " + exit_reason(exit_code::user_shutdown).to_string(), "kill"});
  struct watching : actor<protocol<int(bool), void(down), void(exit_signal)>> {
    ref<remote> to;
    std::string heard;
    explicit watching(ref<remote> r) : to(std::move(r)) { trap_exit(true); }
    int on(bool all) {
      if (!all) return 0;
      link(to);
      demonitor(monitor(to));
      unlink(to);
      monitor(to);
      return 1;
    }
    void on(const down& d) { send(to, "down came: " + d.reason.to_string()); }
    void on(const exit_signal& s) { send(to, "exit came: " + s.reason.to_string()); }
  };
  const auto w = f.system.spawn<watching>(f.proxy);
  CHECK(f.system.request(w, true).get().value() == 1);
  const lines all = f.out->lines();
  CHECK(lines(all.begin() + 2, all.end()) ==
        lines{"link", "monitor", "unwatch", "unwatch", "monitor"});
  CHECK(!core::handle_access::get(f.proxy)->has_ended());
}

TEST_CASE("an actor elsewhere watches a local one, though no handle to its proxy is left here") {
  fixture f;
  struct local : actor<protocol<void(bool)>> {
    void on(bool) { quit(make_error(errc::user, "enough")); }
  };
  const auto a = f.system.spawn<local>();
  const address who = f.proxy.address();
  core::handle_access::get(a)->signal(
      core::detail::make_envelope<core::signals::watch>(who, std::uint64_t{5}));
  f.proxy = ref<remote>();
  CHECK(f.out->released == 1);
  send(a, true);
  f.wait_for_lines(1);
  CHECK(f.out->lines()[0].find("enough") != std::string::npos);
  CHECK(f.out->freed == 0);
}

TEST_CASE("after its end a proxy answers as an actor that ended for that reason") {
  fixture f;
  const exit_reason gone(make_error(errc::user, "the node is down"));
  f.cell->end(gone);
  f.cell->end(exit_code::normal);  // too late
  CHECK(core::handle_access::get(f.proxy)->has_ended());
  send(f.proxy, std::string("lost"));
  CHECK(f.system.dead_letter_count(errc::not_handled) == 1);
  const auto refused = f.system.request(f.proxy, 1).get();
  CHECK(refused.error() == errc::not_handled);
  CHECK(refused.error().to_string().find("the node is down") != std::string::npos);
  struct watching : actor<protocol<void(ref<remote>), std::string(bool), void(down)>> {
    std::string heard;
    void on(const ref<remote>& r) { monitor(r); }
    std::string on(bool) { return heard; }
    void on(const down& d) { heard = d.reason.to_string(); }
  };
  const auto w = f.system.spawn<watching>();
  send(w, f.proxy);
  std::string heard;
  while (heard.empty()) heard = f.system.request(w, true).get().value();
  CHECK(heard == gone.to_string());
  CHECK(f.out->lines().empty());
}

TEST_CASE("the end races with senders: each message is forwarded or a dead letter, none is lost") {
  for (int round = 0; round < 200; ++round) {
    fixture f;
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&ready, to = f.proxy] {
        ++ready;
        while (ready < 3) {}
        for (int i = 0; i < 20; ++i) send(to, std::string("x"));
      });
    ++ready;
    while (ready < 3) {}
    f.cell->end(exit_code::normal);
    for (std::thread& t : threads) t.join();
    CHECK(f.out->lines().size() + f.system.dead_letter_count(errc::not_handled) == 40);
  }
}

TEST_CASE("a proxy is not run in place, neither before its end nor after it") {
  fixture f;
  struct impatient : actor<protocol<bool(int)>> {
    ref<remote> to;
    explicit impatient(ref<remote> r) : to(std::move(r)) {}
    bool on(int) {
      send(to, std::string("now"));
      return run_in_place(to);
    }
  };
  const auto a = f.system.spawn<impatient>(f.proxy);
  CHECK(!f.system.request(a, 1).get().value());
  f.cell->end(exit_code::normal);
  CHECK(!f.system.request(a, 1).get().value());
}

TEST_CASE("a signal that is on its way out when the proxy ends is answered as by the dead") {
  fixture f;
  struct watching : actor<protocol<int(bool), std::string(char), void(down)>> {
    ref<remote> to;
    std::string heard;
    explicit watching(ref<remote> r) : to(std::move(r)) {}
    int on(bool) {
      monitor(to);
      return 1;
    }
    std::string on(char) { return heard; }
    void on(const down& d) { heard = d.reason.to_string(); }
  };
  const exit_reason gone(make_error(errc::user, "the node is down"));
  f.out->at_signal = [&] { f.cell->end(gone); };
  const auto w = f.system.spawn<watching>(f.proxy);
  CHECK(f.system.request(w, true).get().value() == 1);
  std::string heard;
  while (heard.empty()) heard = f.system.request(w, 'c').get().value();
  CHECK(heard == gone.to_string());
}

TEST_CASE("the last handle releases the actor that it stands for, the last address frees it") {
  fixture f;
  {
    const ref<remote> copy = f.proxy;
    const any_ref wide(copy);
    CHECK(wide == f.proxy);
  }
  CHECK(f.out->released == 0);
  address kept = f.proxy.address();
  f.proxy = ref<remote>();
  CHECK(f.out->released == 1);
  CHECK(f.out->freed == 0);
  kept = address();
  CHECK(f.out->freed == 1);
}

TEST_CASE("proxies hold up no system's end, and outlive it") {
  auto out = std::make_shared<wire>();
  ref<remote> kept;
  {
    actor_system system(quiet());
    kept = core::handle_access::adopt<remote>(new noting_proxy(system.env(), out));
    CHECK(system.shutdown(duration::seconds(20)).complete);
  }
  send(kept, std::string("still"));
  CHECK(out->lines() == lines{"message still"});
  kept = ref<remote>();
  CHECK(out->freed == 1);
}

TEST_CASE("groups, names, routers and fan_out take proxies for the actors that they stand for") {
  fixture f;
  REQUIRE(f.system.registry().put("far", f.proxy).has_value());
  CHECK(f.system.registry().get<remote>("far").value() == f.proxy);
  auto all = fan_out(f.system, std::vector<ref<remote>>{f.proxy, f.proxy}, 3);
  f.answer_all();
  const auto results = all.get();
  REQUIRE(results.has_value());
  CHECK(results.value()[0].value() == 6);
  CHECK(results.value()[1].value() == 6);
  const auto pool = router<remote, least_loaded>(std::vector<ref<remote>>{f.proxy});
  send(pool, std::string("routed"));
  CHECK(f.out->lines().back() == "message routed");
}

}  // namespace proxies_test
