// The silence that a receive time-out tells of: an actor that awaits is at work, and its silence
// begins when the await has ended. In virtual time.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace silence_test {

namespace {

using namespace garrick;
using namespace std::chrono_literals;

using source = protocol<int(duration), result<int>(atom<"never">)>;
/// Answers after a while, or not at all.
class source_actor : public actor<source> {
 public:
  task<int> on(duration after) {
    static_cast<void>(co_await delay(after));
    co_return 1;
  }
  result<int> on(atom<"never">) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }

 private:
  std::vector<response_promise<int>> kept_;
};

/// The way in which the worker waits.
enum class way { none, delay, request, twice, nested, times_out, fails, await, dropped, stops };

using work = protocol<void(way), void(atom<"beat">), std::string(atom<"told">)>;

/// Works, and notes the seconds at which it is told of silence.
class worker_actor : public actor<work> {
 public:
  explicit worker_actor(ref<source> s, duration limit = 5s, bool interleaved = false)
      : source_(std::move(s)), start_(now()) {
    set_receive_timeout(limit);
    interleave(interleaved);
  }
  task<> on(way w) {
    switch (w) {
      case way::none: break;
      case way::delay: static_cast<void>(co_await delay(12s)); break;
      case way::request: static_cast<void>(co_await request(source_, duration(12s))); break;
      case way::twice:
        for (int i = 0; i < 6; ++i) static_cast<void>(co_await delay(2s));
        break;
      case way::nested: static_cast<void>(co_await inner()); break;
      case way::times_out:
        static_cast<void>(co_await request(source_, atom<"never">(), 12s));
        break;
      case way::fails: static_cast<void>(co_await failing()); break;
      case way::await:
        request(source_, duration(6s)).await([this](int) {
          request(source_, duration(6s)).await([](int) {});
        });
        break;
      case way::dropped: static_cast<void>(co_await dropped()); break;
      case way::stops: {
        static_cast<void>(co_await delay(6s));
        set_receive_timeout(duration::infinite());
        static_cast<void>(co_await delay(6s));
        break;
      }
    }
  }
  void on(atom<"beat">) {}
  std::string on(atom<"told">) { return told_; }
  void on(const receive_timeout&) {
    told_ += " " + std::to_string((now() - start_).count() / 1'000'000'000);
    if (told_.size() > 40) set_receive_timeout(duration::infinite());
  }

 private:
  task<> inner() {
    static_cast<void>(co_await delay(6s));
    static_cast<void>(co_await delay(6s));
  }
  task<> failing() {
    static_cast<void>(co_await delay(12s));
    const result<int> r = co_await request(source_, atom<"never">(), duration());
    CHECK(r.error() == errc::timeout);
  }
  /// Sends a request and gives it up.
  task<> dropped() {
    { pending_response<int> given_up = request(source_, atom<"never">()); }
    static_cast<void>(co_await delay(12s));
  }

  ref<source> source_;
  instant start_;
  std::string told_;
};

/// Returns the times at which the worker is told of silence, within 24 seconds.
std::string told_after(way w, bool interleaved = false) {
  testkit::test_system kit;
  const auto worker = kit.spawn<worker_actor>(kit.spawn<source_actor>(), duration(5s), interleaved);
  send(worker, w);
  kit.run_for(24s);
  return kit.request(worker, atom<"told">()).get().value();
}

}  // namespace

TEST_CASE("an actor that awaits is not silent: its silence begins when the await is over") {
  CHECK(told_after(way::none) == " 5 10 15 20");
  CHECK(told_after(way::delay) == " 17 22");
  CHECK(told_after(way::request) == " 17 22");
  CHECK(told_after(way::await) == " 17 22");
}

TEST_CASE("several awaits in a row are one piece of work") {
  CHECK(told_after(way::twice) == " 17 22");
  CHECK(told_after(way::nested) == " 17 22");
}

