// Compositions from a seed as a sequential reference.
#pragma once

#include <patterns/random_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace garrick::random_streams {

/// Runs a shape one tuple after the other.
///
/// The tuples that come through a stage that has enough at some time depend on their order, and so
/// do the results that a generator has handed on before it threw. Where the composition keeps the
/// order, the first ones come through. Otherwise the tuples seen by its witness do, and the
/// reference checks that they can have come there, and computes their results.
class reference {
 public:
  /// Before the run: everything comes through, as more cannot happen.
  explicit reference(const behaviour& b) : all_(b) {}
  /// After it.
  reference(const behaviour& b, std::map<std::uint32_t, counted_items> seen)
      : all_(b), seen_(std::move(seen)) {}

  std::uint64_t failures = 0;
  std::uint64_t partial = 0;                    ///< failures behind results that came through
  std::uint64_t work = 0;                       ///< tuples that stages have taken
  static constexpr std::uint64_t much = 4'000;  ///< more is too much for a test

  /// The results of these tuples and then of the end.
  [[nodiscard]] items all_of(const shape& s, const items& in) {
    in_order_ = s.keeps_order();
    items out;
    for (const item& x : in) results(s, x, out);
    at_end(s, out);
    return out;
  }
  /// After `all_of`: returns true if a witness has seen a tuple that cannot have come there.
  [[nodiscard]] bool is_surprised() const {
    for (const auto& [id, tuples] : *seen_)
      for (const auto& [tuple, times] : tuples)
        if (times != 0) return true;
    return false;
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
  void of_stage(const shape& s, const item& x, items& out) {
    if (s.leaf == leaf_form::behind_filter && !maker::kept(s)(x)) return;
    if (s.leaf == leaf_form::zipped && s.endless) static_cast<void>(was_seen(s.id, x));
    if (s.is_cutter() && !comes_through(s, x)) return;
    if (s.leaf == leaf_form::unfolding) return of_unfolding(s.id, x, out);
    if (s.is_data_parallel()) return of_data_parallel(s, x, out);
    items in{x};
    for (std::uint32_t i = 0; i + 1 < s.stages(); ++i) {
      items next;
      for (const item& y : in) one(s.id + i, y, next);
      in = std::move(next);
    }
    for (const item& y : in) one(s.id + s.stages() - 1, y, out);
  }
  void one(std::uint32_t id, const item& x, items& out) {
    const decision d = all_.decide(id, x.value);
    if (d.throws) {
      ++failures;
      return;
    }
    for (std::uint32_t i = 0; i < d.results; ++i) out.push_back(decision::result(d.from, i, x.age));
  }
  void of_unfolding(std::uint32_t id, const item& x, items& out) {
    const decision d = all_.decide(id, x.value);
    if (d.throws) ++failures;
    const std::uint32_t put = d.throws ? d.put_before_it_throws : d.results;
    for (std::uint32_t i = 0; i < put; ++i) {
      item made = decision::result(d.from, i, x.age);
      const bool seen = was_seen(id, made);
      if (d.throws && !seen) continue;
      if (d.throws && i == 0) ++partial;
      out.push_back(std::move(made));
    }
  }
  void of_data_parallel(const shape& s, const item& x, items& out) {
    if (all_.decide(s.id, x.value).throws)
      ++failures;
    else
      out.push_back(worked_on(s.leaf, x));
  }
  [[nodiscard]] static item worked_on(leaf_form what, const item& x) {
    if (what == leaf_form::divided) return divided(x);
    cells all = cell_steps::taken_apart(x);
    if (what == leaf_form::mapped) map_all(all);
    if (what == leaf_form::halved) halve(all);
    if (what == leaf_form::rounds)
      for (cell& c : all) do
          c.value = cell_steps::once_more(c.value);
        while (cell_steps::goes_round(c));
    item whole = cell_steps::word(all.front());
    for (std::size_t i = 1; i < all.size(); ++i)
      whole = cell_steps::joined(whole, cell_steps::word(all[i]));
    return whole;
  }
  static void halve(std::span<cell> all) {
    if (cell_steps::are_few(all)) {
      for (cell& c : all) c.value = cell_steps::once_more(c.value);
      return;
    }
    halve(all.first(all.size() / 2));
    halve(all.subspan(all.size() / 2));
    cell_steps::put_together(all);
  }
  static void map_all(cells& all) {
    const std::size_t n = all.size();
    for (std::size_t i = 0; i < n; ++i) all[i].value = cell_steps::changed(all[i].value, i);
    for (auto times = cell_steps::iterations; times != 0; --times) {
      const cells before = all;
      for (std::size_t i = 0; i < n; ++i)
        all[i] = cell_steps::between(before[(i + n - 1) % n], before[i], before[(i + 1) % n]);
    }
  }
  [[nodiscard]] static item divided(const item& x) {
    if (dividing_steps::is_small(x)) return dividing_steps::solved(x);
    items some = dividing_steps::divided(x);
    for (item& part : some) part = divided(part);
    return dividing_steps::merged(some);
  }
  /// Returns true if this stage's witness has seen one more of these.
  bool was_seen(std::uint32_t id, const item& x) {
    if (!seen_) return true;
    auto& tuples = (*seen_)[id];
    const auto found = tuples.find(x);
    if (found == tuples.end() || found->second == 0) return false;
    --found->second;
    return true;
  }
  bool comes_through(const shape& s, const item& x) {
    if (!seen_) return true;
    if (!in_order_) return was_seen(s.id, x);
    return taken_[s.id]++ < s.n && (static_cast<void>(was_seen(s.id, x)), true);
  }
  /// Adds the results of the stages at their end, in each replica.
  void at_end(const shape& s, items& out) {
    switch (s.what) {
      case form::stage: return end_of_stage(s, out);
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
  void end_of_stage(const shape& s, items& out) {
    if (s.leaf == leaf_form::last_word || (s.leaf == leaf_form::acting && s.says_last))
      out.push_back(all_.last_word(s.id));
    if (s.leaf == leaf_form::twins) out.push_back(all_.last_word(s.id + 1));
    if (s.leaf != leaf_form::chain) return;
    items between;
    one(s.id + 2, all_.last_word(s.id + 1), between);
    for (const item& x : between) one(s.id + 3, x, out);
  }

  const behaviour& all_;
  std::optional<std::map<std::uint32_t, counted_items>> seen_;
  bool in_order_ = false;
  std::map<std::uint32_t, std::uint64_t> taken_;
};

}  // namespace garrick::random_streams
