// A stream from a seed, its run, and the judge of its outcome.
#pragma once

#include <garrick/testkit/failure.hpp>
#include <patterns/random_reference.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace garrick::random_streams {

/// The way in which a stream ends.
enum class fate : std::uint8_t { lives, fails, is_cancelled };

/// One stream and its expected outcome.
struct scene {
  shared_behaviour all = std::make_shared<behaviour>();
  shape composition;
  items in;
  stream_options options;
  fate comes_to = fate::lives;
  bool is_fed = false;

  [[nodiscard]] std::string text() const {
    std::ostringstream s;
    s << print(maker(all).make(composition).describe()) << "tuples " << in.size() << ", capacity "
      << options.capacity << ", in place " << options.in_place << ", emitters "
      << !options.remove_emitters << ", fused " << options.fuse << ", fed " << is_fed << ", fate "
      << static_cast<int>(comes_to) << ", bomb " << all->bomb;
    return s.str();
  }
};

/// Returns the composition, tuples and options of a seed. A scene with too much work is drawn
/// again.
inline scene scene_of(std::uint64_t seed, alphabet letters) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    scene s;
    numbers pick(mix(seed) + attempt);
    s.all->seed = mix(seed * 2 + 1);
    s.composition = shaper(pick, *s.all, letters).make(1 + pick.below(5));
    for (std::uint32_t n = pick.below(60); n != 0; --n)
      s.in.push_back(item::of(mix(seed + n * 1000), 0));
    s.options = {.capacity = std::size_t{1} << pick.below(7),
                 .in_place = pick.one_in(2),
                 .remove_emitters = pick.one_in(2),
                 .fuse = pick.one_in(2)};
    s.comes_to = static_cast<fate>(std::max(0, static_cast<int>(pick.below(5)) - 2));
    s.is_fed = pick.one_in(3);
    if (s.comes_to == fate::fails) s.all->bomb = pick.below(8);
    // a feeder whose own choice fails is an actor that fails
    s.all->bad_routes = s.comes_to == fate::fails && !s.is_fed && pick.one_in(2);
    if (letters == alphabet::exact) {  // before the work is reckoned: a failure does less of it
      s.comes_to = fate::lives;
      s.all->bomb = most_stages;
      s.all->bad_routes = false;
    }
    reference r(*s.all);
    static_cast<void>(r.all_of(s.composition, s.in));
    if (r.work < reference::much && s.composition.nodes() < 100) return s;
  }
}

/// Takes all results, and keeps them where the test looks.
class collector {
 public:
  explicit collector(shared_behaviour b) : all_(std::move(b)) {}
  void consume(item x) { all_->got.push_back(std::move(x)); }

 private:
  shared_behaviour all_;
};
inline auto into(const shared_behaviour& b) { return seq<collector>(lent(b)).named("sink"); }

/// The events in some streams, and in how many streams each has happened.
class tally {
 public:
  void note(const std::string& what) { ++seen_[what]; }
  void note_if(bool is_so, const std::string& what) {
    if (is_so) note(what);
  }
  [[nodiscard]] std::uint64_t of(const std::string& what) const {
    const auto found = seen_.find(what);
    return found == seen_.end() ? 0 : found->second;
  }
  /// Notes the parts of the composition.
  void note_shape(const shape& s) {
    note(s.what == form::stage ? "leaf " + std::to_string(static_cast<int>(s.leaf))
                               : "form " + std::to_string(static_cast<int>(s.what)));
    note_if(s.what == form::farm, "routing " + std::to_string(static_cast<int>(s.by)));
    for (const shape& p : s.parts) note_shape(p);
  }

 private:
  std::map<std::string, std::uint64_t> seen_;
};

/// Checks a stream's outcome. Throws a text that names the violated rule.
class judge {
 public:
  judge(const scene& s, tally& t) : s_(s), tally_(t) { gather(s.composition); }

