// A running pattern: an actor, whose handle feeds the stream, waits for its end, and cancels it.
//
//   auto h = spawn(system, pipeline(parse, farm(count).by_key(&word::text), store));
//   send(h, line{"to be or not to be"});        // if the pattern begins with no source
//   send(h, end_of_stream{});                   // or drop all handles
//   result<void> r = system.request(h, join{}).get();
//
// Thread safety: as that of actors and handles.
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

/// Tells a stream that no further tuple comes. The stream handles the tuples that it has, and ends.
struct end_of_stream {};
/// Asks a stream for its outcome. When the stream has ended, it answers with the value of its last
/// stage, or with the error that has ended it. For an answer of a stream that is fed, send
/// `end_of_stream`, and keep a handle until the answer arrives. A stream also answers a `join` that
/// is sent after its end. A `stream_child` answers only the requests that it got before its end; if
/// it is restarted, it answers later ones at its next end.
struct join {};
/// Tells a stream to end now. Tuples in its channels are dropped and counted.
struct cancel {};
/// Asks a stream for the work of its nodes so far.
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

/// A pattern of any type, so that the actor and its spawn are compiled once for all patterns that
/// take and yield the same types.
class any_pattern {
 public:
  any_pattern() = default;
  virtual ~any_pattern() = default;
  any_pattern(const any_pattern&) = delete;
  any_pattern& operator=(const any_pattern&) = delete;
  /// Makes the nodes from copies of the stages, and returns the inlet to them.
  [[nodiscard]] virtual any_inlet_ptr build(const builder& b) const = 0;
};
template <class P>
class one_pattern final : public any_pattern {
 public:
  explicit one_pattern(P p) : p_(std::move(p)) {}
  [[nodiscard]] any_inlet_ptr build(const builder& b) const override { return p_.build(b, {}); }

 private:
  const P p_;
};
/// The argument of an actor of a pattern that takes In.
template <class In>
struct stream_seed {
  using garrick_sendable = void;  ///< patterns own all their parts, which do not change
  std::shared_ptr<const any_pattern> pattern;
};
template <class P>
[[nodiscard]] stream_seed<typename P::input> seed_of(P&& p) {
  return {base::shared_as<const any_pattern>(new one_pattern<P>(std::move(p)))};
}

/// Checks the options. Throws std::invalid_argument, which names the bad option.
void check(const stream_options& o);

template <class T>
struct promise_of {
  using type = response_promise<T>;
};
template <>
struct promise_of<void> {
  using type = response_promise<>;
};

/// The part of the work of a stream's actor that does not depend on the types of the stream's
/// tuples and of its value. Its functions are called on that actor's turns.
class stream_run {
 public:
  using told_of_end = weak_ref<protocol<void(all_ended)>>;
  using fed_by = weak_ref<protocol<void(go)>>;

  /// Throws std::invalid_argument, which names the bad option.
  stream_run(std::shared_ptr<const any_pattern> pattern, const stream_options& o);
  ~stream_run();
  stream_run(const stream_run&) = delete;
  stream_run& operator=(const stream_run&) = delete;

