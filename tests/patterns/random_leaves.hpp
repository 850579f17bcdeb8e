// The tuples and the stages of random streams: the result of each stage for each tuple is a
// function of both and of the seed.
#pragma once

#include <garrick/patterns/patterns.hpp>

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace garrick::random_streams {

using namespace garrick::patterns;

/// The tuple of all streams. `age` counts the stages that it has come through, so that loops end.
struct item {
  std::uint64_t value = 0;
  std::uint32_t age = 0;
  std::string text;  ///< "v" and the value: a tuple that owns memory, and shows every move

  static item of(std::uint64_t value, std::uint32_t age) {
    return {value, age, "v" + std::to_string(value)};
  }
  [[nodiscard]] bool is_whole() const { return text == "v" + std::to_string(value); }
  auto operator<=>(const item&) const = default;
};
using items = std::vector<item>;

inline std::uint64_t mix(std::uint64_t z) noexcept {
  z += 0x9e3779b97f4a7c15ull;  // SplitMix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Numbers from a seed.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) noexcept : state_(mix(seed)) {}
  /// 0 to n - 1.
  std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>((state_ = mix(state_)) % n);
  }
  bool one_in(std::uint32_t n) noexcept { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// The decision for one tuple at one stage: a function of both.
struct decision {
  std::uint32_t results = 0;
  std::uint32_t put_before_it_throws = 0;
  bool throws = false;
  std::uint64_t from = 0;

  [[nodiscard]] static item result(std::uint64_t from, std::uint32_t i, std::uint32_t age) {
    return item::of(mix(from + i), age + 1);
  }
};

constexpr std::size_t most_stages = 64;

/// Tuples that have come by, and how often.
using counted_items = std::map<item, std::uint32_t>;

/// The shared part of the stages of one stream: their behaviour, and the counts for the test.
struct behaviour {
  std::uint64_t seed = 0;
  std::array<on_failure, most_stages> policies{};
  std::array<bool, most_stages> one_to_one{};
  std::uint32_t bomb = most_stages;  ///< this one ends the stream by an exception
  bool bad_routes = false;           ///< so does each choice of a way
  std::array<std::atomic<std::uint64_t>, most_stages> consumed{};
  std::atomic<std::uint64_t> thrown{0};
  std::atomic<std::uint64_t> refused{0};  ///< answers that were errors
  std::atomic<std::uint64_t> wrong{0};    ///< tuples and states that were not as they have to be
  items got;                              ///< the sink's

  [[nodiscard]] decision decide(std::uint32_t id, std::uint64_t value) const noexcept {
    static constexpr std::array<std::uint32_t, 16> how_many{0, 0, 0, 0, 1, 1, 1, 1,
                                                            1, 1, 1, 1, 2, 2, 2, 3};
    decision d{.from = mix(seed ^ mix(id) ^ value)};
    d.results = one_to_one[id] ? 1 : how_many[d.from % 16];
    d.put_before_it_throws = static_cast<std::uint32_t>((d.from >> 8) % (d.results + 1));
    const std::uint64_t luck = (d.from >> 16) % 32;
    d.throws = id == bomb ? luck < 4 : policies[id] != on_failure::fail && luck < 6;
    return d;
  }
  [[nodiscard]] item last_word(std::uint32_t id) const { return item::of(mix(seed + id), 0); }

  /// Notes that the tuple has passed a witness.
  void saw(std::uint32_t id, const item& x) {
    const std::lock_guard hold(lock_);
    ++seen_[id][x];
  }
  /// The tuples of each witness, when the stream has ended.
  [[nodiscard]] std::map<std::uint32_t, counted_items> seen() const {
    const std::lock_guard hold(lock_);
    return seen_;
  }

 private:
  mutable std::mutex lock_;
  std::map<std::uint32_t, counted_items> seen_;
};
using shared_behaviour = std::shared_ptr<behaviour>;

/// The same stages for another stream.
inline shared_behaviour twin_of(const behaviour& b) {
  auto twin = std::make_shared<behaviour>();
  twin->seed = b.seed;
  twin->policies = b.policies;
  twin->one_to_one = b.one_to_one;
  twin->bomb = b.bomb;
  twin->bad_routes = b.bad_routes;
  return twin;
}
/// For the arguments of an actor.
struct behaviour_of {
  using garrick_sendable = void;
  shared_behaviour all;
};

// ---- functions and classes ----------------------------------------------------------------------

/// A stage with state: whether it has begun, and whether it has thrown since it was made.
class leaf {
 public:
  leaf(shared_behaviour b, std::uint32_t id) : all_(std::move(b)), id_(id) {}
  void on_start() { started_ = true; }
  void consume(item in, emit<item> out) { work(std::move(in), out); }

 protected:
  template <class To>
  void work(item in, To& out) {
    const decision d = takes(in);
    for (std::uint32_t i = 0; i < d.results; ++i) {
      if (d.throws && i == d.put_before_it_throws) fail();
      out(decision::result(d.from, i, in.age));
    }
    if (d.throws) fail();
  }
  decision takes(const item& in) {
    if (!started_ || !in.is_whole() || (broken_ && all_->policies[id_] == on_failure::restart))
      ++all_->wrong;
    ++all_->consumed[id_];
    return all_->decide(id_, in.value);
  }
  [[noreturn]] void fail() {
    broken_ = true;
    ++all_->thrown;
    throw std::runtime_error("bad luck");
  }

  shared_behaviour all_;
  std::uint32_t id_;
  bool started_ = false;
  bool broken_ = false;
};
/// One result for each tuple.
class single_leaf : public leaf {
 public:
  using leaf::leaf;
  item consume(item in) {
    item made;
    const auto keep = [&](item x) { made = std::move(x); };
    work(std::move(in), keep);
    return made;
  }
};
/// A leaf that is kept when it has thrown.
class kept_leaf : public leaf {
 public:
  using leaf::leaf;
  void on_restart() { broken_ = false; }
};
/// A leaf that puts something out at its end.
class last_word_leaf : public leaf {
 public:
  using leaf::leaf;
  void on_stop(emit<item> out) { out(all_->last_word(id_)); }
};
/// A coroutine.
class unfolding_leaf {
 public:
  using garrick_sendable = void;
  unfolding_leaf(shared_behaviour b, std::uint32_t id) : all_(std::move(b)), id_(id) {}
  generator<item> operator()(item in) {
    if (!in.is_whole()) ++all_->wrong;
    ++all_->consumed[id_];
    const decision d = all_->decide(id_, in.value);
    for (std::uint32_t i = 0; i < d.results; ++i) {
      if (d.throws && i == d.put_before_it_throws) fail();
      item made = decision::result(d.from, i, in.age);
      co_yield std::move(made);
    }
    if (d.throws) fail();
  }

 private:
  [[noreturn]] void fail() {
    ++all_->thrown;
    throw std::runtime_error("bad luck");
  }

  shared_behaviour all_;
  std::uint32_t id_;
};
/// Notes all tuples.
class witness {
 public:
  witness(shared_behaviour b, std::uint32_t id) : all_(std::move(b)), id_(id) {}
  item consume(item in) {
    all_->saw(id_, in);
    return in;
  }

 private:
  shared_behaviour all_;
  std::uint32_t id_;
};
/// Takes the number of a source off again, and notes all tuples. Each number comes once, and in
/// their order if the source has one way only.
class numbered_witness {
 public:
  numbered_witness(shared_behaviour b, std::uint32_t id, bool in_order)
      : all_(std::move(b)), id_(id), in_order_(in_order) {}
  item consume(std::pair<item, std::uint64_t> in) {
    if (!seen_.insert(in.second).second || (in_order_ && in.second + 1 != seen_.size()))
      ++all_->wrong;
    all_->saw(id_, in.first);
    return std::move(in.first);
  }

 private:
  shared_behaviour all_;
  std::uint32_t id_;
  bool in_order_;
  std::set<std::uint64_t> seen_;
};
/// A predicate that owns its number.
struct is_kept {
  std::uint64_t number;
  bool operator()(item in) const noexcept { return mix(in.value ^ number) % 8 != 0; }
};
struct goes_again {
  std::uint64_t number;
  bool operator()(const item& x) const noexcept {
    return x.age < 24 && mix(x.value ^ number) % 3 == 0;
  }
};
struct key_of {
  std::uint64_t operator()(const item& x) const noexcept { return x.value % 7; }
};
struct by_value {
  shared_behaviour all{};  ///< if there is one, some choices fail

  std::size_t operator()(const item& x, std::size_t n) const {
    if (all != nullptr && mix(x.value) % 16 == 0) {
      ++all->thrown;
      throw std::runtime_error("no way");
    }
    return x.value % n;
  }
};

// ---- data-parallel patterns ---------------------------------------------------------------------

/// An element of the container that a `mapped` leaf, and its like, makes of its tuple.
struct cell {
  std::uint64_t value = 0;
  std::uint64_t origin = 0;  ///< the tuple's value
  std::uint32_t age = 0;     ///< the tuple's
  bool decides = false;  ///< one of each container: here it fails, if it does, at its first time
};
using cells = std::vector<cell>;

/// The work of a `mapped` leaf: a tuple becomes some elements, each is changed and computed from
/// its neighbours a few times, and their values are put together in their order.
struct cell_steps {
  static constexpr std::int64_t iterations = 3;

  [[nodiscard]] static cells taken_apart(const item& in) {
    cells all(1 + in.value % 9);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = {.value = mix(in.value + i), .origin = in.value, .age = in.age};
    all[(in.value >> 8) % all.size()].decides = true;
    return all;
  }
  [[nodiscard]] static std::uint64_t changed(std::uint64_t value, std::size_t at) {
    return mix(value ^ at);
  }
  [[nodiscard]] static cell between(const cell& left, const cell& one, const cell& right) {
    cell made = one;
    made.value = mix(left.value * 3 + one.value * 5 + right.value * 7);
    return made;
  }
  [[nodiscard]] static std::uint64_t once_more(std::uint64_t value) { return mix(value + 1); }
  [[nodiscard]] static bool goes_round(const cell& c) { return c.value % 3 == 0; }
  [[nodiscard]] static bool are_few(std::span<const cell> some) { return some.size() <= 2; }
  /// Finishes the whole after its halves.
  static void put_together(std::span<cell> all) {
    all.front().value = mix(all.front().value * 3 + all.back().value);
  }
  [[nodiscard]] static item word(const cell& c) { return item::of(c.value, c.age + 1); }
  /// Associative, and not commutative: the words' upper and lower halves as x ↦ u·x + l.
  [[nodiscard]] static item joined(const item& a, const item& b) {
    const auto upper = [](const item& x) { return (x.value >> 32) | 1U; };
    const auto u = static_cast<std::uint32_t>(upper(a) * upper(b));
    const auto l = static_cast<std::uint32_t>(upper(b) * (a.value & low) + (b.value & low));
    return item::of(std::uint64_t{u} << 32 | l, a.age);
  }

 private:
  static constexpr std::uint64_t low = 0xffff'ffff;
};

/// A leaf that works on cells fails at one of them.
struct on_cells {
  using garrick_sendable = void;
  shared_behaviour all;
  std::uint32_t id;

 protected:
  void try_luck(cell& c) const {
    if (!std::exchange(c.decides, false)) return;
    ++all->consumed[id];
    if (!all->decide(id, c.origin).throws) return;
    ++all->thrown;
    throw std::runtime_error("bad luck");
  }
};
/// Changes an element.
struct changing : on_cells {
  void operator()(cell& c, std::size_t at) const {
    try_luck(c);
    c.value = cell_steps::changed(c.value, at);
  }
};
/// Changes a cell that may go round again.
struct going_round : on_cells {
  void operator()(cell& c) const {
    try_luck(c);
    c.value = cell_steps::once_more(c.value);
  }
};
/// Changes a few.
struct solving : on_cells {
  void operator()(std::span<cell> few) const {
    for (cell& c : few) {
      try_luck(c);
      c.value = cell_steps::once_more(c.value);
    }
  }
};

/// The work of a `divided` leaf: a tuple becomes two or three smaller ones, and these again, down
/// to some depth, and their final values are put together in their order.
struct dividing_steps {
  [[nodiscard]] static bool is_small(const item& x) {
    return x.age / level == deepest || (mix(x.value) & 3U) == 0;
  }
  [[nodiscard]] static items divided(const item& x) {
    items some;
    for (std::uint64_t i = 0; i < 2 + x.value % 2; ++i)
      some.push_back(item::of(mix(x.value + i), x.age + level));
    return some;
  }
  [[nodiscard]] static item solved(const item& x) {
    return item::of(mix(x.value ^ 1U), x.age % level + 1);
  }
  [[nodiscard]] static item merged(const items& some) {
    std::uint64_t all = some.size();
    for (const item& x : some) all = mix(all ^ x.value);
    return item::of(all, some.front().age);
  }
  [[nodiscard]] static item marked(item x) {
    x.age += mark;
    return x;
  }
  [[nodiscard]] static bool is_whole_problem(const item& x) { return x.age < level; }
  [[nodiscard]] static bool is_marked(const item& x) { return x.age % level >= mark; }

 private:
  static constexpr std::uint32_t level = 1'000;  ///< an age below is a tuple's own
  static constexpr std::uint32_t deepest = 3;
  static constexpr std::uint32_t mark = 500;  ///< added to an age: this part fails
};

/// Returns true for a small problem. If the leaf fails, it does so here: for the whole problem, or
/// for a part.
struct is_small {
  using garrick_sendable = void;
  shared_behaviour all;
  std::uint32_t id;

  bool operator()(const item& x) const {
    using steps = dividing_steps;
    if (!x.is_whole()) ++all->wrong;
    const bool small = steps::is_small(x);
    if (steps::is_whole_problem(x)) {
      ++all->consumed[id];
      if (all->decide(id, x.value).throws && (small || x.value % 4 == 0)) fail();
    } else if (steps::is_marked(x)) {
      fail();
    }
    return small;
  }

 private:
  [[noreturn]] void fail() const {
    ++all->thrown;
    throw std::runtime_error("bad luck");
  }
};
/// Divides a problem. Marks a part if the leaf fails.
struct dividing {
  using garrick_sendable = void;
  shared_behaviour all;
  std::uint32_t id;

  items operator()(const item& x) const {
    items some = dividing_steps::divided(x);
    if (dividing_steps::is_whole_problem(x) && all->decide(id, x.value).throws)
      some.back() = dividing_steps::marked(std::move(some.back()));
    return some;
  }
};

// ---- actors -------------------------------------------------------------------------------------

/// To itself: the oldest tuple that waits has its turn.
struct later {};

/// A stage that is an actor. It deals with a third of its tuples on a turn of their own, where
/// failures are said and not thrown.
class acting_leaf : public stage_actor<item, item, void(later)> {
 public:
  acting_leaf(behaviour_of b, std::uint32_t id, bool says_last_word)
      : all_(std::move(b.all)), id_(id), says_last_word_(says_last_word) {}
  void on_start() { started_ = true; }
  void consume(item in) {
    if (!started_ || !in.is_whole() || (broken_ && all_->policies[id_] == on_failure::restart))
      ++all_->wrong;
    ++all_->consumed[id_];
    if (mix(in.value) % 3 == 0) {
      waiting_.push_back({std::move(in), hold()});
      send(ref<protocol<void(later)>>(self()), later{});
      return;
    }
    const decision d = all_->decide(id_, in.value);
    for (std::uint32_t i = 0; i < d.results; ++i) {
      if (d.throws && i == d.put_before_it_throws) fail();
      send_next(decision::result(d.from, i, in.age));
    }
    if (d.throws) fail();
  }
  void on(later) {
    const one_that_waits w = std::move(waiting_.front());
    waiting_.pop_front();
    const decision d = all_->decide(id_, w.in.value);
    if (d.throws) {
      ++all_->thrown;
      return tuple_failed(w.in, make_error(errc::receiver_failed, "later", "bad luck"));
    }
    for (std::uint32_t i = 0; i < d.results; ++i) send_next(decision::result(d.from, i, w.in.age));
  }
  void on_restart() { broken_ = false; }
  void on_stop() {
    if (says_last_word_) send_next(all_->last_word(id_));
  }

 private:
  struct one_that_waits {
    item in;
    stage_hold keep;
  };
  [[noreturn]] void fail() {
    broken_ = true;
    ++all_->thrown;
    throw std::runtime_error("bad luck");
  }

  shared_behaviour all_;
  std::uint32_t id_;
  bool says_last_word_;
  std::deque<one_that_waits> waiting_;
  bool started_ = false;
  bool broken_ = false;
};

using answering_protocol = protocol<item(item)>;

/// Answers the questions of stages, every other one later than the questions behind it.
class answering : public actor<protocol<item(item), void(later)>> {
 public:
  answering(behaviour_of b, std::uint32_t id) : all_(std::move(b.all)), id_(id) {}
  result<item> on(item in) {
    if (!in.is_whole()) ++all_->wrong;
    ++all_->consumed[id_];
    if (mix(in.value) % 2 == 0) return answer_to(in);
    waiting_.emplace_back(make_promise<item>(), std::move(in));
    send(ref<protocol<void(later)>>(self()), later{});
    return waiting_.back().first;
  }
  void on(later) {
    auto [promise, in] = std::move(waiting_.front());
    waiting_.pop_front();
    if (auto answer = answer_to(in))
      promise.deliver(*std::move(answer));
    else
      promise.fail(answer.error());
  }

 private:
  result<item> answer_to(const item& in) {
    const decision d = all_->decide(id_, in.value);
    if (!d.throws) return decision::result(d.from, 0, in.age);
    ++all_->refused;
    return make_error(errc::not_handled, "answering", "bad luck");
  }

  shared_behaviour all_;
  std::uint32_t id_;
  std::deque<std::pair<response_promise<item>, item>> waiting_;
};

}  // namespace garrick::random_streams
