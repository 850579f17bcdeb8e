// The common part of the data-parallel patterns: each takes a container and gives a result, works
// on several elements at once, is spawned as an actor or is a stage, and has options for both.
//
//   auto brighter = map([](pixel& p) { … }).replicas(4).dynamic(64);
//   data_ref<std::vector<pixel>> h = spawn(system, brighter);              // asked by many
//   pipeline(pictures, brighter, store)                                    // a stage
//
// The container is moved to the pattern, and the result is moved back: the container is copied only
// if others hold the message, too. No other code sees an element while it is worked on. The
// functions have no captures; patterns::bind adds values, which they cannot change, since several
// threads use them.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/garrick.hpp>
#include <garrick/patterns/detail/actor_node.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/ordered.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/plan.hpp>
#include <garrick/patterns/seq.hpp>
#include <garrick/patterns/stage_actor.hpp>
#include <garrick/patterns/team/shared_work.hpp>
#include <garrick/patterns/team/team.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

/// The handle of a data-parallel pattern that takes In and gives Out.
///
///     data_ref<std::vector<int>> squares_;             // in place: the container comes back
///     data_ref<std::vector<order>, long> total_;       // a reduction
template <class In, class Out = In>
using data_ref = ref<protocol<result<Out>(In)>>;

namespace detail {

/// The way in which a pattern cuts its container.
struct cut_options {
  std::size_t chunk = 0;  ///< elements in a piece; 0: the pattern decides
  std::size_t hands = 1;  ///< helpers that work on it at once
  std::string name{};     ///< for errors
};

/// The work of a data-parallel pattern. A Body has an `input`, an `output`, and
///
///   std::shared_ptr<awaited_work<output>> begin(input&&, const cut_options&) const
template <class Body>
using work_of = std::shared_ptr<awaited_work<typename Body::output>>;

/// True if the body cuts its container into pieces of one length.
template <class Body>
inline constexpr bool has_pieces = true;
template <class Body>
  requires requires { Body::has_pieces; }
inline constexpr bool has_pieces<Body> = Body::has_pieces;

/// A body of any type: the actors are compiled once for all patterns with the same input and
/// output.
template <class In, class Out>
class any_body {
 public:
  any_body() = default;
  virtual ~any_body() = default;
  any_body(const any_body&) = delete;
  any_body& operator=(const any_body&) = delete;
  [[nodiscard]] virtual std::shared_ptr<awaited_work<Out>> begin(In&& all,
                                                                 const cut_options& o) const = 0;
};
template <class Body>
class one_body final : public any_body<typename Body::input, typename Body::output> {
 public:
  explicit one_body(Body b) : body_(std::move(b)) {}
  [[nodiscard]] work_of<Body> begin(typename Body::input&& all,
                                    const cut_options& o) const override {
    return body_.begin(std::move(all), o);
  }

 private:
  const Body body_;
};

/// The options for a pattern's actors.
struct data_options {
  using garrick_sendable = void;
  team_options team{};
  std::size_t chunk = 0;
  std::string name{};

  [[nodiscard]] cut_options cut(std::size_t workers) const {
    return {.chunk = chunk, .hands = team.replicas != 0 ? team.replicas : workers, .name = name};
  }
};

/// The parts of which a pattern's actor is made.
template <class In, class Out>
struct data_seed {
  using garrick_sendable = void;  ///< checked when the pattern was made; the body does not change
  std::shared_ptr<const any_body<In, Out>> body;
  data_options options;
};

/// The actor behind the handle of a spawned pattern.
template <class In, class Out>
class data_actor : public actor<protocol<result<Out>(In), void(work_on)>> {
 public:
  explicit data_actor(data_seed<In, Out> s) : seed_(std::move(s)) {}
  void on_start() { team_.assemble(*this, seed_.options.team, seed_.options.name); }

