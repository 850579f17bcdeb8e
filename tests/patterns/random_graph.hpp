// Compositions from a seed: as data, and as a pattern that runs.
#pragma once

#include <patterns/random_leaves.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::random_streams {

// ---- shapes -------------------------------------------------------------------------------------

enum class form : std::uint8_t { stage, row, farm, ordered, parallel, loop };
enum class routing : std::uint8_t { round, random, least_loaded, by_key, own, broadcast };
/// Some are several stages in a row, since they are only of use with a stage behind them.
enum class leaf_form : std::uint8_t {
  any,
  single,
  kept,
  last_word,
  behind_filter,
  twins,      ///< two stages
  chain,      ///< four stages
  unfolding,  ///< a generator
  acting,     ///< an actor
  asking,     ///< asks an actor
  batched,
  throttled,
  taken,    ///< has enough after some tuples
  zipped,   ///< beside a source, which may end
  mapped,   ///< becomes a container, which is mapped, goes through a stencil and is reduced
  divided,  ///< divide and conquer with values
  rounds,   ///< becomes a container for a master and its workers, and is reduced
  halved,   ///< becomes a container for divide and conquer in place, and is reduced
  grouped,  ///< waits in a window of a number of tuples
};
constexpr std::uint32_t leaf_forms = 19;

/// The forms that a composition may be made of.
enum class alphabet : std::uint8_t {
  first,   ///< the leaf forms up to `twins`: of the seeds that have once found a fault
  second,  ///< those up to `zipped`: also of such seeds
  all,
  exact,  ///< all those with the same results in each run, in any order of turns, of streams that
          ///< live
};

/// A composition as data.
struct shape {
  form what = form::stage;
  leaf_form leaf = leaf_form::any;
  std::uint32_t id = 0;  ///< of the stage, or of the loop; several stages have the next ones, too
  routing by = routing::round;
  std::uint32_t replicas = 1;
  bool own_thread = false;
  bool cheap = false;
  /// The number that a `taken` takes, a `batched` or a `grouped` puts together, an `asking` asks at
  /// a time; and the number of helpers of a data-parallel one.
  std::uint32_t n = 0;
  bool endless = false;    ///< the source of a `zipped` does not end
  bool straight = true;    ///< a `zipped`: its source has one way; an `asking`: it keeps the order
  bool says_last = false;  ///< an `acting` puts something out at its end
  std::vector<shape> parts{};

  [[nodiscard]] std::uint32_t stages() const noexcept {
    return leaf == leaf_form::chain ? 4 : leaf == leaf_form::twins ? 2 : 1;
  }
  [[nodiscard]] bool is_data_parallel() const noexcept {
    return what == form::stage && (leaf == leaf_form::mapped || leaf == leaf_form::divided ||
                                   leaf == leaf_form::rounds || leaf == leaf_form::halved);
  }
  /// Returns true if an actor works on its tuples, perhaps when the stream has ended.
  [[nodiscard]] bool is_carried_by_an_actor() const noexcept {
    return is_data_parallel() ||
           (what == form::stage && (leaf == leaf_form::acting || leaf == leaf_form::asking));
  }
  /// Returns true if it may have enough before its input ends.
  [[nodiscard]] bool is_cutter() const noexcept {
    return what == form::stage &&
           (leaf == leaf_form::taken || (leaf == leaf_form::zipped && !endless));
  }
  [[nodiscard]] bool keeps_order() const noexcept {
    if (what == form::farm || what == form::parallel || what == form::loop) return false;
    if (what == form::stage)
      return leaf != leaf_form::acting && leaf != leaf_form::grouped &&
             (leaf != leaf_form::asking || straight);
    return std::all_of(parts.begin(), parts.end(), [](const shape& p) { return p.keeps_order(); });
  }
  [[nodiscard]] std::size_t nodes() const noexcept {
    std::size_t of_one = std::max(2U, stages());
    for (const shape& p : parts) of_one += p.nodes();
    return of_one * replicas;
  }
  /// Returns true if this holds for it, or for a part of it.
  template <class F>
  [[nodiscard]] bool any(const F& f) const {
    return f(*this) ||
           std::any_of(parts.begin(), parts.end(), [&](const shape& p) { return p.any(f); });
  }
  [[nodiscard]] bool cuts() const noexcept {
    return any([](const shape& s) { return s.is_cutter(); });
  }
  /// Returns how many farms are inside each other.
  [[nodiscard]] std::uint32_t farms_deep() const noexcept {
    std::uint32_t most = 0;
    for (const shape& p : parts) most = std::max(most, p.farms_deep());
    return most + (what == form::farm || what == form::ordered ? 1 : 0);
  }
};

