// A pattern that runs: an actor, whose handle feeds the stream, waits for its end and ends it.
//
//   auto h = spawn(system, pipeline(parse, farm(count).by_key(&word::text), store));
//   send(h, line{"to be or not to be"});        // if the pattern begins with no source
//   send(h, end_of_stream{});                   // or drop all handles
//   result<void> r = system.request(h, join{}).get();
//
// Thread safety: as actors and handles.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/garrick.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/feeder_node.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/node/graph.hpp>
#include <garrick/patterns/pipeline.hpp>
#include <garrick/patterns/report.hpp>
#include <garrick/patterns/stream_options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

/// To a stream: nothing comes any more. It handles what it has, and ends.
struct end_of_stream {};
/// To a stream, as a request: answered when it has ended, with what its last stage yields, or with
/// the error that has ended it. A stream that is fed has to be told `end_of_stream`, and somebody
/// has to keep its handle until then.
struct join {};
/// To a stream: end now. What is in its channels is dropped and counted.
struct cancel {};
/// To a stream, as a request: what its nodes have done so far.
struct get_report {};

namespace detail {

struct nothing {};

template <class P>
struct value_of {
  using type = void;
};
template <class P>
  requires requires { typename P::value; }
struct value_of<P> {
  using type = typename P::value;
};

template <class In, class Value>
struct protocols {
  using open = protocol<void(In), void(end_of_stream), result<Value>(join), void(cancel),
                        stream_report(get_report)>;
  using whole = protocol<void(In), void(end_of_stream), result<Value>(join), void(cancel),
                         stream_report(get_report), void(all_ended), void(go)>;
};
template <class Value>
struct protocols<void, Value> {
  using open = protocol<result<Value>(join), void(cancel), stream_report(get_report)>;
  using whole =
      protocol<result<Value>(join), void(cancel), stream_report(get_report), void(all_ended)>;
};

/// A pattern that takes In, whatever its type: so that the actor and what spawns it are compiled
/// once for all patterns that take and yield the same.
template <class In>
class any_pattern {
 public:
  any_pattern() = default;
  virtual ~any_pattern() = default;
  any_pattern(const any_pattern&) = delete;
  any_pattern& operator=(const any_pattern&) = delete;
  /// Makes the nodes, of copies of the stages.
  [[nodiscard]] virtual inlet_ptr<In> build(const builder& b) const = 0;
};
template <class P>
class one_pattern final : public any_pattern<typename P::input> {
 public:
  explicit one_pattern(P p) : p_(std::move(p)) {}
  [[nodiscard]] inlet_ptr<typename P::input> build(const builder& b) const override {
    return p_.build(b, {});
  }

 private:
  const P p_;
};
/// For an actor of that pattern.
template <class In>
struct stream_seed {
  using garrick_sendable = void;  ///< patterns own what they are made of, and nobody changes it
  std::shared_ptr<const any_pattern<In>> pattern;
};
template <class P>
[[nodiscard]] stream_seed<typename P::input> seed_of(P&& p) {
  return {base::shared_as<const any_pattern<typename P::input>>(new one_pattern<P>(std::move(p)))};
}

/// Throws std::invalid_argument that names a bad option.
void check(const stream_options& o);

template <class T>
struct promise_of {
  using type = response_promise<T>;
};
template <>
struct promise_of<void> {
  using type = response_promise<>;
};

}  // namespace detail

/// What the handle of a stream of the pattern P understands.
template <class P>
using stream_protocol =
    typename detail::protocols<typename P::input, typename detail::value_of<P>::type>::open;

/// The handle of a stream that takes In (void: it has a source) and yields Value (void: nothing).
///
///     stream_ref<line> log_;               // pipeline(parse, store): fed with lines
///     stream_ref<void, long> count_;       // pipeline(lines, fold(0L, …))
template <class In = void, class Value = void>
using stream_ref = ref<typename detail::protocols<In, Value>::open>;

/// The actor behind a stream's handle. As a supervised child it begins the stream anew after a
/// failure.
template <class In, class Value>
class stream_actor : public actor<typename detail::protocols<In, Value>::whole> {
  using input = In;
  using value = Value;
  static constexpr bool is_fed = !std::is_void_v<input>;

