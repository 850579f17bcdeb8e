"""Errors in lib/gpu: places of requests, counted memory, and work left with the driver."""

from mutation import mutation

GPU = "lib/gpu/garrick/gpu/"
SUBMISSION = GPU + "internal/submission.cpp"
CORE = GPU + "internal/device_core.cpp"
THREAD = GPU + "internal/device_thread.cpp"
KERNEL = GPU + "detail/kernel_base.cpp"
CHECK = GPU + "detail/kernel_check.cpp"
STAGE = GPU + "detail/kernel_stage.cpp"
ANSWERS = GPU + "detail/ordered_answers.hpp"
CACHE = GPU + "internal/binary_cache.cpp"
by_data = ("tests.gpu.data",)
by_failures = ("tests.gpu.failures",)
by_limits = ("tests.gpu.limits",)
by_kernels = ("tests.gpu.kernels",)
by_streams = ("tests.gpu.streams",)
by_cache = ("gpu.binary_cache",)
by_check = ("gpu.kernel_check",)

MUTATIONS = [
    # ---- submission
    mutation(
        "gpu: commands enqueued before a failure are not flushed",
        SUBMISSION,
        "  if (call_.commands.empty()) return why;\n",
        "  if (why || call_.commands.empty()) return why;\n",
        by_limits,
    ),
    mutation(
        "gpu: pinned memory of an output needs no budget",
        SUBMISSION,
        "sum += a.pinned ? 2 * a.bytes : a.bytes; break;",
        "sum += a.bytes; break;",
        by_data,
    ),
    mutation(
        "gpu: the copy of a shared ref needs no budget",
        SUBMISSION,
        "sum += a.buffer && a.buffer->is_unique() ? 0 : a.bytes; break;",
        "sum += a.buffer ? 0 : a.bytes; break;",
        by_data,
    ),
    mutation(
        "gpu: a ref that others hold is written in place",
        SUBMISSION,
        "  if (a.buffer->is_unique()) {\n",
        "  if (a.buffer) {\n",
        by_data,
    ),
    mutation(
        "gpu: a ref that is copied is given back before it was read",
        SUBMISSION,
        "    call_.scratch.push_back(a.buffer);  // it is read until the copy has reported\n",
        "",
        by_data,
    ),
    mutation(
        "gpu: memory that stays is the driver's to read only",
        SUBMISSION,
        "const bool only_read = !kept && a.kind",
        "const bool only_read = a.kind",
        by_data,
    ),
    mutation(
        "gpu: all calls go to the first queue",
        SUBMISSION,
        "queue_(d.queues_[d.next_queue_++ % d.queues_.size()])",
        "queue_(d.queues_[0 * d.next_queue_++])",
        by_kernels,
    ),
    # ---- device_core
    mutation(
        "gpu: one request more than may wait",
        CORE,
        "waiting_.size() >= settings_.waiting",
        "waiting_.size() > settings_.waiting",
        by_failures,
    ),
    mutation(
        "gpu: the end of a mapping is not flushed",
        CORE,
        "    clFlush(queues_.front());\n",
        "    return;\n",
        by_data,
    ),
    mutation(
        "gpu: a call that is with a lost device is not failed",
        CORE,
        "    c->settle(make_error(why, c->where(*this)));\n  }\n}\n\n// ---- the budget",
        "    static_cast<void>(why);\n  }\n}\n\n// ---- the budget",
        by_failures,
    ),
    # ---- device_thread
    mutation(
        "gpu: a command that failed does not wake the thread that retires its call",
        THREAD,
        "    c.on->look_again();\n",
        "",
        by_limits,
    ),
    mutation(
        "gpu: the end of a runtime does not hear of the last answer",
        THREAD,
        "  if (me.closing_) me.work_.notify_one();\n",
        "",
        by_limits,
    ),
    mutation(
        "gpu: the thread may end while an answer is given",
        THREAD,
        "(with_driver_.empty() && settling_ == 0)",
        "with_driver_.empty()",
        by_limits,
    ),
    mutation(
        "gpu: memory of a call that is over counts as coming back",
        THREAD,
        "    --at;  // another one is in its place\n"
        "    transient_ -= std::exchange(c->transient, 0);\n",
        "    --at;  // another one is in its place\n",
        by_limits,
    ),
    mutation(
        "gpu: a call that the driver forgets keeps its memory",
        THREAD,
        "    --at;  // another one is in its place\n"
        "    transient_ -= std::exchange(c->transient, 0);\n"
        "    c->scratch.clear();\n",
        "    --at;  // another one is in its place\n",
        by_limits,
    ),
    mutation(
        "gpu: a call that the driver forgets keeps its refs",
        THREAD,
        "    for (detail::argument& a : c->arguments) a.buffer = a.host_memory = {};\n",
        "",
        by_limits,
    ),
    mutation(
        "gpu: a call gives up its place while its commands run",
        THREAD,
        "    if (!is_over(*c) || !make_stale(c)) continue;\n",
        "    if (!make_stale(c)) continue;\n",
        by_limits + by_failures,
    ),
    mutation(
        "gpu: a call that waits for memory is considered again and again",
        THREAD,
        "  return can_consider() && (!needs_memory_ || waiting_.front()->is_abandoned());\n",
        "  return can_consider();\n",
        by_data,
        equivalent="it is looked at more often than there is something new, and stays where it is",
    ),
    mutation(
        "gpu: a call waits for memory that will never be given back",
        THREAD,
        "  if (need > budget_ || held > budget_ - need) {\n",
        "  if (need > budget_) {\n",
        by_data,
    ),
    mutation(
        "gpu: calls under way do not count in the budget",
        THREAD,
        "  if (charged() > budget_ - need) {  // calls under way will make room\n",
        "  if (held > budget_ - need) {  // calls under way will make room\n",
        by_data,
    ),
    # ---- kernels
    mutation(
        "gpu: the next request goes to a device that is lost",
        KERNEL,
        "    if (lanes[i].kernel->on->is_lost()) continue;\n",
        "",
        by_kernels + by_failures,
    ),
    mutation(
        "gpu: a request that failed waits on in the figures",
        KERNEL,
        "          [this, c, lane, over](const error& why) {\n            over();\n",
        "          [this, c, lane, over](const error& why) {\n",
        by_kernels + by_failures,
    ),
    mutation(
        "gpu: each move of a ref has the whole time of the request",
        KERNEL,
        "        .within(until - me.now())\n        .then(\n            [this, &me",
        "        .within(deadline())\n        .then(\n            [this, &me",
        by_limits,
    ),
    mutation(
        "gpu: a move that is too late goes on",
        KERNEL,
        "              fetch->abandon();\n",
        "",
        by_limits,
    ),
    mutation(
        "gpu: each local argument may have all of a group's memory",
        KERNEL,
        "    left -= need;\n",
        "",
        by_limits,
    ),
    mutation(
        "gpu: a size that is too large wraps",
        KERNEL,
        "  return elements > most / each ? most : elements * each;\n",
        "  return elements > most ? most : elements * each;\n",
        by_limits,
    ),
    mutation(
        "gpu: vectors of three are as large as three",
        CHECK,
        "  if (n == 3) n = 4;  // as OpenCL lays it out\n",
        "",
        by_check,
    ),
    # ---- answers
    mutation(
        "gpu: senders that were answered are remembered for ever",
        ANSWERS,
        "    if (at->second.slots.empty()) senders_.erase(at);\n",
        "",
        by_kernels,
    ),
    mutation(
        "gpu: a call that an ending actor has under way goes on",
        ANSWERS,
        "        if (s.under_way != nullptr) s.under_way->abandon();\n",
        "        static_cast<void>(s);\n",
        by_failures + by_limits,
    ),
    # ---- the cache
    mutation(
        "gpu: a cached program may be another's",
        CACHE,
        "  h.add(key);\n",
        "  static_cast<void>(key);\n",
        by_cache,
    ),
    mutation(
        "gpu: a cached program that is not whole is left behind",
        CACHE,
        "  if (!written || none) std::filesystem::remove(temporary, none);\n",
        "",
        by_cache,
    ),
    # ---- stages
    mutation(
        "gpu: a result leaves when its kernel is done",
        STAGE,
        "  while (!waiting_.empty() && waiting_.front().is != state::under_way) {\n"
        "    const entry oldest = std::move(waiting_.front());\n"
        "    waiting_.pop_front();\n",
        "  {\n    const entry oldest = std::move(*at);\n    waiting_.erase(at);\n",
        by_streams,
    ),
    mutation(
        "gpu: a failure is told before older results have left",
        STAGE,
        "  at->is = at->why ? state::failed : state::answered;\n",
        "  at->is = at->why ? state::failed : state::answered;\n"
        "  if (at->why) at->its_call->lose(node(), at->why);\n",
        by_streams,
    ),
    mutation(
        "gpu: a failed tuple holds up those behind it",
        STAGE,
        "waiting_.front().is != state::under_way) {",
        "waiting_.front().is == state::answered) {",
        by_streams,
    ),
    mutation(
        "gpu: a call that a stage has given to a device runs after the stage's end",
        STAGE,
        "    if (e.is == state::under_way) e.its_call->abandon();\n",
        "    static_cast<void>(e);\n",
        by_streams,
    ),
    mutation(
        "gpu: a stage that goes on after a failure keeps no copy of its tuples",
        GPU + "stage.hpp",
        "n.policy() != patterns::on_failure::fail",
        "n.policy() == patterns::on_failure::fail",
        by_streams,
    ),
    mutation(
        "gpu: a stage has any number of requests under way",
        GPU + "detail/kernel_stage.hpp",
        "  void on_start() { hold_at_most(under_way_); }\n",
        "",
        by_streams,
    ),
]