/// Makes shapes from numbers.
class shaper {
 public:
  shaper(numbers& n, behaviour& b, alphabet a) : pick_(n), all_(b), alphabet_(a) {}

  shape make(std::uint32_t depth) {
    const bool full = next_ + 8 > most_stages;
    switch (full || depth == 0 ? 0 : pick_.below(8)) {
      case 0: return stage(false);
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
      default: return loop(depth);
    }
  }

 private:
  /// For shapes in a loop. `cut`: parts may have enough, so that others put something out at their
  /// end while the loop goes on. `last_words`: parts may put something out at their end.
  enum class in_loop : std::uint8_t { none, cut, last_words };

  shape stage(bool ordered) {
    shape s{.leaf = pick_leaf(ordered), .id = next_};
    next_ += s.stages();
    for (std::uint32_t id = s.id; id < next_; ++id) {
      all_.one_to_one[id] = s.leaf == leaf_form::single || s.leaf == leaf_form::asking ||
                            s.is_data_parallel() || (s.leaf == leaf_form::chain && id == s.id + 2);
      all_.policies[id] = static_cast<on_failure>(pick_.below(3));
    }
    s.own_thread = pick_.one_in(24);
    s.cheap = pick_.one_in(2);
    if (alphabet_ == alphabet::first) return s;
    s.n = 1 + pick_.below(s.leaf == leaf_form::taken || s.leaf == leaf_form::zipped ? 48
                          : s.is_data_parallel()                                    ? 3
                                                                                    : 6);
    s.endless = alphabet_ == alphabet::exact || loop_ == in_loop::last_words || pick_.one_in(2);
    s.straight = pick_.one_in(2);
    s.says_last = loop_ != in_loop::cut && pick_.one_in(2);
    // results that a generator has put out before it threw may have been handed on, or not
    if (s.leaf == leaf_form::unfolding && alphabet_ == alphabet::exact)
      all_.policies[s.id] = on_failure::fail;
    return s;
  }
  leaf_form pick_leaf(bool ordered) {
    if (alphabet_ == alphabet::first) return static_cast<leaf_form>(pick_.below(6));
    const auto chosen =
        static_cast<leaf_form>(pick_.below(alphabet_ == alphabet::second ? 14 : leaf_forms));
    const bool says_last =
        chosen == leaf_form::last_word || chosen == leaf_form::twins || chosen == leaf_form::chain;
    const bool not_in_order = chosen == leaf_form::acting || chosen == leaf_form::asking ||
                              chosen == leaf_form::batched || chosen == leaf_form::throttled ||
                              chosen == leaf_form::taken || chosen == leaf_form::zipped ||
                              chosen == leaf_form::grouped;
    // tuples in a window do not go round a loop again
    if (chosen == leaf_form::grouped && loop_ != in_loop::none) return leaf_form::any;
    // a substitute, so that fewer types are compiled
    if (ordered && (chosen == leaf_form::rounds || chosen == leaf_form::halved))
      return leaf_form::mapped;
    if ((loop_ == in_loop::cut && says_last) || (ordered && not_in_order)) return leaf_form::any;
    const bool may_cut = alphabet_ != alphabet::exact && loop_ != in_loop::last_words;
    return chosen == leaf_form::taken && !may_cut ? leaf_form::any : chosen;
  }
  shape several(form what, std::uint32_t n, std::uint32_t depth) {
    shape s{.what = what};
    for (; n != 0; --n) s.parts.push_back(make(depth - 1));
    return s;
  }
  shape loop(std::uint32_t depth) {
    const in_loop around = loop_;
    if (around == in_loop::none && alphabet_ != alphabet::first)
      loop_ = pick_.one_in(2) ? in_loop::cut : in_loop::last_words;
    shape s = several(form::loop, 1, depth);
    loop_ = around;
    s.id = next_++;
    return s;
  }
  shape farm(std::uint32_t depth) {
    if (pick_.one_in(4)) {
      shape s{.what = form::ordered, .replicas = 1 + pick_.below(3)};
      s.parts.push_back(stage(true));
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
  const alphabet alphabet_;
  std::uint32_t next_ = 0;
  in_loop loop_ = in_loop::none;
};

// ---- as a pattern -------------------------------------------------------------------------------

/// Any pattern from In to Out, so that compositions can be made at run time.
template <class In, class Out>
class any_between {
  using builder = patterns::detail::builder;
  template <class T>
  using inlet_ptr = patterns::detail::inlet_ptr<T>;

 public:
  using garrick_stage = void;
  using input = In;
  using output = Out;
  static constexpr bool garrick_keeps_order = false;

  template <class P>
  explicit any_between(P p) : what_(std::make_shared<holder<P>>(std::move(p))) {}

  /// A pipeline of one stage: its neighbours do not know of the stage in it.
  [[nodiscard]] plan describe() const {
    return {.what = "pipeline", .emitter = false, .parts = {what_->describe()}};
  }
  inlet_ptr<In> build(const builder& b, const inlet_ptr<Out>& next) const {
    return what_->build(b, next);
  }

 private:
  struct held {
    held() = default;
    virtual ~held() = default;
    held(const held&) = delete;
    held& operator=(const held&) = delete;
    [[nodiscard]] virtual plan describe() const = 0;
    virtual inlet_ptr<In> build(const builder& b, const inlet_ptr<Out>& next) const = 0;
  };
  template <class P>
  struct holder final : held {
    explicit holder(P p) : pattern(std::move(p)) {}
    [[nodiscard]] plan describe() const override { return pattern.describe(); }
    inlet_ptr<In> build(const builder& b, const inlet_ptr<Out>& next) const override {
      return pattern.build(b, next);
    }
    P pattern;
  };

  std::shared_ptr<const held> what_;
};
using any_pattern = any_between<item, item>;

/// Makes the actor that a stage asks.
using make_answering = std::function<ref<answering_protocol>(behaviour_of, std::uint32_t)>;

class maker {
 public:
  /// Without `asked`, the pattern is for looking at.
  explicit maker(shared_behaviour b, make_answering asked = {})
      : all_(std::move(b)), asked_(std::move(asked)) {}

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
          if constexpr (patterns::detail::keeps_order<decltype(p)>)
            return any_pattern(farm(std::move(p)).replicas(s.replicas).ordered());
          else
            return not_in_order();
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
  static constexpr std::uint64_t far_away = std::uint64_t{1} << 60;

  [[noreturn]] static any_pattern not_in_order() {
    throw std::logic_error("an ordered farm does not hold this");
  }
  [[nodiscard]] lent<by_value> way() const {
    return lent(by_value{all_->bad_routes ? all_ : nullptr});
  }
  [[nodiscard]] static std::string named(char kind, std::uint32_t id) {
    return kind + std::to_string(id);
  }
  template <class Leaf>
  [[nodiscard]] auto one(std::uint32_t id, bool own_thread, bool cheap) const {
    auto p = seq<Leaf>(lent(all_), id).named(named('s', id)).on(all_->policies[id]).cheap(cheap);
    return own_thread ? p.own_thread() : p;
  }
  template <class Leaf>
  [[nodiscard]] auto one(const shape& s) const {
    return one<Leaf>(s.id, s.own_thread, s.cheap);
  }
  [[nodiscard]] auto noted(const shape& s) const {
    return seq<witness>(lent(all_), s.id).named(named('w', s.id)).cheap(s.cheap);
  }
  [[nodiscard]] auto acting(const shape& s) const {
    const auto p = seq_actor<acting_leaf>(behaviour_of{all_}, s.id, s.says_last)
                       .named(named('s', s.id))
                       .on(all_->policies[s.id]);
    return s.own_thread ? p.own_thread() : p;
  }
  [[nodiscard]] auto asking(const shape& s) const {
    const auto whom = asked_ ? asked_(behaviour_of{all_}, s.id) : ref<answering_protocol>();
    auto p = ask<item>(whom, s.n);
    if (s.straight) p = p.ordered();
    return p.named(named('s', s.id)).on(all_->policies[s.id]);
  }
  [[nodiscard]] static auto up_to(const shape& s) {
    return counting(std::uint64_t{0}, s.endless ? far_away : std::uint64_t{s.n});
  }
  /// A source of several ways.
  template <class Source>
  [[nodiscard]] static auto crooked(Source source) {
    return pipeline(std::move(source), farm([](std::uint64_t n) { return n; }).replicas(2));
  }
  template <class Source>
  [[nodiscard]] auto zipped(const shape& s, Source source) const {
    return pipeline(zip<item>(std::move(source)),
                    seq<numbered_witness>(lent(all_), s.id, s.straight).named(named('w', s.id)),
                    one<leaf>(s));
  }
  /// A data-parallel pattern as the stage that the shape says.
  template <class P>
  [[nodiscard]] auto as_stage(const shape& s, const P& p) const {
    return p.named(named('s', s.id)).on(all_->policies[s.id]).replicas(s.n);
  }
  [[nodiscard]] static auto taken_apart(const shape& s) {
    return seq([](item in) { return cell_steps::taken_apart(in); }).cheap(s.cheap);
  }
  [[nodiscard]] static auto put_together(const shape& s) {
    const auto word = [](const cell& c) { return cell_steps::word(c); };
    const auto joined = [](const item& a, const item& b) { return cell_steps::joined(a, b); };
    return reduce(word, joined).dynamic(2).replicas(s.n);
  }
  [[nodiscard]] auto mapped(const shape& s) const {
    const auto between = [](const neighbourhood<cell>& n) {
      return cell_steps::between(n[-1], n[0], n[+1]);
    };
    const auto change = as_stage(s, map(changing{{all_, s.id}}));
    return pipeline(
        taken_apart(s), s.cheap ? change.dynamic(1) : change,
        stencil(between, 1, cell_steps::iterations, edges::wrap).dynamic(2).replicas(s.n),
        put_together(s));
  }
  [[nodiscard]] auto divided(const shape& s) const {
    const auto merged = [](items some) { return dividing_steps::merged(some); };
    const auto solved = [](item x) { return dividing_steps::solved(x); };
    return as_stage(s, divide_conquer(dividing{all_, s.id}, merged, solved, is_small{all_, s.id}));
  }
  using on_cells = any_between<cells, cells>;
  [[nodiscard]] static auto in_cells(const shape& s, on_cells p) {
    return pipeline(taken_apart(s), std::move(p), put_together(s));
  }
  [[nodiscard]] on_cells rounds(const shape& s) const {
    const auto again = [](const cell& c) { return cell_steps::goes_round(c); };
    return on_cells(as_stage(s, master_worker(going_round{{all_, s.id}}, again)));
  }
  [[nodiscard]] on_cells halved(const shape& s) const {
    const auto halves = [](std::span<cell> all, parts& out) {
      out.add(0, all.size() / 2);
      out.add(all.size() / 2, all.size());
    };
    const auto merged = [](std::span<cell> all, const parts&) { cell_steps::put_together(all); };
    const auto few = [](std::span<const cell> some) { return cell_steps::are_few(some); };
    return on_cells(as_stage(s, divide_conquer(halves, merged, solving{{all_, s.id}}, few)));
  }
  [[nodiscard]] auto grouped(const shape& s) const {
    const auto all = [](std::span<const item> some) { return items(some.begin(), some.end()); };
    const auto windows = window(tuples(s.n)).by(key_of()).named(named('g', s.id)).all(all);
    using group = typename decltype(windows)::output;
    return pipeline(windows, flat_map([](group g) { return g.value; }), one<leaf>(s));
  }
  template <class Then>
  [[nodiscard]] any_pattern stage(const shape& s, const Then& then) const {
    switch (s.leaf) {
      case leaf_form::any: return then(one<leaf>(s));
      case leaf_form::single: return then(one<single_leaf>(s));
      case leaf_form::kept: return then(one<kept_leaf>(s));
      case leaf_form::last_word: return then(one<last_word_leaf>(s));
      case leaf_form::behind_filter: return then(pipeline(filter(kept(s)), one<leaf>(s)));
      case leaf_form::twins:
        return then(pipeline(one<leaf>(s), one<last_word_leaf>(s.id + 1, false, true)));
      case leaf_form::chain:
        return then(pipeline(one<leaf>(s), one<last_word_leaf>(s.id + 1, false, s.n % 2 == 0),
                             one<single_leaf>(s.id + 2, s.n == 6, s.n < 5),
                             one<leaf>(s.id + 3, false, s.n % 3 != 0)));
      case leaf_form::unfolding:
        return then(pipeline(
            seq(unfolding_leaf(all_, s.id)).named(named('s', s.id)).on(all_->policies[s.id]),
            noted(s)));
      case leaf_form::acting: return then(acting(s));
      case leaf_form::asking: return then(asking(s));
      case leaf_form::batched:
        // each second one waits for the end of the stream, or of the tuples that move in its loop
        return then(pipeline(
            batch<item>(s.n, s.id % 2 == 0 ? duration::infinite() : duration::milliseconds(1))
                .named(named('b', s.id)),
            flat_map([](items all) { return all; }), one<leaf>(s)));
      case leaf_form::throttled:
        return then(pipeline(throttle<item>(1e5, s.n).named(named('h', s.id)), one<leaf>(s)));
      case leaf_form::taken:
        return then(pipeline(take<item>(s.n).named(named('t', s.id)), noted(s), one<leaf>(s)));
      case leaf_form::zipped:
        return s.straight ? then(zipped(s, up_to(s))) : then(zipped(s, crooked(up_to(s))));
      case leaf_form::mapped: return then(mapped(s));
      case leaf_form::divided: return then(divided(s));
      case leaf_form::rounds: return then(in_cells(s, rounds(s)));
      case leaf_form::halved: return then(in_cells(s, halved(s)));
      case leaf_form::grouped: return then(grouped(s));
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
  make_answering asked_;
};

}  // namespace garrick::random_streams
