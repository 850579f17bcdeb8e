// The parts of windows alone: what is left of one that was cleared or that threw, and which inputs
// hold a watermark back.
#include <doctest/doctest.h>
#include <garrick/patterns/detail/watermark.hpp>
#include <patterns/windows/windows_reference.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

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

struct nobody final : detail::wakeable {
  void wake(detail::turn* /*by*/, std::size_t /*tuples*/) noexcept override {}
};

}  // namespace

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
