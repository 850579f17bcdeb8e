// The parts of windows alone: their state after a clear or an exception, and the inputs that hold a
// watermark back.
#include <doctest/doctest.h>
#include <garrick/patterns/detail/watermark.hpp>
#include <patterns/windows/windows_reference.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace window_parts_test {

namespace {

using namespace garrick;
using namespace garrick::tests;
namespace detail = patterns::detail;

/// Gets the windows.
struct sink {
  all_found got{};
  void begin_input() noexcept {}
  [[nodiscard]] bool is_blocked() const noexcept { return false; }
  void put(found&& w) { got.push_back(std::move(w)); }
};
bool merges_badly = false;
ids both_or_bad(ids a, ids b) {
  if (std::exchange(merges_badly, false)) throw std::runtime_error("a bad merge");
  return both(std::move(a), std::move(b));
}
using lists = detail::folding<event, ids, decltype(&add), decltype(&both_or_bad)>;
template <bool Slides>
using windows_of = detail::pane_windows<Slides, event, int, lists, found>;

/// A key and a state of which there is none without an argument.
class room {
 public:
  using garrick_sendable = void;
  explicit room(int number) : number_(number) {}
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] friend bool operator==(const room&, const room&) = default;

 private:
  int number_;
};
room room_of(const event& e) { return room(e.key); }
room highest(room so_far, event e) { return room(std::max(so_far.number(), e.number)); }
room higher(room a, room b) { return room(std::max(a.number(), b.number())); }
std::vector<room> rooms(std::span<const event> all) {
  return std::vector<room>(all.size(), room(7));
}

struct nobody final : detail::wakeable {
  void wake(detail::turn* /*by*/, std::size_t /*tuples*/) noexcept override {}
};

}  // namespace

}  // namespace window_parts_test

template <>
struct std::hash<window_parts_test::room> {
  std::size_t operator()(const window_parts_test::room& r) const noexcept {
    return static_cast<std::size_t>(r.number());
  }
};

namespace window_parts_test {

TEST_CASE("keys and states of windows need no default constructor") {
  testkit::test_system kit;
  const events in{{1, 4, 0}, {2, 4, 3}, {3, 5, 4}, {4, 4, 12}};
  using seen = std::vector<std::tuple<int, std::int64_t, int>>;
  const auto results_of = [&](auto windows) {
    auto list =
        patterns::fold(seen(), [](seen all, patterns::windowed<room, room, std::int64_t> w) {
          all.emplace_back(w.key.number(), w.begin, w.value.number());
          return all;
        });
    const auto h =
        patterns::spawn(kit, pipeline(patterns::from(in), std::move(windows), std::move(list)));
    auto got = kit.request(h, patterns::join{}).get().value();
    std::sort(got.begin(), got.end());
    return got;
  };
  const auto by_room = [](auto kind) { return patterns::window(kind).by(room_of); };
  const seen want{{4, 0, 2}, {4, 10, 4}, {5, 0, 3}};
  CHECK(results_of(by_room(patterns::tumbling(10)).event_time(&event::at).fold(room(0), highest)) ==
        want);
  CHECK(results_of(by_room(patterns::tumbling(10))
                       .event_time(&event::at)
                       .replicas(2)
                       .fold(room(0), highest)) == want);
  CHECK(results_of(
            by_room(patterns::sessions(5)).event_time(&event::at).fold(room(0), highest, higher)) ==
        seen{{4, 0, 2}, {4, 12, 4}, {5, 4, 3}});
  CHECK(results_of(by_room(patterns::tuples(2)).fold(room(0), highest)) ==
        seen{{4, 0, 2}, {4, 2, 4}, {5, 0, 3}});
  const auto lists = by_room(patterns::tumbling(10)).event_time(&event::at).all(rooms);
  static_assert(std::is_same_v<decltype(lists)::output,
                               patterns::windowed<room, std::vector<room>, std::int64_t>>);
}

TEST_CASE("windows that were cleared have room for as many as before") {
  windows_of<false> w(10, 10, lists(ids(), &add, &both_or_bad), 3);
  for (int round = 0; round < 5; ++round) {
    CAPTURE(round);
    for (int key = 0; key < 3; ++key)
      CHECK(w.take(5, key, detail::hash_of(key), event{key, key, 5}));
    w.clear();
    CHECK(w.next() == detail::no_time);
  }
}

TEST_CASE("a result that could not be put together says nothing of the next window") {
  windows_of<true> w(4, 2, lists(ids(), &add, &both_or_bad), 100);
  for (int t = 0; t < 12; ++t) CHECK(w.take(t, 0, detail::hash_of(0), event{t, 0, t}));
  w.watermark_is(detail::end_of_time);
  sink out;
  merges_badly = true;
  int failures = 0;
  while (w.is_due(detail::end_of_time)) try {
      w.put_due(out);
    } catch (const std::runtime_error&) { ++failures; }
  CHECK(failures == 1);
  CHECK(out.got.size() == 6);
  CHECK(w.counts().kept() == 0);
}

TEST_CASE("a watermark waits for inputs that have something or were read, and for no others") {
  const auto at = [](std::int64_t ms) { return instant::at(duration::milliseconds(ms)); };
  const auto channel_for_two = [] {
    return std::make_shared<detail::channel>(detail::tuple_type_of<int>, std::size_t{2});
  };
  nobody producer;
  detail::inputs in(detail::tuple_type_of<int>);
  const auto a = channel_for_two();
  const auto b = channel_for_two();
  in.add(a, producer);
  in.add(b, producer);
  detail::watermark w(0, duration::milliseconds(10));
  w.time_is(at(0));
  w.inputs_are(in);
  w.reads(0);
  w.saw(5);
  CHECK(w.value() == detail::watermark::unknown);
  w.reads(1);
  w.saw(3);
  CHECK(w.value() == 3);
  // something waits in the second one, which so is not silent
  *static_cast<int*>(b->ring.claim(0).first) = 1;
  b->ring.publish(1);
  w.time_is(at(20));
  w.inputs_are(in);
  w.on_time(at(20));
  CHECK(w.value() == 3);
  CHECK(w.deadline() == at(30));
  // the first one is read again, and then the second one ends
  w.reads(0);
  CHECK(w.deadline() == at(30));
  b->ring.discard(1);
  b->ring.close();
  w.time_is(at(25));
  w.inputs_are(in);
  CHECK(w.value() == 5);
  w.reads(0);
  CHECK(w.deadline() == at(35));
}

}  // namespace window_parts_test