  result<Out> on(In in) {
    std::shared_ptr<awaited_work<Out>> work;
    try {
      work = seed_.body->begin(std::move(in), seed_.options.cut(this->workers()));
    } catch (...) {  // of the container's `size`, for example
      return make_error(errc::receiver_failed, seed_.options.name, what_was_thrown());
    }
    response_promise<Out> promise = this->template make_promise<Out>();
    result<Out> later = promise;
    work->answers(std::move(promise));
    team_.begin(work->work(), *this, this->self());
    return later;
  }
  void on(work_on t) { team_.go_on(std::move(t), *this, this->self()); }

 private:
  const data_seed<In, Out> seed_;
  team team_;
};

/// Checks that a team has at least one helper, and no more than a farm has replicas. Throws
/// std::invalid_argument.
inline void check_team(std::size_t n) {
  if (n == 0 || n > most_replicas)
    throw std::invalid_argument("garrick: replicas(n): n is " + std::to_string(n) + "; 1 to " +
                                std::to_string(most_replicas));
}
/// Returns the options for the actor that is asked. Throws std::invalid_argument for a bounded
/// mailbox.
[[nodiscard]] inline spawn_options asked_options(spawn_options o) {
  if (o.policy != mailbox_policy::unbounded)
    throw std::invalid_argument("garrick: a data-parallel pattern has an unbounded mailbox");
  if (o.quantum == 0) o.quantum = asked_quantum;
  return o;
}

/// The actor of a pattern that is a stage: it works on one container after the other. In an ordered
/// farm, containers and results come in frames. Since the actor holds one container at a time, it
/// takes the mark behind a container only after the container's result was put out.
template <class In, class Out, class Takes = In, class Gives = Out>
class data_stage_actor : public stage_actor<Takes, Gives, void(work_on), void(work_done<Out>)> {
 public:
  using garrick_says_what_failed = void;

  explicit data_stage_actor(data_seed<In, Out> s) : seed_(std::move(s)) {}
  void on_start() {
    this->hold_at_most(1);
    team_.assemble(*this, seed_.options.team, seed_.options.name);
  }
  void on_restart() noexcept {}
  void consume(Takes in) {
    if constexpr (!perhaps_a_tuple<Takes>)
      begin(std::move(in));
    else if (in.tuple)
      begin(*std::move(in.tuple));
    else
      this->send_next(Gives{});
  }
  void on_exit(const exit_reason& /*why*/) { give_up(); }
  using stage_actor<Takes, Gives, void(work_on), void(work_done<Out>)>::on;
  void on(work_on t) { team_.go_on(std::move(t), *this, this->self()); }
  void on(work_done<Out> done) {
    if (done.what != current_) return;  // given up
    current_.reset();
    const stage_hold until_here = std::move(hold_);
    if (result<Out> r = done.what->outcome())
      this->send_next_or(
          framed_if_needed(std::move(r).value()),
          [this](const std::exception_ptr& why) { failed(why, what_was_thrown(why)); });
    else
      failed(r.error(), r.error().to_string());
    spare_.reset();
  }

 private:
  void begin(In all) {
    stage_hold hold = this->hold();
    try {
      if constexpr (base::copyable_message<In>)
        if (this->policy() != on_failure::fail) spare_.emplace(all);
      const auto work = seed_.body->begin(std::move(all), seed_.options.cut(this->workers()));
      work->answers(ref<protocol<void(work_done<Out>)>>(this->self()));
      current_ = work;
      team_.begin(work->work(), *this, this->self());
    } catch (...) {  // of the container's `size`, for example
      give_up();
      failed(std::current_exception(), what_was_thrown());
      spare_.reset();
      return;
    }
    hold_ = std::move(hold);
  }
  void give_up() noexcept {
    if (current_ != nullptr) current_->work().give_up();
    current_.reset();
  }
  /// Reports that the container has failed.
  template <class Why>
  void failed(const Why& why, std::string text) {
    if (spare_)
      this->tuple_failed(*std::move(spare_), why);
    else
      this->tuple_failed(std::move(text), why);
  }
  [[nodiscard]] static Gives framed_if_needed(Out&& value) {
    if constexpr (!perhaps_a_tuple<Gives>)
      return std::move(value);
    else
      return {std::move(value)};
  }

