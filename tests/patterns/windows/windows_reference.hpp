// Shared helpers of the tests of windows and joins: events out of order, made from a seed; windows
// of all kinds by the words of their contract, one event after the other; and runs of a pattern.
//
// A window's value is the sorted numbers of the events in it. So a comparison finds an event that
// is missing, that is there twice, or in the wrong window.
#pragma once

#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/explore.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace garrick::tests {

struct event {
  int number = 0;  ///< from 0 on; a negative one makes `add` throw
  int key = 0;
  std::int64_t at = 0;

  [[nodiscard]] friend bool operator==(const event&, const event&) = default;
};
using events = std::vector<event>;
using ids = std::vector<int>;
template <class Time>
using window_of_ids = patterns::windowed<int, ids, Time>;
using found = window_of_ids<std::int64_t>;
using all_found = std::vector<found>;

inline ids add(ids all, event e) {
  if (e.number < 0) throw std::runtime_error("a bad event");
  all.push_back(e.number);
  return all;
}
inline ids both(ids a, ids b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline ids numbers_of(std::span<const event> all) {
  ids n;
  for (const event& e : all) n = add(std::move(n), e);
  return n;
}

/// Sorted, so that the order between keys does not matter.
template <class W>
[[nodiscard]] std::vector<W> sorted(std::vector<W> all) {
  for (W& w : all) std::sort(w.value.begin(), w.value.end());
  std::sort(all.begin(), all.end(), [](const W& a, const W& b) {
    return std::tuple(a.end, a.begin, a.key, a.value) < std::tuple(b.end, b.begin, b.key, b.value);
  });
  return all;
}

/// This many events, about one a tick, of which some are up to `jitter` behind.
[[nodiscard]] inline events disordered(std::uint64_t seed, int n, int keys, std::int64_t jitter) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t most) {
    return most <= 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  events all;
  std::int64_t now = below(100) - 50;
  for (int i = 0; i < n; ++i) {
    now += below(40) == 0 ? below(60) : below(3);
    const bool behind = below(3) == 0;
    all.push_back({i, static_cast<int>(below(keys)), now - (behind ? below(jitter + 1) : 0)});
  }
  return all;
}

/// The expected windows and late events.
struct expected {
  all_found windows{};
  std::set<int> late{};
};

/// The highest watermark up to each event, before that event.
class reference_watermark {
 public:
  explicit reference_watermark(std::int64_t disorder) : disorder_(disorder) {}
  [[nodiscard]] bool has_passed(std::int64_t end) const { return seen_ && end <= value_; }
  [[nodiscard]] bool is_behind(std::int64_t t) const { return seen_ && t < value_; }
  void see(std::int64_t t) {
    const std::int64_t w = t - disorder_;
    value_ = seen_ ? std::max(value_, w) : w;
    seen_ = true;
  }

 private:
  std::int64_t disorder_;
  std::int64_t value_ = 0;
  bool seen_ = false;
};

/// Each window by itself: no panes.
[[nodiscard]] inline expected time_windows(const events& in, std::int64_t length,
                                           std::int64_t slide, std::int64_t disorder) {
  expected all;
  std::map<std::pair<int, std::int64_t>, ids> open;
  reference_watermark mark(disorder);
  for (const event& e : in) {
    bool taken = false;
    std::int64_t first = e.at - length;  // windows that begin behind this
    while (first % slide != 0) ++first;
    for (std::int64_t begin = first; begin <= e.at; begin += slide) {
      if (e.at >= begin + length || mark.has_passed(begin + length)) continue;
      open[{e.key, begin}].push_back(e.number);
      taken = true;
    }
    if (!taken) all.late.insert(e.number);
    mark.see(e.at);
  }
  for (auto& [of, numbers] : open)
    all.windows.push_back({of.first, of.second, of.second + length, numbers});
  all.windows = sorted(std::move(all.windows));
  return all;
}