  /// Builds the nodes and lets them run. `takes` is the type of the tuples that the actor `by`
  /// feeds to the stream on its turns; null if the pattern has a source.
  void start(actor_base& self, told_of_end told, const tuple_type* takes, fed_by by);
  void exit(const exit_reason& why);
  /// Returns true if the stream leaves the next tuple in the actor's mailbox, because it takes no
  /// more tuples and does not stay. The actor's next incarnation takes the tuple; without one, it
  /// becomes a dead letter with the reason of the actor's end.
  [[nodiscard]] bool leaves_tuple() noexcept {
    if (options_.stays || !(finished_ || ended_ || graph_->is_cancelled())) return false;
    has_left_some_ = true;
    return true;
  }
  /// Returns true if the stream leaves an `end_of_stream` in the mailbox, so that it stays behind
  /// the tuples that were sent before it.
  [[nodiscard]] bool leaves_end() const noexcept {
    return !options_.stays && (has_left_some_ || graph_->is_cancelled());
  }
  /// Takes a tuple. If the stream takes no more, returns an error and leaves the tuple as it was.
  [[nodiscard]] error feed(void* tuple, actor_base& self);
  void finish();
  void run_feeder(actor_base& self);
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }
  /// Returns the error of an ended stream.
  [[nodiscard]] error failure() const { return graph_->failure(); }
  [[nodiscard]] const void* value() const noexcept { return graph_->value().get(); }
  void waits(core::promise_base p) { waiting_.push_back(std::move(p)); }
  void cancel();
  [[nodiscard]] stream_report report() const;
  /// Returns true if `e` reports the end of this stream. Then all waiting requests have been
  /// answered: with the stream's error, or else by `deliver` with its value.
  [[nodiscard]] bool ends(const all_ended& e,
                          void (*deliver)(core::promise_base& to, const void* value));
  /// Returns true if the actor stays when the stream has ended.
  [[nodiscard]] bool stays() const noexcept { return options_.stays; }
  /// Returns the reason with which the actor quits when the stream has ended.
  [[nodiscard]] exit_reason why() const;

 private:
  static constexpr std::size_t most_kept = 1024;  ///< times a channel's capacity

  /// Returns the reason why the stream takes no more tuples; no error if it takes more.
  [[nodiscard]] error refuses() const;

  const std::shared_ptr<const any_pattern> pattern_;
  const stream_options options_;
  std::shared_ptr<graph> graph_;
  feeder_node* feeder_ = nullptr;
  std::vector<core::promise_base> waiting_;
  std::uint64_t left_ = 0;
  bool finished_ = false;
  bool ended_ = false;
  bool has_left_some_ = false;  ///< it has left tuples in the mailbox
};

/// The part of a stream's actor that leaves messages in its mailbox.
template <class In>
class leaves_mail {
 public:
  [[nodiscard]] bool skips(const In&) noexcept { return run_.leaves_tuple(); }
  [[nodiscard]] bool skips(const end_of_stream&) const noexcept { return run_.leaves_end(); }

 protected:
  leaves_mail(std::shared_ptr<const any_pattern> pattern, const stream_options& o)
      : run_(std::move(pattern), o) {}

  stream_run run_;
};
/// A stream with a source gets no messages that could wait.
template <>
class leaves_mail<void> {
 protected:
  leaves_mail(std::shared_ptr<const any_pattern> pattern, const stream_options& o)
      : run_(std::move(pattern), o) {}

  stream_run run_;
};

}  // namespace detail

/// The protocol of the handle of a stream of the pattern P.
template <class P>
using stream_protocol =
    typename detail::protocols<typename P::input, typename detail::value_of<P>::type>::open;

/// The handle of a stream that takes In (void: it has a source) and yields Value (void: nothing).
///
///     stream_ref<line> log_;               // pipeline(parse, store): fed with lines
///     stream_ref<void, long> count_;       // pipeline(lines, fold(0L, …))
template <class In = void, class Value = void>
using stream_ref = ref<typename detail::protocols<In, Value>::open>;