  const data_seed<In, Out> seed_;
  team team_;
  std::optional<In> spare_;  ///< the container as it came
  std::shared_ptr<awaited_work<Out>> current_;
  stage_hold hold_;  ///< until the container's result was put out
};

}  // namespace detail

/// A data-parallel pattern: the result of `map`, `reduce` and their like.
template <class Body>
class data_pattern {
 public:
  using input = typename Body::input;    ///< the container that it takes
  using output = typename Body::output;  ///< the type of the result
  using body = Body;                     ///< For the framework: its work.
  using garrick_stage = void;
  using garrick_data = void;
  using garrick_sendable = void;  ///< checked when it was made
  static constexpr bool garrick_keeps_order = true;

  /// For the framework: makes a pattern of its work.
  data_pattern(Body what, std::string name)
      : seed_{base::shared_as<const detail::any_body<input, output>>(
                  new detail::one_body<Body>(std::move(what))),
              {}} {
    seed_.options.name = std::move(name);
  }

  /// Returns a copy of this pattern with `n` replicas, which work on a container at once; by
  /// default one per worker. Throws std::invalid_argument for zero.
  [[nodiscard]] data_pattern replicas(std::size_t n) const {
    detail::check_team(n);
    data_pattern p = *this;
    p.seed_.options.team.replicas = n;
    return p;
  }
  /// Returns a copy that works in pieces of `chunk` elements; a free helper takes the next piece.
  /// Useful if some elements take longer than others. By default a map has a part for each replica,
  /// and a replica that is done takes elements left in the parts of others; a stencil has four
  /// pieces for each replica, a reduction 256, and `master_worker` one for each element. Not for
  /// divide and conquer, which has no pieces. Throws std::invalid_argument for zero.
  [[nodiscard]] data_pattern dynamic(std::size_t chunk) const {
    static_assert(detail::has_pieces<Body>,
                  "garrick: divide_conquer has no dynamic(chunk): its is_small says how large a "
                  "part may be");
    if (chunk == 0) throw std::invalid_argument("garrick: dynamic(chunk): chunk is 0; at least 1");
    data_pattern p = *this;
    p.seed_.options.chunk = chunk;
    return p;
  }
  /// Returns a copy with a thread of its own for each replica. `affinity` places these threads, as
  /// `<2-3>` does (spawn_options::affinity). No processor is reserved for them: the workers run
  /// there, too, unless the setting `scheduler.affinity` places them elsewhere.
  [[nodiscard]] data_pattern own_threads(std::string affinity = {}) const {
    data_pattern p = *this;
    p.seed_.options.team.own_threads = true;
    p.seed_.options.team.affinity = std::move(affinity);
    return p;
  }
  /// Returns a copy with another name: for errors, figures and `print`.
  [[nodiscard]] data_pattern named(std::string name) const {
    data_pattern p = *this;
    p.seed_.options.name = std::move(name);
    return p;
  }
  /// This overload refuses a name that is not text.
  template <detail::no_name T>
  [[nodiscard]] data_pattern named(const T& /*name*/) const {
    static_assert(detail::name_is_no_text<T>::reported);
    return *this;
  }
  /// Returns a copy with another answer to exceptions, for use as a stage; an actor that is spawned
  /// from a pattern ignores it. With `skip` and `restart` the container becomes a dead letter in
  /// its original state, so each container is copied once before it is worked on. If it cannot be
  /// copied, the dead letter is the error's text.
  [[nodiscard]] data_pattern on(on_failure policy) const {
    data_pattern p = *this;
    p.policy_ = policy;
    return p;
  }