/// The expected sessions, and how many of them have ended after each event.
struct expected_sessions : expected {
  std::vector<std::size_t> ended{};
};
/// Sessions by their definition: the events of a key that are in time, sorted, and cut where the
/// next one is a gap later. They are cut again after each event. An event behind the watermark is
/// in time only between the begin and the end of a session that has not ended.
[[nodiscard]] inline expected_sessions sessions(const events& in, std::int64_t gap,
                                                std::int64_t disorder) {
  expected_sessions all;
  std::map<int, std::map<std::pair<std::int64_t, int>, int>> in_time;
  const auto cut = [&] {
    all_found now;
    for (const auto& [key, sorted_by_time] : in_time)
      for (const auto& [of, number] : sorted_by_time) {
        if (now.empty() || now.back().key != key || of.first >= now.back().end)
          now.push_back({key, of.first, of.first, {}});
        now.back().end = of.first + gap;
        now.back().value.push_back(number);
      }
    return now;
  };
  reference_watermark mark(disorder);
  for (const event& e : in) {
    bool late = mark.is_behind(e.at);
    for (const found& w : cut())
      if (w.key == e.key && w.begin <= e.at && e.at < w.end && !mark.has_passed(w.end))
        late = false;
    if (late)
      all.late.insert(e.number);
    else
      in_time[e.key][{e.at, e.number}] = e.number;
    mark.see(e.at);
    std::size_t ended = 0;
    for (const found& w : cut()) ended += mark.has_passed(w.end) ? 1 : 0;
    all.ended.push_back(ended);
  }
  all.windows = sorted(cut());
  return all;
}

/// Windows of a number of events of a key; at the end, those that have begun.
[[nodiscard]] inline expected counted(const events& in, std::size_t length, std::size_t slide) {
  expected all;
  std::map<int, ids> of;
  for (const event& e : in) of[e.key].push_back(e.number);
  for (const auto& [key, numbers] : of)
    for (std::size_t begin = 0; begin < numbers.size(); begin += slide) {
      const std::size_t end = std::min(begin + length, numbers.size());
      all.windows.push_back({key, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end),
                             ids(numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                                 numbers.begin() + static_cast<std::ptrdiff_t>(end))});
    }
  all.windows = sorted(std::move(all.windows));
  return all;
}

/// A pattern from In to Out, of any type: so that few streams are compiled.
template <class In, class Out>
class any_of {
  using in_ptr = patterns::detail::inlet_ptr<In>;
  using out_ptr = patterns::detail::inlet_ptr<Out>;

 public:
  using garrick_stage = void;
  using garrick_sendable = void;
  using input = In;
  using output = Out;
  static constexpr bool garrick_keeps_order = false;

  template <class P>
  any_of(P p) : what_(std::make_shared<holder<P>>(std::move(p))) {}
  [[nodiscard]] patterns::plan describe() const {
    return {.what = "pipeline", .emitter = false, .parts = {what_->describe()}};
  }
  in_ptr build(const patterns::detail::builder& b, const out_ptr& next) const {
    return what_->build(b, next);
  }

 private:
  struct held {
    held() = default;
    virtual ~held() = default;
    held(const held&) = delete;
    held& operator=(const held&) = delete;
    [[nodiscard]] virtual patterns::plan describe() const = 0;
    virtual in_ptr build(const patterns::detail::builder& b, const out_ptr& next) const = 0;
  };
  template <class P>
  struct holder final : held {
    explicit holder(P p) : pattern(std::move(p)) {}
    [[nodiscard]] patterns::plan describe() const override { return pattern.describe(); }
    in_ptr build(const patterns::detail::builder& b, const out_ptr& next) const override {
      return pattern.build(b, next);
    }
    P pattern;
  };
  std::shared_ptr<const held> what_;
};
using any_windows = any_of<event, found>;

/// The outcome of a stream.
template <class W = found>
struct outcome {
  result<std::vector<W>> windows = std::vector<W>();
  patterns::stream_report report{};

  /// The figures of the nodes of this name together; of all others if it is empty.
  [[nodiscard]] patterns::node_figures of(const std::string& name) const {
    for (const patterns::stage_report& s : report.by_stage().stages)
      if (s.name == name) return s.figures;
    return {};
  }
};

template <class T>
[[nodiscard]] auto into_vector() {
  return patterns::fold(std::vector<T>(), [](std::vector<T> all, T x) {
    all.push_back(std::move(x));
    return all;
  });
}

/// Runs a stream to its end.
[[nodiscard]] inline outcome<> run(testkit::test_system& kit, const events& in,
                                   const any_windows& windows, patterns::stream_options o = {}) {
  outcome<> all;
  const auto h = patterns::spawn(
      kit, patterns::pipeline(patterns::from(in), windows, into_vector<found>()), o);
  kit.run();
  all.windows = kit.request(h, patterns::join{}).get();
  all.report = kit.request(h, patterns::get_report{}).get().value();
  return all;
}

/// As the reference says: the same windows, each once, and as many late events.
inline void require_as_expected(const outcome<>& got, const expected& want,
                                const std::string& name = "window") {
  REQUIRE(got.windows.has_value());
  REQUIRE(sorted(got.windows.value()) == want.windows);
  REQUIRE(got.of(name).late == want.late.size());
  REQUIRE(got.of(name).dropped == 0);
}

}  // namespace garrick::tests