/// The actor behind a stream's handle. As a supervised child it restarts the stream after a
/// failure. Tuples that the ended stream does not take wait in the mailbox, with an `end_of_stream`
/// behind them, for the next incarnation.
template <class In, class Value>
class stream_actor : public actor<typename detail::protocols<In, Value>::whole>,
                     public detail::leaves_mail<In> {
  using input = In;
  using value = Value;
  static constexpr bool is_fed = !std::is_void_v<input>;

 public:
  /// Throws std::invalid_argument, which names the bad option.
  explicit stream_actor(detail::stream_seed<In> seed, stream_options o = {})
      : detail::leaves_mail<In>(std::move(seed.pattern), o) {}

  /// Builds the nodes and lets them run. Throws the exceptions of copying a stage, std::bad_alloc,
  /// and std::runtime_error if there is no thread left for a stage that needs its own.
  void on_start() {
    const detail::tuple_type* takes = nullptr;
    detail::stream_run::fed_by by;
    if constexpr (is_fed) {
      takes = &detail::tuple_type_of<In>;
      by = detail::stream_run::fed_by(this->self());
    }
    run_.start(*this, detail::stream_run::told_of_end(this->self()), takes, std::move(by));
  }
  /// Lets the nodes handle the tuples that were fed, even if no handle is left. Cancels the stream
  /// if the actor has failed.
  void on_exit(const exit_reason& why) { run_.exit(why); }

  /// Feeds the stream. If there is no room, waits up to a millisecond, so senders are slowed as by
  /// any full mailbox; then keeps the tuple, up to 1024 times a channel's capacity. Beyond that
  /// limit the tuple becomes a dead letter (`overload`). So does a tuple that arrives after the end
  /// of a stream that stays (`not_handled`).
  void on(std::conditional_t<is_fed, input, detail::nothing> tuple)
    requires is_fed
  {
    if (const error why = run_.feed(&tuple, *this))
      report_dead_letter(any_ref(this->self()), why, std::move(tuple));
  }
  /// Ends the feeding of tuples.
  void on(end_of_stream)
    requires is_fed
  {
    run_.finish();
  }
  /// For the framework: feeds waiting tuples to the stream.
  void on(detail::go)
    requires is_fed
  {
    run_.run_feeder(*this);
  }
  /// Answers when the stream has ended, with its value or its error.
  result<value> on(join) {
    if (run_.has_ended()) return outcome();
    if constexpr (!is_fed) me_ = this->self();  // a waiting requester need not keep the handle
    auto answer = [&] {
      if constexpr (std::is_void_v<value>)
        return this->make_promise();
      else
        return this->template make_promise<value>();
    }();
    result<value> later(answer);
    run_.waits(std::move(answer));
    return later;
  }
  /// Ends the stream. `join` is answered with `cancelled`, unless the stream has ended before.
  void on(cancel) { run_.cancel(); }
  /// Returns the work of the nodes so far.
  stream_report on(get_report) { return run_.report(); }
  /// For the framework: answers each `join` when the nodes have ended.
  void on(detail::all_ended e) {
    if (!run_.ends(e, &deliver)) return;
    me_ = {};
    if (!run_.stays()) this->quit(run_.why());
  }

 private:
  static void deliver(core::promise_base& to, [[maybe_unused]] const void* at) {
    typename detail::promise_of<value>::type answer(core::promise_access::take(to));
    if constexpr (std::is_void_v<value>)
      answer.deliver();
    else
      answer.deliver(*static_cast<const value*>(at));
  }
  [[nodiscard]] result<value> outcome() const {
    if (const error why = run_.failure()) return why;
    if constexpr (std::is_void_v<value>)
      return {};
    else
      return *static_cast<const value*>(run_.value());
  }

  using detail::leaves_mail<In>::run_;
  ref<typename detail::protocols<In, Value>::whole> me_;  ///< while a request waits for the end
};