 public:
  /// Throws std::invalid_argument that names a bad option.
  explicit stream_actor(detail::stream_seed<In> seed, stream_options o = {})
      : seed_(std::move(seed)), options_(o) {
    detail::check(o);
  }

  /// Builds the nodes and lets them run. Throws what copying a stage throws.
  void on_start() {
    auto made = std::make_shared<detail::graph>();
    std::vector<std::unique_ptr<detail::loose_end>> loose_ends;
    const detail::builder b{
        .to = *made, .options = options_, .workers = this->workers(), .loose_ends = &loose_ends};
    [[maybe_unused]] auto in = seed_.pattern->build(b);
    if constexpr (is_fed) {
      feeder_ = &made->template add_node<detail::feeder_node<input>>(
          detail::node_options{.name = "input", .in_place = false}, most_kept * options_.capacity,
          weak_ref<protocol<void(detail::go)>>(this->self()));
      feeder_->to(in->connect(*feeder_));
    }
    for (const auto& l : loose_ends) l->connect();
    made->launch(*this, weak_ref<protocol<void(detail::all_ended)>>(this->self()));
    graph_ = std::move(made);  // last: `on_exit` leaves alone what was not launched
  }
  /// What was fed is handled all the same if nobody holds a handle any more; after a failure the
  /// stream is cancelled.
  void on_exit(const exit_reason& why) {
    if (graph_ == nullptr) return;
    if constexpr (is_fed) feeder_->feeder_ended();
    if (!why.is_normal() && why.code() != exit_code::unreachable)
      graph_->cancel(make_error(errc::cancelled, "stream", why.to_string()));
  }

  /// Feeds the stream. While there is no room it waits, up to a millisecond, so senders are slowed
  /// as by any full mailbox; then it keeps the tuple, up to 1024 times a channel's capacity. Beyond
  /// that the tuple is a dead letter (`overload`), and so it is after the end (`not_handled`).
  void on(std::conditional_t<is_fed, input, detail::nothing> tuple)
    requires is_fed
  {
    if (const error why = refuses())
      report_dead_letter(any_ref(this->self()), why, std::move(tuple));
    else
      feeder_->put(std::move(tuple), *this);
  }
  /// Nothing is fed any more.
  void on(end_of_stream)
    requires is_fed
  {
    if (!std::exchange(finished_, true)) feeder_->finish();
  }
  /// For the framework.
  void on(detail::go)
    requires is_fed
  {
    if (feeder_->take_go()) feeder_->run(*this, nullptr);
  }
  /// Answered when the stream has ended, with its value or its error.
  result<value> on(join) {
    if (ended_) return outcome();
    if constexpr (!is_fed) me_ = this->self();  // so that whoever waits need not keep the handle
    if constexpr (std::is_void_v<value>)
      waiting_.push_back(this->make_promise());
    else
      waiting_.push_back(this->template make_promise<value>());
    return waiting_.back();
  }
  /// Ends the stream: `join` is answered with `cancelled`, unless it has ended before.
  void on(cancel) {
    if (!ended_) graph_->cancel(make_error(errc::cancelled, "stream", "it was cancelled"));
  }
  /// What the nodes have done so far.
  stream_report on(get_report) {
    stream_report r = report_of(*graph_, left_);
    r.ended = ended_;
    return r;
  }
  /// For the framework.
  void on(detail::all_ended e) {
    if (graph_ == nullptr || e.stream != graph_->number()) return;
    ended_ = true;
    for (const auto& n : graph_->nodes()) left_ += n->drop_inputs();
    for (auto& w : waiting_) {
      if (const error why = graph_->failure())
        w.fail(why);
      else if constexpr (std::is_void_v<value>)
        w.deliver();
      else
        w.deliver(*std::static_pointer_cast<value>(graph_->value()));
    }
    waiting_.clear();
    me_ = {};
    if (options_.stays) return;
    const error why = graph_->failure();
    this->quit(why ? exit_reason(why) : exit_reason());
  }

 private:
  static constexpr std::size_t most_kept = 1024;  ///< times a channel's capacity

