// Any allocation that fails while a window of a number of tuples takes a tuple or is put out: the
// tuple or the result is lost, and the other windows keep theirs.
#include <doctest/doctest.h>
#include <patterns/windows/windows_reference.hpp>
#include <support/failing_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace windows_no_memory_test {

namespace {

using namespace garrick;
using namespace garrick::tests;
namespace detail = patterns::detail;

constexpr std::size_t plenty = 1'000'000;

/// Gets the windows, and never fails itself.
struct sink {
  all_found got{};
  void begin_input() noexcept {}
  [[nodiscard]] bool is_blocked() const noexcept { return false; }
  void put(found&& w) {
    const int armed = std::exchange(failing_allocation, 0);
    got.push_back(std::move(w));
    failing_allocation = armed;
  }
};

template <bool Slides>
using kept_counted =
    detail::counted_windows<Slides, event, int,
                            detail::folding<event, ids, decltype(&add), decltype(&both)>, found>;

/// Calls `f` with the n-th allocation failing. Returns false if an allocation has failed.
template <class F>
bool holds(int n, const F& f) {
  failing_allocation = n;
  try {
    f();
    failing_allocation = 0;
    return true;
  } catch (const std::bad_alloc&) {
    failing_allocation = 0;
    return false;
  }
}

/// Puts out the open windows at the end.
template <class Windows>
void finish(Windows& w, sink& out) {
  w.end();
  w.put_due(out);
}

/// Takes 120 tuples of two keys. From the second one of a key on an allocation fails, another one
/// for each tuple. Returns how many tuples have failed.
template <class Windows>
std::size_t take_with_failures(Windows& w, sink& out, int first) {
  std::size_t failed = 0;
  for (int i = 0; i < 120; ++i) {
    const int failing = i < 2 ? 0 : 1 + (first + i / 2) % 7;
    if (!holds(failing, [&] { w.take(i % 2, event{i, i % 2, 0}, out); })) ++failed;
  }
  return failed;
}

}  // namespace

TEST_CASE("windows of so many tuples have that many, whichever allocation fails") {
  const detail::folding<event, ids, decltype(&add), decltype(&both)> lists(ids(), &add, &both);
  std::size_t all_failures = 0;
  for (int first = 0; first < 7; ++first)
    for (const std::int64_t slide : {1, 2, 3}) {
      CAPTURE(first);
      CAPTURE(slide);
      kept_counted<true> w(6, slide, lists, plenty);
      w.goes_on_after_failures();
      sink out;
      all_failures += take_with_failures(w, out, first);
      finish(w, out);
      for (const found& one : out.got)
        CHECK(static_cast<std::int64_t>(one.value.size()) == one.end - one.begin);
      CHECK(w.counts().kept() == 0);
    }
  CHECK(all_failures > 0);
}

TEST_CASE("whichever allocation fails, each tuple of a window of so many is counted once") {
  const detail::folding<event, ids, decltype(&add), decltype(&both)> lists(ids(), &add, &both);
  std::size_t all_failures = 0;
  for (int first = 0; first < 7; ++first) {
    CAPTURE(first);
    kept_counted<false> w(5, 5, lists, plenty);
    w.goes_on_after_failures();
    sink out;
    const std::size_t failed = take_with_failures(w, out, first);
    finish(w, out);
    std::size_t in_results = 0;
    for (const found& one : out.got) {
      CHECK(static_cast<std::int64_t>(one.value.size()) == one.end - one.begin);
      in_results += one.value.size();
    }
    CHECK(in_results + failed + w.counts().take_lost() == 120);
    all_failures += failed;
  }
  CHECK(all_failures > 0);
}

}  // namespace windows_no_memory_test