namespace detail {

template <class P>
using stream_actor_of = stream_actor<typename P::input, typename value_of<P>::type>;

/// Refuses an argument of `spawn` that is no pattern, or that does not fit beside the pattern.
template <class P, bool Is = false>
struct spawn_takes_a_pattern : failed_check {
  static_assert(Is,
                "garrick: spawn(system, pattern, options) takes an actor system (in an actor, "
                "*this), one pattern, such as pipeline(a, b, c) or seq(f) of a function f, and "
                "perhaps stream_options; stream_child(options, pattern) takes child_options first");
};
template <class P>
consteval auto check_spawned() {
  if constexpr (requires { typename P::garrick_unfinished; })
    return verdict<stage_check<P>>;
  else if constexpr (!stage<P> || data_parallel<P>)
    return verdict<spawn_takes_a_pattern<P>>;
  else
    return verdict<whole_check<P>>;
}
template <class From, class T>
inline constexpr bool may_be_spawned =
    stage<T> || requires { typename T::garrick_unfinished; } ||
    (signature_of<T>::known &&
     (std::is_base_of_v<actor_base, From> || std::is_same_v<From, actor_system>));

/// The type of the first argument that a user may take for a pattern; void if there is none.
template <class From, class... Args>
struct spawned_of {
  using type = void;
};
template <class From, class First, class... Rest>
struct spawned_of<From, First, Rest...> : spawned_of<From, Rest...> {};
template <class From, class First, class... Rest>
  requires may_be_spawned<From, First>
struct spawned_of<From, First, Rest...> {
  using type = First;
};
/// True if a `spawn` takes these arguments.
template <class From, class... Args>
inline constexpr bool spawn_takes = false;
template <class From, class P>
inline constexpr bool spawn_takes<From&, P> = stage<P>;
template <class From, class A, class B>
inline constexpr bool spawn_takes<From&, A, B> =
    (stage<A> && std::is_convertible_v<B, stream_options>) ||
    (stage<B> && std::is_convertible_v<A, spawn_options>);
template <class From, class O, class P, class Options>
inline constexpr bool spawn_takes<From&, O, P, Options> =
    stage<P> && std::is_convertible_v<O, spawn_options> &&
    std::is_convertible_v<Options, stream_options>;

/// The failed check that a `spawn` of P reports if no overload takes its arguments.
template <class P>
using misspawned = std::conditional_t<requires { typename P::garrick_unfinished; }, stage_check<P>,
                                      spawn_takes_a_pattern<P, refused<P>>>;
/// True if a `try_spawn` takes these arguments.
template <class From, class... Args>
inline constexpr bool try_spawn_takes = false;
template <class From, class P>
inline constexpr bool try_spawn_takes<From&, P> = stage<P>;
template <class From, class P, class Options>
inline constexpr bool try_spawn_takes<From&, P, Options> =
    stage<P> && std::is_convertible_v<Options, stream_options>;

/// GCC shows this name in an error.
struct options_in_braces_have_no_such_member;

/// An actor system, a test system or an actor.
template <class From>
concept spawns_streams =
    std::is_base_of_v<actor_base, std::remove_cvref_t<From>> ||
    std::is_base_of_v<system::spawner<std::remove_cvref_t<From>>, std::remove_cvref_t<From>>;

/// The handle of a pattern that was refused. It converts to every handle, so that the reason of the
/// refusal stays the only error.
struct refused_ref : any_ref {
  template <class P>
  operator ref<P>() const {
    return {};
  }
};
template <class P>
struct handle_of {
  using type = refused_ref;
};
template <stage P>
struct handle_of<P> {
  using type = ref<stream_protocol<P>>;
};

}  // namespace detail

/// Runs a copy of a pattern. `from` is an actor system, a test system, or an actor (`*this`), to
/// which the stream is not linked. Reports errors as `from.spawn` does; the handle is never empty.
/// The stream outlives its handle if it has a source; otherwise it ends when all handles are gone.
///
///     auto h = spawn(system, pipeline(lines, split, farm(count).by_key(&word::text), print));
template <class Spawner, stage P>
  requires(!data_parallel<P>)
ref<stream_protocol<P>> spawn(Spawner& from, P pattern, stream_options o = {}) {
  return spawn(from, spawn_options(), std::move(pattern), o);
}
/// Like the function above, with options of the actor behind the handle. A stream that is linked or
/// monitored does not stay (stream_options::stays).
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
/// Returns a stream as the child of a supervisor, which restarts it after a failure. A restart
/// loses the tuples inside the stream; the handle stays valid, and tuples in its mailbox are kept.
///
///     system.spawn<supervisor>(supervision{}, stream_child({.name = "log"}, pipeline(f, store)));
template <class P>
[[nodiscard]] auto stream_child(child_options how, P pattern, stream_options o = {}) {
  using check = detail::check_of<decltype(detail::check_spawned<P>())>;
  static_assert(check::reported);
  o.stays = false;
  if constexpr (detail::passes<check>)
    return child<detail::stream_actor_of<P>>(std::move(how), detail::seed_of(std::move(pattern)),
                                             o);
  else
    return child_spec(nullptr);
}
/// Like `spawn`, but returns the error `spawn_failed` for a refused option, or for a stage that
/// cannot be made.
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

