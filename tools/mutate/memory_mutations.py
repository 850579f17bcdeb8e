"""Errors in the block pool, and in the code for a lack of memory."""

from mutation import mutation

MEMORY = "lib/base/garrick/base/memory/"
POOL = MEMORY + "block_pool.cpp"
SLOTS = MEMORY + "internal/batch_slots.hpp"
SPANS = MEMORY + "internal/span_source.hpp"
CORE = "lib/core/garrick/core/"
RESPOND = CORE + "life/respond.cpp"
LOST = CORE + "life/internal/lost_mail.cpp"
LIFE = CORE + "turn/internal/lifecycle.cpp"
REQUEST = CORE + "request.cpp"
TIMER = CORE + "turn/timer_record.cpp"
by_slots = ("base.model.batch_slots",)
by_spans = ("base.model.span_source",)
by_pool = ("base.block_pool",)
by_scarcity = ("tests.no_memory",)
by_answers = ("tests.failed_answers", "tests.no_memory")

OTHER_ERROR = "const std::bad_array_new_length&"  # one that is not thrown here

MUTATIONS = [
    # ---- lists of blocks that change hands
    mutation(
        "slots: a batch is put without release",
        SLOTS,
        "order<Atomics, slots_order::put>(std::memory_order_release)",
        "std::memory_order_relaxed",
        by_slots,
    ),
    mutation(
        "slots: a batch is taken without acquire",
        SLOTS,
        "order<Atomics, slots_order::take>(std::memory_order_acquire)",
        "std::memory_order_relaxed",
        by_slots,
    ),
    mutation(
        "slots: a batch is put over another",
        SLOTS,
        "      if (slot.compare_exchange_strong(expected, batch,\n"
        "                                       "
        "order<Atomics, slots_order::put>(std::memory_order_release),\n"
        "                                       std::memory_order_relaxed))\n"
        "        return true;",
        "      slot.store(batch, std::memory_order_release);\n"
        "      return expected == nullptr;",
        by_slots,
    ),
    mutation(
        "slots: a batch stays where it was taken",
        SLOTS,
        "slot.exchange(nullptr, order<Atomics, slots_order::take>(std::memory_order_acquire))",
        "slot.load(std::memory_order_acquire)",
        by_slots,
    ),
    # ---- memory that goes back
    mutation(
        "giving back: spans can be taken before the system has their memory",
        SPANS,
        "  list(r);\n  lock.unlock();",
        "  for (std::size_t i = first; i < end; ++i) flip(r.bare, i);\n"
        "  bare_ += bytes;\n"
        "  list(r);\n"
        "  lock.unlock();\n"
        "  System::forget(r.end_of(first) - region::span_bytes, r.end_of(end - 1));\n"
        "  lock.lock();\n"
        "  return;",
        by_spans,
    ),
    mutation(
        "giving back: spans stay idle meanwhile",
        SPANS,
        "  do flip(r.idle, end++);\n",
        "  do ++end;\n",
        by_spans,
    ),
    mutation(
        "giving back: the region is in no list any more",
        SPANS,
        "  for (std::size_t i = first; i < end; ++i) flip(r.bare, i);\n"
        "  bare_ += bytes;\n"
        "  list(r);",
        "  for (std::size_t i = first; i < end; ++i) flip(r.bare, i);\n  bare_ += bytes;",
        by_spans,
    ),
    mutation(
        "giving back: the region stays in the list of those with idle spans",
        SPANS,
        "  lock.lock();\n  unlist(r);\n  for (std::size_t i",
        "  lock.lock();\n  for (std::size_t i",
        by_pool,
    ),
    mutation(
        "giving back: a caretaker that was told once is never told again",
        SPANS,
        "  if (above == 0) cared_for_ = false;\n",
        "",
        by_spans,
    ),
    mutation(
        "giving back: no caretaker is told of idle memory",
        SPANS,
        "  wants_care_.store(true, std::memory_order_relaxed);  // order: see wants_care\n",
        "",
        by_spans,
    ),
    mutation(
        "giving back: memory that a burst has just wanted counts as rested",
        SPANS,
        "    idle_ -= region::span_bytes;\n    rested_ = std::min(rested_, idle_);",
        "    idle_ -= region::span_bytes;",
        by_pool,
    ),
    mutation(
        "giving back: memory that is to be kept goes, too",
        SPANS,
        "free > kept_ ? free - kept_ : 0",
        "free",
        by_pool,
    ),
    mutation(
        "giving back: the last caretaker leaves everything where it is",
        POOL,
        "  detail::source.give_back(~std::size_t{0}, false);\n",
        "",
        by_pool + ("tests.memory_after_a_burst",),
    ),
    mutation(
        "giving back: batches in slots hold their spans",
        POOL,
        "std::size_t give_back(std::size_t most) noexcept {\n  detail::empty_slots();\n",
        "std::size_t give_back(std::size_t most) noexcept {\n",
        by_pool + ("tests.memory_after_a_burst",),
    ),
    mutation(
        "depot: a span of which all blocks are back serves its class for ever",
        POOL,
        "    if (s.free_count == s.capacity) retire(depot, s);\n",
        "    if (s.free_count == 0) retire(depot, s);\n",
        by_pool,
    ),
    mutation(
        "threads: one that ends keeps its spare list",
        POOL,
        "    put_in_depot(size_class, list.spare);\n    list.loaded",
        "    list.loaded",
        by_pool,
    ),
    mutation(
        "fork: a child may get the source's lock taken",
        POOL,
        "  source.mutex().lock();\n}\nvoid unlock_all() noexcept {\n  source.mutex().unlock();\n",
        "}\nvoid unlock_all() noexcept {\n",
        by_pool,
    ),
    # ---- no memory
    mutation(
        "no memory: the reserve is skipped",
        RESPOND,
        "  void* const block = base::block_pool::allocate_reserved();",
        "  void* const block = nullptr;",
        by_answers,
    ),
    mutation(
        "no memory: last words are said without a catch",
        CORE + "life/internal/last_words.hpp",
        "  } catch (const std::bad_alloc&) {  // the arguments are still there",
        "  } catch (" + OTHER_ERROR + ") {  // the arguments are still there",
        by_answers,
    ),
    mutation(
        "no memory: an end with a text is told without a catch",
        LOST,
        "  } catch (const std::bad_alloc&) { return code; }",
        "  } catch (" + OTHER_ERROR + ") { return code; }",
        by_scarcity,
    ),
    mutation(
        "no memory: an empty promise is answered without a catch",
        LOST,
        "  } catch (const std::bad_alloc&) { respond_error(e, base::errc::broken_promise); }",
        "  } catch (" + OTHER_ERROR + ") { respond_error(e, base::errc::broken_promise); }",
        by_scarcity,
    ),
    mutation(
        "no memory: an actor quits without a catch",
        CORE + "cell/extension.cpp",
        "  } catch (const std::bad_alloc&) {  // then only the code is kept",
        "  } catch (" + OTHER_ERROR + ") {  // then only the code is kept",
        by_scarcity,
    ),
    mutation(
        "no memory: an actor that has no text for its end does not end",
        CORE + "cell/extension.cpp",
        "  set_phase(life::ending);\n  end_code_ = reason.code();\n"
        "  if (reason.detail().empty() && end_code_ != base::exit_code::failure) return;\n"
        "  try {\n    ext().reason = std::move(reason);",
        "  end_code_ = reason.code();\n"
        "  if (reason.detail().empty() && end_code_ != base::exit_code::failure)\n"
        "    return set_phase(life::ending);\n"
        "  try {\n    ext().reason = std::move(reason);\n    set_phase(life::ending);",
        by_scarcity,
    ),
    mutation(
        "no memory: a message is put aside without a catch",
        CORE + "turn/running_cell.cpp",
        "    static_cast<void>(ext());\n  } catch (const std::bad_alloc&) {",
        "    static_cast<void>(ext());\n  } catch (" + OTHER_ERROR + ") {",
        by_scarcity,
    ),
    mutation(
        "no memory: a spawner that cannot watch its child keeps it",
        CORE + "spawn.cpp",
        "    } catch (const std::bad_alloc&) {\n      kill_cell(child,",
        "    } catch (" + OTHER_ERROR + ") {\n      kill_cell(child,",
        by_scarcity,
    ),
    mutation(
        "no memory: the callback of a monitor that is not made is left behind",
        CORE + "actor.cpp",
        "    if (callback != nullptr) callback->abandon();\n    throw;",
        "    throw;",
        by_scarcity,
    ),
    mutation(
        "no memory: a request that cannot be sent is left behind",
        REQUEST,
        "  envelope_ptr mine(e);\n"
        "  const std::uint64_t id =\n"
        "      self.ext().pending.reserve(self.env().requests.outstanding_limit, to.id());\n"
        "  if (id == 0) {\n    e->sender_id",
        "  const std::uint64_t id =\n"
        "      self.ext().pending.reserve(self.env().requests.outstanding_limit, to.id());\n"
        "  envelope_ptr mine(e);\n"
        "  if (id == 0) {\n    e->sender_id",
        by_scarcity,
    ),
    mutation(
        "no memory: the message of a timer that is not made is left behind",
        TIMER,
        "  envelope_ptr mine(e);  // until the record has it\n"
        "  auto* const record = ::new (base::block_pool::allocate(sizeof(timer_record)))\n"
        "      timer_record(env, target, mine.release(), period_ns);",
        "  auto* const record = ::new (base::block_pool::allocate(sizeof(timer_record)))\n"
        "      timer_record(env, target, e, period_ns);",
        by_answers,
    ),
    mutation(
        "no memory: a timer that the service does not take is left behind",
        TIMER,
        "    record->give_up();\n    record->drop_holder();\n    throw;",
        "    throw;",
        by_scarcity,
    ),
    mutation(
        "no memory: a delay that is not armed stays pending",
        REQUEST,
        "    asked_proxy::finish(table, id, self);\n    throw;",
        "    throw;",
        by_answers,
    ),
    mutation(
        "no memory: a supervisor's orders have no reserve",
        CORE + "supervision/internal/children.cpp",
        "      last_words<Signal>(\"a child cannot be told by its supervisor\", "
        "std::forward<Args>(args)...));",
        "      detail::make_envelope<Signal>(std::forward<Args>(args)...));",
        by_answers,
    ),
    mutation(
        "no memory: children are ended in order without a catch",
        LIFE,
        "  } catch (...) {\n    children.abandon();",
        "  } catch (" + OTHER_ERROR + ") {\n    children.abandon();",
        by_answers,
    ),
    # in headers that all tests include: the slowest
    mutation(
        "no memory: a request is forgotten if its answer cannot be made",
        CORE + "life/respond.hpp",
        "    detail::respond_exception(r);\n    throw;",
        "    throw;",
        by_answers,
    ),
    mutation(
        "no memory: a coroutine ends the process if its answer cannot be made",
        CORE + "task.hpp",
        "} catch (...) { failure = std::current_exception(); }  // the requester has been told",
        "} catch (" + OTHER_ERROR + ") { failure = std::current_exception(); }",
        by_answers,
    ),
]