  void outcome(const result<void>& r) {
    if (s_.comes_to == fate::lives) {
      need(r.has_value(), "the stream failed: " + (r ? "" : r.error().to_string()));
    } else if (!r) {
      need(r.error() == (s_.comes_to == fate::fails ? errc::receiver_failed : errc::cancelled),
           "it ended with " + r.error().to_string());
    }
    ended_well_ = r.has_value();
    tally_.note(ended_well_                  ? "ended well"
                : s_.comes_to == fate::fails ? "failed"
                                             : "cancelled before its end");
  }
  void results() {
    need(s_.all->wrong == 0, "a tuple or a stage was not as it has to be");
    // a stage may skip tuples that have no way
    if (!ended_well_ || s_.all->bad_routes) return;
    reference r(*s_.all, s_.all->seen());
    items got = s_.all->got, expected = r.all_of(s_.composition, s_.in);
    if (!s_.composition.keeps_order()) {
      std::sort(got.begin(), got.end());
      std::sort(expected.begin(), expected.end());
    }
    need(got.size() == expected.size(), "there are " + std::to_string(got.size()) +
                                            " results and not " + std::to_string(expected.size()));
    need(got == expected, "the results differ");
    need(!r.is_surprised(), "a witness has seen what cannot have come there");
    most_partial_ = r.partial;
    // stages behind one that has had enough may have failed, or not
    const std::uint64_t failed = s_.all->thrown + s_.all->refused;
    need(s_.composition.cuts() ? failed <= r.failures : failed == r.failures,
         "not all failures happened, or too many");
  }
  /// `late`: tuples that came after the end. `settled`: no actor is still at work.
  void counters(const stream_report& r, std::uint64_t late, bool settled = true) {
    std::uint64_t out = 0, in = 0;
    std::map<std::string, std::uint64_t> taken;
    for (const stage_report& one : r.stages) {
      const node_figures& f = one.figures;
      const std::string name = one.name.substr(one.name.rfind('.') + 1);
      out += f.out;
      failures_ += f.failures;
      partial_ += f.partial;
      if (name != "from" && name != "input") in += f.in;
      if (name == "input") need(f.in + late == s_.in.size(), "not all was fed, or too often");
      taken[name] += f.in;
      of_node(name, f);
    }
    need(out == in + r.left, "handed on: " + std::to_string(out) + ", taken: " +
                                 std::to_string(in) + ", left: " + std::to_string(r.left));
    failures(settled);
    if (const auto sink = taken.find("sink"); sink != taken.end())
      need(sink->second == s_.all->got.size(), "the sink took another number than it counted");
    for (const auto& [id, s] : stages_) consumed(id, *s, taken);
    if (!ended_well_) return;
    need(r.left == 0, "tuples were left in channels");
    if (s_.all->bad_routes) return;
    need(s_.composition.cuts() ? partial_ <= most_partial_ : partial_ == most_partial_,
         "partial failures: " + std::to_string(partial_) + " of " + std::to_string(most_partial_));
    tally_.note_if(partial_ != 0, "partial");
  }
  /// Failures that the stages have counted, after `counters`, each of a tuple that is a dead
  /// letter: not those behind results that had been handed on.
  [[nodiscard]] std::uint64_t failed_tuples() const noexcept { return failures_ - partial_; }
  [[nodiscard]] bool ended_well() const noexcept { return ended_well_; }
  void require(bool holds, const std::string& what) const { need(holds, what); }

 private:
  void gather(const shape& s) {
    if (s.what == form::stage)
      for (std::uint32_t i = 0; i < s.stages(); ++i) stages_[s.id + i] = &s;
    for (const shape& p : s.parts) gather(p);
  }
  /// The stage that a node's name speaks of; null: of another one.
  [[nodiscard]] const shape* stage_of(const std::string& name) const {
    if (name.size() < 2 || name.find_first_not_of("0123456789", 1) != std::string::npos)
      return nullptr;
    const auto found = stages_.find(static_cast<std::uint32_t>(std::stoul(name.substr(1))));
    return found == stages_.end() ? nullptr : found->second;
  }
  void of_node(const std::string& name, const node_figures& f) {
    const shape* const s = stage_of(name);
    if (s != nullptr && s->is_carried_by_an_actor()) dropped_by_actors_ += f.dropped;
    if (s != nullptr && f.failures != 0 && name.front() == 's')
      tally_.note("policy " +
                  std::to_string(static_cast<int>(s_.all->policies[std::stoul(name.substr(1))])));
    if (!ended_well_) return;
    const char kind = s == nullptr ? name == "zip" ? 'z' : ' ' : name.front();
    switch (kind) {
      case 'z': return need(f.in - f.dropped == 2 * f.out, "zip lost something");
      case 't':
        need(f.in == f.out + f.dropped && f.out <= s->n, "take lost something");
        tally_.note_if(f.dropped != 0, "enough");
        return;
      case 'h': need(f.in == f.out, name + " lost something"); break;
      default: break;
    }
    const bool has_rest =
        s != nullptr && (s->leaf == leaf_form::unfolding || s->leaf == leaf_form::grouped);
    const bool may_drop = has_rest && s_.composition.cuts();
    need(f.dropped == 0 || may_drop, "tuples were dropped by " + name);
  }
  void failures(bool settled) const {
    const std::uint64_t thrown = s_.all->thrown, refused = s_.all->refused;
    const bool too_many = failures_ > thrown + refused;
    // Tuples that an actor, or a team, deals with after a cancellation were counted as dropped, and
    // an answer that is an error may have come too late.
    const bool too_few = settled && (ended_well_ ? failures_ < thrown + refused
                                                 : failures_ + dropped_by_actors_ < thrown);
    need(!too_many && !too_few, "failures: " + std::to_string(failures_) + " counted, " +
                                    std::to_string(thrown) + " thrown, " + std::to_string(refused) +
                                    " refused");
  }
  void consumed(std::uint32_t id, const shape& s,
                const std::map<std::string, std::uint64_t>& taken) const {
    const auto by = [&](char kind) { return taken.find(kind + std::to_string(id)); };
    const std::uint64_t n = s_.all->consumed[id];
    const bool all_is_done = ended_well_ || (s.leaf != leaf_form::asking && !s.is_data_parallel());
    if (const auto found = by('s'); found != taken.end())
      need(all_is_done ? found->second == n : found->second >= n,
           found->first + " took another number");
    if (const auto found = by('b'); found != taken.end() && ended_well_)
      need(found->second == n, found->first + " lost something");
    if (const auto found = by('g'); found != taken.end() && ended_well_ && !s_.composition.cuts())
      need(found->second == n, found->first + " lost something");
  }
  void need(bool holds, const std::string& what) const {
    if (!holds) throw std::runtime_error(what + "\n" + s_.text());
  }

  const scene& s_;
  tally& tally_;
  std::map<std::uint32_t, const shape*> stages_;
  bool ended_well_ = false;
  std::uint64_t failures_ = 0;
  std::uint64_t dropped_by_actors_ = 0;
  std::uint64_t partial_ = 0;
  std::uint64_t most_partial_ = 0;
};

}  // namespace garrick::random_streams
