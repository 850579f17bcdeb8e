// Compositions from a seed: as a pattern that runs, and as a sequential reference.
#pragma once

#include <garrick/patterns/patterns.hpp>

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tests {

using namespace garrick;
using namespace garrick::patterns;

/// What flows. `age` counts the stages that it has come through, so that loops end.
struct item {
  std::uint64_t value = 0;
  std::uint32_t age = 0;
  std::string text;  ///< "v" and the value: a tuple that owns memory, and shows who has moved it

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

// ---- what a stage does --------------------------------------------------------------------------

/// What is decided for one tuple at one stage: a function of both.
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

/// What the stages of one stream share: how they behave, and what the test wants to know.
struct behaviour {
  std::uint64_t seed = 0;
  std::array<on_failure, most_stages> policies{};
  std::array<bool, most_stages> one_to_one{};
  std::uint32_t bomb = most_stages;  ///< this one ends the stream by an exception
  bool bad_routes = false;           ///< so does each choice of a way
  std::array<std::atomic<std::uint64_t>, most_stages> consumed{};
  std::atomic<std::uint64_t> thrown{0};
  std::atomic<std::uint64_t> wrong{0};  ///< tuples and states that were not as they have to be
  items got;                            ///< the sink's

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
};
using shared_behaviour = std::shared_ptr<behaviour>;

/// A stage with state: whether it has begun, and whether it has thrown since it was made.
class leaf {
 public:
  leaf(shared_behaviour b, std::uint32_t id) : all_(std::move(b)), id_(id) {}
  void on_start() { started_ = true; }
  void consume(item in, emit<item> out) { work(std::move(in), out); }

 protected:
  template <class To>
  void work(item in, To& out) {
    if (!started_ || !in.is_whole() || (broken_ && all_->policies[id_] == on_failure::restart))
      ++all_->wrong;
    ++all_->consumed[id_];
    const decision d = all_->decide(id_, in.value);
    for (std::uint32_t i = 0; i < d.results; ++i) {
      if (d.throws && i == d.put_before_it_throws) fail();
      out(decision::result(d.from, i, in.age));
    }
    if (d.throws) fail();
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
/// One that is kept when it has thrown.
class kept_leaf : public leaf {
 public:
  using leaf::leaf;
  void on_restart() { broken_ = false; }
};
/// One that puts something out at its end.
class last_word_leaf : public leaf {
 public:
  using leaf::leaf;
  void on_stop(emit<item> out) { out(last_word(*all_, id_)); }
  static item last_word(const behaviour& b, std::uint32_t id) {
    return item::of(mix(b.seed + id), 0);
  }
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

// ---- shapes -------------------------------------------------------------------------------------

enum class form : std::uint8_t { stage, row, farm, ordered, parallel, loop };
enum class leaf_form : std::uint8_t { any, single, kept, last_word, behind_filter, twins };
enum class routing : std::uint8_t { round, random, least_loaded, by_key, own, broadcast };

/// A composition as data.
struct shape {
  form what = form::stage;
  leaf_form leaf = leaf_form::any;
  std::uint32_t id = 0;  ///< of the stage, or of the loop; `twins` have this and the next one
  routing by = routing::round;
  std::uint32_t replicas = 1;
  bool own_thread = false;
  bool cheap = false;
  std::vector<shape> parts{};

  [[nodiscard]] bool keeps_order() const noexcept {
    if (what == form::farm || what == form::parallel || what == form::loop) return false;
    for (const shape& p : parts)
      if (!p.keeps_order()) return false;
    return true;
  }
  [[nodiscard]] std::size_t nodes() const noexcept {
    std::size_t n = 2;
    for (const shape& p : parts) n += p.nodes();
    return n * replicas;
  }
};

/// Makes shapes from numbers.
class shaper {
 public:
  shaper(numbers& n, behaviour& b) : pick_(n), all_(b) {}

  shape make(std::uint32_t depth) {
    const bool full = next_ + 8 > most_stages;
    switch (full || depth == 0 ? 0 : pick_.below(8)) {
      case 0: return stage();
      case 1:
      case 2: return several(form::row, 2 + pick_.below(2), depth);
      case 3:
      case 4:
      case 5: return farm(depth);
      case 6: {
        shape s = several(form::parallel, 2, depth);
        s.by = pick_.one_in(3) ? routing::broadcast : routing::own;
        return s;
      }
      default: {
        shape s = several(form::loop, 1, depth);
        s.id = next_++;
        return s;
      }
    }
  }

 private:
  shape stage() {
    shape s{.leaf = static_cast<leaf_form>(pick_.below(6)), .id = next_};
    next_ += s.leaf == leaf_form::twins ? 2 : 1;
    for (std::uint32_t id = s.id; id < next_; ++id) {
      all_.one_to_one[id] = s.leaf == leaf_form::single;
      all_.policies[id] = static_cast<on_failure>(pick_.below(3));
    }
    s.own_thread = pick_.one_in(24);
    s.cheap = pick_.one_in(2);
    return s;
  }
  shape several(form what, std::uint32_t n, std::uint32_t depth) {
    shape s{.what = what};
    for (; n != 0; --n) s.parts.push_back(make(depth - 1));
    return s;
  }
  shape farm(std::uint32_t depth) {
    if (pick_.one_in(4)) {
      shape s{.what = form::ordered, .replicas = 1 + pick_.below(3)};
      s.parts.push_back(stage());
      s.parts.front().own_thread = false;
      return s;
    }
    shape s = several(form::farm, 1, depth);
    s.by = static_cast<routing>(pick_.below(6));
    if (s.by == routing::broadcast && !pick_.one_in(4)) s.by = routing::round;
    s.replicas = 1 + pick_.below(3);
    return s;
  }

  numbers& pick_;
  behaviour& all_;
  std::uint32_t next_ = 0;
};

// ---- as a pattern -------------------------------------------------------------------------------

/// Any pattern from items to items, so that compositions can be made at run time.
class any_pattern {
 public:
  using garrick_stage = void;
  using input = item;
  using output = item;
  static constexpr bool garrick_keeps_order = false;

  template <class P>
  explicit any_pattern(P p) : what_(std::make_shared<holder<P>>(std::move(p))) {}

  [[nodiscard]] plan describe() const { return what_->describe(); }
  patterns::detail::inlet_ptr<item> build(const patterns::detail::builder& b,
                                          const patterns::detail::inlet_ptr<item>& next) const {
    return what_->build(b, next);
  }

 private:
  struct held {
    held() = default;
    virtual ~held() = default;
    held(const held&) = delete;
    held& operator=(const held&) = delete;
    [[nodiscard]] virtual plan describe() const = 0;
    virtual patterns::detail::inlet_ptr<item> build(
        const patterns::detail::builder& b,
        const patterns::detail::inlet_ptr<item>& next) const = 0;
  };
  template <class P>
  struct holder final : held {
    explicit holder(P p) : pattern(std::move(p)) {}
    [[nodiscard]] plan describe() const override { return pattern.describe(); }
    patterns::detail::inlet_ptr<item> build(
        const patterns::detail::builder& b,
        const patterns::detail::inlet_ptr<item>& next) const override {
      return pattern.build(b, next);
    }
    P pattern;
  };

  std::shared_ptr<const held> what_;
};

class maker {
 public:
  explicit maker(shared_behaviour b) : all_(std::move(b)) {}

  [[nodiscard]] any_pattern make(const shape& s) const {
    switch (s.what) {
      case form::stage: return stage(s, [](auto p) { return any_pattern(std::move(p)); });
      case form::row: {
        any_pattern p = make(s.parts.front());
        for (std::size_t i = 1; i < s.parts.size(); ++i)
          p = any_pattern(pipeline(std::move(p), make(s.parts[i])));
        return p;
      }
      case form::farm: return farm_by(s);
      case form::ordered:
        return stage(s.parts.front(), [&](auto p) {
          return any_pattern(farm(std::move(p)).replicas(s.replicas).ordered());
        });
      case form::parallel: {
        auto p = parallel(make(s.parts[0]), make(s.parts[1]));
        return s.by == routing::broadcast ? any_pattern(p) : any_pattern(p.by(way()));
      }
      case form::loop: return any_pattern(feedback(make(s.parts.front()), again(s)));
    }
    throw std::logic_error("no such form");
  }
  [[nodiscard]] static goes_again again(const shape& s) { return {mix(s.id)}; }
  [[nodiscard]] static is_kept kept(const shape& s) { return {mix(s.id + 1000)}; }

 private:
  [[nodiscard]] by_value way() const { return {all_->bad_routes ? all_ : nullptr}; }
  template <class Leaf>
  [[nodiscard]] auto one(std::uint32_t id, bool own_thread, bool cheap) const {
    auto p =
        seq<Leaf>(all_, id).named("s" + std::to_string(id)).on(all_->policies[id]).cheap(cheap);
    return own_thread ? p.own_thread() : p;
  }
  template <class Then>
  [[nodiscard]] any_pattern stage(const shape& s, const Then& then) const {
    switch (s.leaf) {
      case leaf_form::any: return then(one<leaf>(s.id, s.own_thread, s.cheap));
      case leaf_form::single: return then(one<single_leaf>(s.id, s.own_thread, s.cheap));
      case leaf_form::kept: return then(one<kept_leaf>(s.id, s.own_thread, s.cheap));
      case leaf_form::last_word: return then(one<last_word_leaf>(s.id, s.own_thread, s.cheap));
      case leaf_form::behind_filter:
        return then(pipeline(filter(kept(s)), one<leaf>(s.id, s.own_thread, s.cheap)));
      case leaf_form::twins:
        return then(pipeline(one<leaf>(s.id, s.own_thread, s.cheap),
                             one<last_word_leaf>(s.id + 1, false, true)));
    }
    throw std::logic_error("no such stage");
  }
  [[nodiscard]] any_pattern farm_by(const shape& s) const {
    const auto f = farm(make(s.parts.front())).replicas(s.replicas);
    switch (s.by) {
      case routing::round: return any_pattern(f);
      case routing::random: return any_pattern(f.random_member(s.replicas));
      case routing::least_loaded: return any_pattern(f.least_loaded());
      case routing::by_key: return any_pattern(f.by_key(key_of()));
      case routing::own: return any_pattern(f.by(way()));
      case routing::broadcast: return any_pattern(f.broadcast());
    }
    throw std::logic_error("no such policy");
  }

  shared_behaviour all_;
};

// ---- as a reference -----------------------------------------------------------------------------

/// Runs a shape one tuple after the other.
class reference {
 public:
  explicit reference(const behaviour& b) : all_(b) {}

  std::uint64_t failures = 0;
  std::uint64_t work = 0;                       ///< tuples that stages have taken
  static constexpr std::uint64_t much = 4'000;  ///< more is too much for a test

  /// The results of these tuples and then of the end.
  [[nodiscard]] items all_of(const shape& s, const items& in) {
    items out;
    for (const item& x : in) results(s, x, out);
    at_end(s, out);
    return out;
  }

 private:
  void results(const shape& s, const item& x, items& out) {
    if (++work > much) return;
    switch (s.what) {
      case form::stage: return of_stage(s, x, out);
      case form::row: return of_row(s.parts, {x}, 0, out);
      case form::farm:
        for (std::uint32_t i = 0; i < (s.by == routing::broadcast ? s.replicas : 1); ++i)
          results(s.parts.front(), x, out);
        return;
      case form::ordered: return results(s.parts.front(), x, out);
      case form::parallel:
        if (s.by != routing::broadcast)
          return results(s.parts[by_value()(x, s.parts.size())], x, out);
        for (const shape& p : s.parts) results(p, x, out);
        return;
      case form::loop: {
        items round;
        results(s.parts.front(), x, round);
        while (!round.empty() && work <= much) {
          const item y = round.back();
          round.pop_back();
          if (maker::again(s)(y))
            results(s.parts.front(), y, round);
          else
            out.push_back(y);
        }
        return;
      }
    }
  }
  void of_row(const std::vector<shape>& parts, items in, std::size_t first, items& out) {
    for (std::size_t i = first; i < parts.size(); ++i) {
      items next;
      for (const item& x : in) results(parts[i], x, next);
      in = std::move(next);
    }
    out.insert(out.end(), in.begin(), in.end());
  }
  void one(std::uint32_t id, const item& x, items& out) {
    const decision d = all_.decide(id, x.value);
    if (d.throws) {
      ++failures;
      return;
    }
    for (std::uint32_t i = 0; i < d.results; ++i) out.push_back(decision::result(d.from, i, x.age));
  }
  void of_stage(const shape& s, const item& x, items& out) {
    if (s.leaf == leaf_form::behind_filter && !maker::kept(s)(x)) return;
    if (s.leaf != leaf_form::twins) return one(s.id, x, out);
    items between;
    one(s.id, x, between);
    for (const item& y : between) one(s.id + 1, y, out);
  }
  /// What the stages put out at their end, in each replica.
  void at_end(const shape& s, items& out) {
    switch (s.what) {
      case form::stage:
        if (s.leaf == leaf_form::last_word) out.push_back(last_word_leaf::last_word(all_, s.id));
        if (s.leaf == leaf_form::twins) out.push_back(last_word_leaf::last_word(all_, s.id + 1));
        return;
      case form::row:
        for (std::size_t i = 0; i < s.parts.size(); ++i) {
          items last;
          at_end(s.parts[i], last);
          of_row(s.parts, std::move(last), i + 1, out);
        }
        return;
      default:
        for (std::uint32_t i = 0; i < s.replicas; ++i)
          for (const shape& p : s.parts) at_end(p, out);
    }
  }

  const behaviour& all_;
};

}  // namespace tests