TEST_CASE("an await that fails, times out or is given up ends the work, too") {
  CHECK(told_after(way::times_out) == " 17 22");
  CHECK(told_after(way::fails) == " 17 22");
  CHECK(told_after(way::dropped) == " 17 22");
}

TEST_CASE("a receive time-out that is switched off in the middle of the work stays off") {
  CHECK(told_after(way::stops) == "");
}

TEST_CASE("an actor that interleaves is told of silence while its coroutines wait") {
  CHECK(told_after(way::delay, true) == " 5 10 15 20");
}

TEST_CASE("mail that waited behind the await begins the silence anew, and no time-out is lost") {
  testkit::test_system kit;
  const auto worker = kit.spawn<worker_actor>(kit.spawn<source_actor>());
  send(worker, way::delay);
  kit.run_for(11s);
  send(worker, way::delay);  // from 12 to 24
  send(worker, atom<"beat">());
  kit.run_for(20s);
  CHECK(kit.request(worker, atom<"told">()).get().value() == " 29");
  kit.run_for(6s);
  CHECK(kit.request(worker, atom<"told">()).get().value() == " 29 36");
}

TEST_CASE("a time-out of no time is told again and again, but never while its actor awaits") {
  testkit::test_system kit;
  struct hasty : actor<protocol<void(atom<"go">), int(atom<"told">)>> {
    int told = 0;
    bool works = false;
    task<> on(atom<"go">) {
      set_receive_timeout({});
      works = true;
      static_cast<void>(co_await delay(12s));
      static_cast<void>(co_await delay(1s));
      works = false;
    }
    int on(atom<"told">) { return told; }
    void on(const receive_timeout&) {
      CHECK_FALSE(works);
      if (++told == 3) set_receive_timeout(duration::infinite());
    }
  };
  const auto h = kit.spawn<hasty>();
  send(h, atom<"go">());
  kit.run_for(14s);
  CHECK(kit.request(h, atom<"told">()).get().value() == 3);
}

TEST_CASE("on_start may await with a receive time-out, and a restart forgets both") {
  struct starting : actor<protocol<std::string(atom<"told">), void(atom<"boom">)>> {
    std::string told;
    instant born = now();
    task<> on_start() {
      set_receive_timeout(5s);
      static_cast<void>(co_await delay(12s));
    }
    std::string on(atom<"told">) { return told; }
    void on(atom<"boom">) { throw std::runtime_error("boom"); }
    void on(const receive_timeout&) {
      told += " " + std::to_string((now() - born).count() / 1'000'000'000);
    }
  };
  struct boss : actor<protocol<ref<starting::protocol_type>(atom<"child">)>> {
    ref<starting::protocol_type> child = supervise<starting>();
    ref<starting::protocol_type> on(atom<"child">) { return child; }
  };
  testkit::test_system kit;
  const auto top = kit.spawn<boss>();
  const auto child = kit.request(top, atom<"child">()).get().value();
  kit.run_for(18s);
  CHECK(kit.request(child, atom<"told">()).get().value() == " 17");
  send(child, atom<"boom">());
  kit.run_for(18s);
  CHECK(kit.request(child, atom<"told">()).get().value() == " 17");
}

TEST_CASE("the `after` of a behavior waits for the end of an await, too") {
  testkit::test_system kit;
  const auto s = kit.spawn<source_actor>();
  int told = 0;
  const auto waiting = kit.spawn(
      [](dynamic_actor& self, ref<source> from, int& count) -> behavior {
        return {
            [&self, from](atom<"go">) -> task<> {
              static_cast<void>(co_await self.request(from, duration(12s)));
            },
            [&self, from](atom<"await">) { self.request(from, duration(12s)).await([](int) {}); },
            after(5s) >> [&count] { ++count; }};
      },
      s, lent(told));
  send(waiting, atom<"go">());
  kit.run_for(14s);
  CHECK(told == 0);
  send(waiting, atom<"await">());  // from 14 to 26
  kit.run_for(16s);
  CHECK(told == 0);
  kit.run_for(1500ms);
  CHECK(told == 1);
}

}  // namespace silence_test