/// This overload refuses arguments with a pattern or a function that no other `spawn` takes.
template <class From, class... Args,
          class P = typename detail::spawned_of<std::decay_t<From>, std::decay_t<From>,
                                                std::decay_t<Args>...>::type>
  requires(!std::is_void_v<P> && !detail::spawn_takes<From, std::decay_t<Args>...>)
typename detail::handle_of<P>::type spawn(From&& /*from*/, Args&&... /*args*/) {
  static_assert(detail::misspawned<P>::reported);
  return {};
}
/// Like the overload above, for `try_spawn`.
template <class From, class... Args,
          class P = typename detail::spawned_of<std::decay_t<From>, std::decay_t<From>,
                                                std::decay_t<Args>...>::type>
  requires(!std::is_void_v<P> && !detail::try_spawn_takes<From, std::decay_t<Args>...>)
result<typename detail::handle_of<P>::type> try_spawn(From&& /*from*/, Args&&... /*args*/) {
  static_assert(detail::misspawned<P>::reported);
  return error();
}

// Arguments in braces have no type, so braces that fit no options match only an ellipsis. GCC
// refuses such a call before it looks at the body, so it would not report an assertion there.
#if defined(__clang__)
/// This overload refuses braces behind the pattern that make no stream_options.
template <detail::spawns_streams From, stage P>
auto spawn(From&& /*from*/, const P& /*pattern*/, ...) {
  static_assert(detail::is_right_call<From>,
                "garrick: in braces stand members of stream_options or, before the pattern, of "
                "spawn_options: {.name = value, ...} in the order of their declaration");
  return typename detail::handle_of<P>::type();
}
/// This overload refuses braces before the pattern that make no spawn_options.
template <detail::spawns_streams From>
auto spawn(From&& /*from*/, ...) {
  static_assert(detail::is_right_call<From>,
                "garrick: in braces stand members of stream_options or, before the pattern, of "
                "spawn_options: {.name = value, ...} in the order of their declaration");
  return any_ref();
}
/// This overload refuses braces that make no stream_options.
template <detail::spawns_streams From, stage P>
auto try_spawn(From&& /*from*/, const P& /*pattern*/, ...) {
  static_assert(detail::is_right_call<From>,
                "garrick: in braces stand members of stream_options or, before the pattern, of "
                "spawn_options: {.name = value, ...} in the order of their declaration");
  return result<typename detail::handle_of<P>::type>();
}
#else
/// This overload refuses braces behind the pattern that make no stream_options.
template <detail::spawns_streams From, stage P,
          class Garrick = detail::options_in_braces_have_no_such_member>
typename detail::handle_of<P>::type spawn(From&&, const P&, ...) = delete;
/// This overload refuses braces before the pattern that make no spawn_options.
template <detail::spawns_streams From,
          class Garrick = detail::options_in_braces_have_no_such_member>
any_ref spawn(From&&, ...) = delete;
/// This overload refuses braces that make no stream_options.
template <detail::spawns_streams From, stage P,
          class Garrick = detail::options_in_braces_have_no_such_member>
result<typename detail::handle_of<P>::type> try_spawn(From&&, const P&, ...) = delete;
#endif

}  // namespace garrick::patterns

/// A short name, since the types of the stream's tuples and of its value may be long.
template <class In, class Value>
inline constexpr std::string_view
    garrick::base::shown_name<garrick::patterns::stream_actor<In, Value>> = "stream";
