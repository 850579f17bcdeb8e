"""Errors in streams. Most of them random compositions find, under orders of turns from seeds."""

from mutation import mutation

PATTERNS = "lib/patterns/garrick/patterns/"
NODE = PATTERNS + "node/node.cpp"
STAGE = PATTERNS + "detail/stage_node.cpp"
ORDERED = PATTERNS + "detail/ordered.hpp"
FEEDER = PATTERNS + "detail/feeder_node.cpp"
INPUT = PATTERNS + "channel/input.cpp"
INPUT_STEPS = PATTERNS + "channel/input.hpp"
OUTPUT = PATTERNS + "channel/output.cpp"
ROUTES = PATTERNS + "channel/routes.hpp"
FEEDBACK = PATTERNS + "detail/feedback.cpp"
ROUTES_BASE = PATTERNS + "channel/routes.cpp"
ENDING = PATTERNS + "node/ending.cpp"
by_graphs = ("tests.random_graphs",)
by_times = ("tests.timing",)
by_loops = ("tests.feedback",)

MUTATIONS = [
    # ---- sleeping producers and consumers
    mutation(
        "stream: a producer that has published wakes no consumer",
        OUTPUT,
        "  if (n != 0 && to_->consumer_sleeps.take()) consumer_.wake(&t, n);\n",
        "  static_cast<void>(t);\n",
        by_graphs,
    ),
    mutation(
        "stream: a consumer that has made room wakes no producer",
        INPUT_STEPS,
        "i.from->producer_sleeps.take())\n"
        "    i.producer->wake(nullptr, 0);",
        "i.from->producer_sleeps.take())\n"
        "    return;",
        by_graphs,
    ),
    mutation(
        "stream: a channel is closed and no consumer hears of it",
        OUTPUT,
        "  if (to_->consumer_sleeps.take()) consumer_.wake(&t, 0);\n",
        "  static_cast<void>(t);\n",
        by_graphs,
    ),
    mutation(
        "stream: a node that is asked while it gives its run right up does not look again",
        NODE,
        "        if (right_.release()) return tell_outer(end);\n        continue;\n"
        "      case step_outcome::ended:",
        "        static_cast<void>(right_.release());\n        return tell_outer(end);\n"
        "      case step_outcome::ended:",
        by_graphs,
    ),
    mutation(
        "stream: a node that has done enough for one turn does not ask for another",
        NODE,
        "        tell_outer(end);\n        schedule();\n        return;",
        "        tell_outer(end);\n        return;",
        ("tests.streams",),
    ),
    mutation(
        "stream: a node that waits for tuples keeps to itself tuples that go back in its loop",
        STAGE,
        "    if (!hands_on_kept(t)) return step_outcome::worked;\n",
        "",
        by_graphs,
    ),
    mutation(
        "stream: a sleeper's flag is set without a fence",
        PATTERNS + "node/sleeper_flag.hpp",
        "    Atomics::template fence_at<sleeper_order::set_fence>();\n",
        "",
        ("patterns.model.channel",),
    ),
    mutation(
        "stream: a run right is given up although a thread has asked",
        PATTERNS + "node/run_right.hpp",
        "    std::uint32_t seen = held;\n",
        "    std::uint32_t seen = word_.load(std::memory_order_relaxed);\n",
        ("patterns.model.run_right",),
    ),
    mutation(
        "stream: a thread that lends a turn does not look again whether the actor has ended",
        PATTERNS + "node/borrowed_turns.hpp",
        "    return !has_ended() || !take();",
        "    return true;",
        ("patterns.model.borrowed_turns",),
    ),
    # ---- the end
    mutation(
        "stream: the end of one input is taken for the end of all",
        INPUT_STEPS,
        "    if (!i.ended()) return false;\n"
        "  return true;",
        "    if (i.ended()) return true;\n"
        "  return false;",
        by_graphs,
    ),
    mutation(
        "stream: results of on_stop are not handed on if there is no room at once",
        STAGE,
        "  stop();\n"
        "  return publish_all(t) ? ended(t) : blocked();",
        "  stop();\n"
        "  return static_cast<void>(publish_all(t)), ended(t);",
        by_graphs,
    ),
    mutation(
        "stream: on_stop is called again after the node was blocked",
        STAGE,
        "  if (std::exchange(stopped_, true)) return;",
        "  stopped_ = true;",
        by_graphs,
    ),
    mutation(
        "stream: a stage that is part of another's node does not hear of the end",
        STAGE,
        "  stage_.type().stop(stage_.get(), *to_);\n",
        "",
        by_graphs,
    ),
    mutation(
        "stream: blocked and starved nodes do not hear that the stream is cancelled",
        ENDING,
        "  wake_all();\n",
        "",
        by_graphs,
    ),
    mutation(
        "stream: the second failure counts, too",
        ENDING,
        "  if (claimed_.exchange(true, std::memory_order_relaxed)) return;",
        "  claimed_.exchange(true, std::memory_order_relaxed);",
        ("tests.stream_life",),
    ),
    mutation(
        "stream: tuples left in the channels are not counted",
        PATTERNS + "stream.cpp",
        "left_ += n->drop_inputs();",
        "n->drop_inputs();",
        by_graphs,
    ),
    mutation(
        "stream: tuples that an actor has fed are dropped without room when the feeding is over",
        FEEDER,
        "  if (out_->is_blocked()) return out_->sleep() ? step_outcome::blocked "
        ": step_outcome::worked;\n",
        "",
        by_graphs,
    ),
    mutation(
        "stream: no producer hears that a stage has enough",
        INPUT,
        "    i.producer->wake(nullptr, 0);\n"
        "  }\n"
        "}\n",
        "  }\n"
        "}\n",
        ("tests.zip",),
    ),
    mutation(
        "stream: zip goes on when one side has ended",
        PATTERNS + "detail/zip.cpp",
        "  over_ = in_.ended() || other_.ended();",
        "  over_ = in_.ended() && other_.ended();",
        ("tests.zip",),
    ),
    mutation(
        "stream: a thread that feeds a stream that has no room does not wait",
        FEEDER,
        "  wait_for_room(t);\n"
        "  if (out_",
        "  if (out_",
        ("tests.stream_life",),
    ),
    # ---- failures
    mutation(
        "stream: a stage's actor that has bad last words does not say that it has ended",
        PATTERNS + "detail/actor_node.hpp",
        "    ~last_words() { to.actor_ended(why); }",
        "    ~last_words() { if (!std::uncaught_exceptions()) to.actor_ended(why); }",
        ("tests.stage_actor_life",),
    ),
    mutation(
        "stream: a fold that skips works on its only value",
        PATTERNS + "sinks.hpp",
        "called(f_)(Value(value_), std::move(in))",
        "called(f_)(std::move(value_), std::move(in))",
        ("tests.failures",),
    ),
    mutation(
        "stream: results of an actor on its own turn are half there after a failure",
        PATTERNS + "detail/actor_node.cpp",
        "    f();\n  } catch (...) {  // of a key function, say\n    out_->take_back();\n",
        "    f();\n  } catch (...) {  // of a key function, say\n",
        ("tests.corner_cases",),
    ),
    mutation(
        "stream: a result without a way on a later turn of an actor ends the actor",
        PATTERNS + "detail/actor_node.cpp",
        "    return std::current_exception();\n  }\n  into_loops",
        "    throw;\n  }\n  into_loops",
        ("tests.stage_actor_life",),
    ),
    mutation(
        "stream: tuples that an actor holds are not counted when a handler of it throws",
        PATTERNS + "detail/actor_node.cpp",
        "count_failure();\n  drop_held();",
        "count_failure();",
        ("tests.stage_actor_life",),
    ),
    mutation(
        "stream: a node keeps a copy beside that of an actor which keeps its own",
        PATTERNS + "detail/actor_node.cpp",
        "      if (!maker_->can.say_what_failed) spare",
        "      spare",
        ("tests.data_stages",),
    ),
    mutation(
        "stream: a step's time ends where it had handed on kept tuples",
        STAGE,
        "  t.nested_until = instant::never();\n"
        "  return true;",
        "  return true;",
        ("tests.report",),
    ),
    mutation(
        "stream: a skipped tuple is no dead letter",
        STAGE,
        "      takes.dead(*this, spare ? spare->best(tuple) : tuple, std::current_exception());\n"
        "      failed();",
        "      failed();",
        by_graphs,
    ),
    mutation(
        "stream: a failure is not counted",
        STAGE,
        "  out_->take_back();\n"
        "  count_failure();",
        "  out_->take_back();",
        by_graphs,
    ),
    mutation(
        "stream: an exception of a stage at its end is not counted",
        STAGE,
        "  } catch (...) {\n"
        "    count_failure();\n"
        "    throw;\n"
        "  }",
        "  } catch (...) {\n"
        "    static_cast<void>(count_failure);\n"
        "    throw;\n"
        "  }",
        ("tests.source_failures",),
    ),
    mutation(
        "stream: results that a stage has put out before it throws stay",
        STAGE,
        "  out_->take_back();\n"
        "  count_failure();",
        "  count_failure();",
        by_graphs,
    ),
    mutation(
        "stream: results that had no room and are taken back stay",
        OUTPUT,
        "    while (kept_.size() > kept_before_) kept_.pop_back();",
        "    while (kept_.size() > kept_before_) break;",
        by_graphs,
    ),
    mutation(
        "stream: ways that got nothing of a tuple are taken back, too",
        ROUTES_BASE,
        "    if (touched_[i] == input_) to_[i]->take_back();",
        "    to_[i]->take_back();",
        by_graphs,
    ),
    mutation(
        "stream: a stage that restarts keeps its state",
        STAGE,
        "  if (policy_ == on_failure::skip) return;",
        "  if (policy_ != on_failure::fail) return;",
        by_graphs,
    ),
    mutation(
        "stream: a stage that restarts does not begin",
        STAGE,
        "    stage_.become(first_->get());  // gone for good if that throws, which ends the "
        "stream\n"
        "    type().start(stage());",
        "    stage_.become(first_->get());",
        by_graphs,
    ),
    mutation(
        "stream: the tuple that ends a stream is taken again",
        STAGE,
        "    dealt_with(batch, b.done + 1, before, t);",
        "    dealt_with(batch, b.done, before, t);",
        by_graphs,
    ),
    mutation(
        "stream: a source that always throws is asked for ever",
        STAGE,
        "++in_a_row_ < most_failures_in_a_row)",
        "++in_a_row_ != 0)",
        ("tests.source_failures",),
    ),
    mutation(
        "stream: a source's failures count as a row although there were tuples between",
        STAGE,
        "    if (b.done != 0) went_well();\n",
        "",
        ("tests.source_failures",),
    ),
    # ---- several ways
    mutation(
        "stream: a broadcast gives its first tuple away",
        ROUTES,
        "        T copy(std::as_const(value));",
        "        T copy(std::move(value));",
        by_graphs,
    ),
    mutation(
        "stream: by_key goes by where the tuple lies",
        ROUTES,
        "    return member_of_hash(std::hash<std::decay_t<decltype(k)>>()(k), among.size());",
        "    return member_of_hash(std::hash<std::decay_t<decltype(k)>>()(k) +\n"
        "         reinterpret_cast<std::uintptr_t>(&result), among.size());",
        ("tests.routing",),
    ),
    mutation(
        "stream: try_send_next lets one more wait than its limit",
        OUTPUT,
        "  if (waiting() >= limit) return false;",
        "  if (waiting() > limit) return false;",
        ("tests.routing", "tests.try_send_next"),
    ),
    mutation(
        "stream: a stage that asks for a thread of its own gets none",
        PATTERNS + "detail/inlet.cpp",
        "  node_options o = b.node(name, s.own_thread);",
        "  node_options o = b.node(name);",
        ("tests.stream_life",),
    ),
    mutation(
        "stream: a stage with a thread of its own is run in place by others",
        NODE,
        "in_place_ && !own_thread_ && !by->own_thread",
        "in_place_ && !by->own_thread",
        ("tests.stream_life",),
    ),
    mutation(
        "stream, order: a replica hands on no mark of a tuple without results",
        ORDERED,
        "    if (!in.tuple) return out.put(framed<Out>{});",
        "    if (!in.tuple) return out.waiting() != 0 ? out.put(framed<Out>{}) : void();",
        by_graphs,
    ),
    mutation(
        "stream, order: the mark goes to the next replica",
        ORDERED,
        "    if (!item.tuple) next =",
        "    if (item.tuple) next =",
        by_graphs,
    ),
    mutation(
        "stream, order: the end of one replica is taken for the end of all",
        PATTERNS + "detail/ordered.cpp",
        "  if (in_.ended()) {",
        "  if (in_.ended_at(at_)) {",
        by_graphs,
    ),
    # ---- loops
    mutation(
        "stream, loop: the results of a stage in it are not counted",
        STAGE,
        "  into_loops(put_so_far() - before);\n"
        "  static_cast<void>(publish(t));\n",
        "  static_cast<void>(before);\n"
        "  static_cast<void>(publish(t));\n",
        by_graphs,
    ),
    mutation(
        "stream, loop: results are counted when they are published, and their tuple is no more",
        STAGE,
        "  into_loops(put_so_far() - before);\n"
        "  static_cast<void>(publish(t));\n"
        "  in_.done(n);\n"
        "  settle(n);\n",
        "  const std::size_t made = put_so_far() - before;\n"
        "  static_cast<void>(publish(t));\n"
        "  in_.done(n);\n"
        "  settle(n);\n"
        "  into_loops(made);\n",
        by_loops,
    ),
    mutation(
        "stream, loop: tuples that have left it still count",
        FEEDBACK,
        "  if (going != gone_) loop_.remove(going - gone_);\n",
        "",
        by_graphs,
    ),
    mutation(
        "stream, loop: the gate counts tuples, and not how many ways they go",
        FEEDBACK,
        "  loop_.add(put);",
        "  loop_.add(n);",
        by_graphs,
    ),
    mutation(
        "stream, loop: the gate lets one more in than there is room for",
        PATTERNS + "node/loop.hpp",
        "    return n < credits_ ? credits_ - n : 0;",
        "    return n < credits_ + 1 ? credits_ + 1 - n : 0;",
        by_loops,
    ),
    mutation(
        "stream, loop: no node wakes the gate",
        PATTERNS + "node/loop.cpp",
        "  if (sleeps_.take()) gate_->wake(nullptr, 0);\n",
        "",
        by_graphs,
    ),
    mutation(
        "stream, loop: it is over when nothing comes from outside",
        FEEDBACK,
        "  if (!loop_.is_empty()) {\n    if (loop_.stands_still()) loop_.flush();\n"
        "    return step_outcome::starved;\n  }\n",
        "",
        by_graphs,
    ),
    mutation(
        "stream, loop: tuples that its stages hold are not given up",
        FEEDBACK,
        "    if (loop_.stands_still()) loop_.flush();\n",
        "",
        ("tests.held_in_loops",),
    ),
    # ---- time
    mutation(
        "stream, time: the last batch is not put out if it is not full",
        PATTERNS + "timing.hpp",
        "  void stop(To& out) {\n    put(out);",
        "  void stop(To& out) {\n    static_cast<void>(out);",
        by_times,
    ),
    mutation(
        "stream, time: a node that waits for a time does not hear of an earlier one",
        NODE,
        "(alarm_at_ <= when && alarm_.active())",
        "alarm_.active()",
        by_times,
    ),
    mutation(
        "stream, time: tuples in a batch do not hold its loop",
        STAGE,
        "      more_held = held_ - held_before;\n",
        "      static_cast<void>(held_before);\n",
        by_times,
    ),
    mutation(
        "stream, time: a throttle takes no permits",
        PATTERNS + "timing.hpp",
        "  void use() noexcept { left_ -= 1; }",
        "  void use() noexcept {}",
        by_times,
    ),
    mutation(
        "stream, windows: one replica does not hear of the watermark",
        ROUTES,
        "            if (goes_to(value, i)) {\n",
        "            if (i != 0 && goes_to(value, i)) {\n",
        ("tests.windows",),
    ),
    mutation(
        "stream, windows: time without room for results is an input's silence",
        STAGE,
        "      if (was_blocked) is.was_not_read(stage());\n",
        "      static_cast<void>(was_blocked);\n",
        ("tests.window_life",),
    ),
]