  /// Returns the pattern's structure.
  [[nodiscard]] plan describe() const { return stage().describe(); }
  /// For the framework: returns the parts of which an actor or a stage is made.
  [[nodiscard]] const detail::data_seed<input, output>& seed() const noexcept { return seed_; }
  /// For the framework: returns the policy for exceptions.
  [[nodiscard]] on_failure policy() const noexcept { return policy_; }
  /// For the framework: adds the nodes of a stage.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    return stage().build(b, next);
  }
  /// For the framework: adds the nodes of a stage in an ordered farm.
  detail::inlet_ptr<detail::framed<input>> build_framed(
      const detail::builder& b, const detail::inlet_ptr<detail::framed<output>>& next) const {
    using takes = detail::framed<input>;
    using actor = detail::data_stage_actor<input, output, takes, detail::framed<output>>;
    detail::any_actor_stage framed =
        detail::stage_of_actors<actor>(std::tuple<seed_type>(seed_), seed_.options.name);
    framed.policy = policy_;
    return framed.build(b, next);
  }

 private:
  using seed_type = detail::data_seed<input, output>;
  [[nodiscard]] actor_stage<input, output> stage() const {
    return actor_stage<input, output>(
               detail::stage_of_actors<detail::data_stage_actor<input, output>>(
                   std::tuple<seed_type>(seed_), seed_.options.name))
        .on(policy_);
  }

  seed_type seed_;
  on_failure policy_ = on_failure::fail;
};

/// Runs a data-parallel pattern as an actor: each request with a container is answered with its
/// result, or with the error `receiver_failed`. The error names the pattern and the place: "element
/// 17"; "piece at 4000" if the function takes pieces, by the piece's first element; "part at 4000"
/// of a divide and conquer, "part at depth 2" if it works with values; "iteration 3, element 17" of
/// a stencil. Requests are worked on in their order; a long one gives way to others after some
/// milliseconds. `from` is an actor system, a test system, or an actor (`*this`). The actor ends
/// when no handle is left and no request is waiting for its answer. If its helpers cannot start,
/// for example because a processor is not allowed, it ends at once, and requests fail. Throws the
/// exceptions of `from.spawn`.
///
///     auto squares = spawn(system, map([](double& x) { x *= x; }));
///     std::vector<double> r = system.request(squares, std::move(v)).get().value();
template <class Spawner, data_parallel P>
data_ref<typename P::input, typename P::output> spawn(Spawner& from, P pattern) {
  const spawn_options o{.name = pattern.seed().options.name};
  return spawn(from, o, std::move(pattern));
}
/// Like the function above, with options of the actor behind the handle, its name among them; the
/// pattern's name is then for errors and helpers. Each message is up to a millisecond's work, so
/// the `quantum` is the number of milliseconds after which other actors have a turn: eight by
/// default. Throws std::invalid_argument for a bounded mailbox, in which the actor's own messages
/// would find no room.
template <class Spawner, data_parallel P>
data_ref<typename P::input, typename P::output> spawn(Spawner& from, spawn_options o, P pattern) {
  return from.template spawn<detail::data_actor<typename P::input, typename P::output>>(
      detail::asked_options(std::move(o)), pattern.seed());
}
/// Like `spawn`, but returns the error `spawn_failed` for a refused option.
template <class Spawner, data_parallel P>
result<data_ref<typename P::input, typename P::output>> try_spawn(Spawner& from, P pattern) {
  using asked = detail::data_actor<typename P::input, typename P::output>;
  auto made = from.template try_spawn<asked>(
      detail::asked_options({.name = pattern.seed().options.name}), pattern.seed());
  if (!made) return made.error();
  return data_ref<typename P::input, typename P::output>(*made);
}
/// Returns a data-parallel pattern as the child of a supervisor. An exception of its function is an
/// answer and restarts nothing. Throws std::invalid_argument for a bounded mailbox.
///
///     system.spawn<supervisor>(supervision{}, data_child({.name = "squares"}, map(square)));
///
/// Its handle is a `data_ref`, which `request_typed` gives for the result of `find_child`.
template <data_parallel P>
[[nodiscard]] child_spec data_child(child_options how, P pattern) {
  how.spawn = detail::asked_options(std::move(how.spawn));
  if (how.name.empty()) how.name = pattern.seed().options.name;
  return child<detail::data_actor<typename P::input, typename P::output>>(std::move(how),
                                                                          pattern.seed());
}

}  // namespace garrick::patterns