  /// Why it takes no more tuples; no error: it does.
  [[nodiscard]] error refuses() const {
    if (finished_ || ended_ || graph_->is_cancelled())
      return make_error(errc::not_handled, "stream", "the stream has ended");
    if (feeder_->is_full())
      return make_error(errc::overload, "stream",
                        "it is too slow: " + std::to_string(most_kept * options_.capacity) +
                            " tuples wait for room in its first channel");
    return {};
  }
  [[nodiscard]] result<value> outcome() const {
    if (const error why = graph_->failure()) return why;
    if constexpr (std::is_void_v<value>)
      return {};
    else
      return *std::static_pointer_cast<value>(graph_->value());
  }

  const detail::stream_seed<In> seed_;
  stream_options options_;
  std::shared_ptr<detail::graph> graph_;
  std::conditional_t<is_fed, detail::feeder_node<input>*, std::nullptr_t> feeder_ = nullptr;
  std::vector<typename detail::promise_of<value>::type> waiting_;
  std::uint64_t left_ = 0;
  ref<typename detail::protocols<In, Value>::whole> me_;  ///< while somebody waits for the end
  bool finished_ = false;
  bool ended_ = false;
};

namespace detail {

template <class P>
using stream_actor_of = stream_actor<typename P::input, typename value_of<P>::type>;

}  // namespace detail

/// Runs a pattern: `from` is an actor system, a test system, or an actor (`*this`), which then is
/// not linked to it. Each call runs a copy. Errors as those of `spawn` there: the handle is never
/// empty. The stream outlives its handle if it has a source; else it ends when all handles are
/// gone.
///
///     auto h = spawn(system, pipeline(lines, split, farm(count).by_key(&word::text), print));
template <class Spawner, stage P>
  requires(!data_parallel<P>)
ref<stream_protocol<P>> spawn(Spawner& from, P pattern, stream_options o = {}) {
  return spawn(from, spawn_options(), std::move(pattern), o);
}
/// As above, with options of the actor behind the handle. One that is linked or monitored does not
/// stay (stream_options::stays).
template <class Spawner, stage P>
  requires(!data_parallel<P>)
ref<stream_protocol<P>> spawn(Spawner& from, const spawn_options& actor, P pattern,
                              stream_options o = {}) {
  static_assert(detail::whole_check<P>::reported);
  if (actor.linked || actor.monitored) o.stays = false;
  if constexpr (detail::passes<detail::whole_check<P>>)
    return from.template spawn<detail::stream_actor_of<P>>(actor,
                                                           detail::seed_of(std::move(pattern)), o);
  else
    return {};
}
/// A stream as the child of a supervisor, which begins it anew when it has failed. What was in it
/// is lost then; its handle and the tuples that wait in its mailbox stay.
///
///     system.spawn<supervisor>(supervision{}, stream_child({.name = "log"}, pipeline(f, store)));
template <stage P>
  requires(!data_parallel<P>)
[[nodiscard]] auto stream_child(child_options how, P pattern, stream_options o = {}) {
  static_assert(detail::whole_check<P>::reported);
  o.stays = false;
  if constexpr (detail::passes<detail::whole_check<P>>)
    return child<detail::stream_actor_of<P>>(std::move(how), detail::seed_of(std::move(pattern)),
                                             o);
  else
    return child_spec(nullptr);
}
/// As `spawn`, with a refused option or a stage that cannot be made as a value, `spawn_failed`.
template <class Spawner, stage P>
  requires(!data_parallel<P>)
result<ref<stream_protocol<P>>> try_spawn(Spawner& from, P pattern, stream_options o = {}) {
  static_assert(detail::whole_check<P>::reported);
  if constexpr (detail::passes<detail::whole_check<P>>) {
    auto made =
        from.template try_spawn<detail::stream_actor_of<P>>(detail::seed_of(std::move(pattern)), o);
    if (!made) return made.error();
    return ref<stream_protocol<P>>(*made);
  } else {
    return error();
  }
}

}  // namespace garrick::patterns

/// Not the types of what it takes and yields, which may be long.
template <class In, class Value>
inline constexpr std::string_view
    garrick::base::shown_name<garrick::patterns::stream_actor<In, Value>> = "stream";
