// Teams that work on containers, as lib/patterns does it in its room `team`: the actors that are
// told, the claims of pieces, and the end of a turn.

#include <garrick/machine/traits.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "simulator/papers/programs.hpp"

using namespace garrick::machine;

namespace bench::simulator {

namespace {

constexpr double turn_ns = 1e6;          // team/turn_length.hpp
constexpr double short_block_ns = 25e3;  // team/range_work.cpp
constexpr double long_block_ns = 100e3;
constexpr std::uint32_t longest_block = 1U << 20;
constexpr double least_part_ns = 20e3;            // team/turn_length.hpp
constexpr double clock_read_ns = 25;              // costs::clock_read
constexpr double most_in_a_row_ns = 8 * turn_ns;  // team/work_queue.cpp
constexpr std::uint32_t flags_in_line = 64;       // of a byte each (team/shares.hpp)
constexpr double make_request_ns = 200;           // its object, its hands, and the answer's promise
constexpr unsigned hand_bits = 8;  // of a message's value; the rest is the request's number

struct seat {
  std::uint32_t begin = 0;  ///< of the rest of the piece that it works on
  std::uint32_t end = 0;
  std::uint32_t block = 1;
};

/// A container that a team works on: 4 to 64 pieces for each member, which takes them from the
/// others' end when it has none left (team/shares.hpp).
struct request {
  request(std::uint32_t size, std::uint32_t all, model_actor* whom)
      : elements(size),
        hands(std::min(size, all)),
        pieces(size / pieces_each(size, hands) < hands ? size : hands * pieces_each(size, hands)),
        taken(pieces),
        lines(pieces / flags_in_line + 1),
        seats(all),
        asker(whom) {
    left.store(size, relaxed);
  }

  /// Returns false if no piece is left.
  bool claim(std::uint32_t who) {
    const std::uint32_t own = who % hands;
    seat& at = seats[who];
    line_seen = pieces;
    std::uint32_t first = first_of(own);
    const std::uint32_t end = first_of(own + 1);
    while (first != end && !claim_piece(first)) ++first;
    if (first != end) {
      at.begin = begin_of(first);
      at.end = begin_of(first + 1);
      while (at.end - at.begin < at.block && ++first != end && claim_piece(first))
        at.end = begin_of(first + 1);
      return true;
    }
    for (std::uint32_t i = 1; i < hands; ++i) {
      const std::uint32_t other = (own + i) % hands;
      for (std::uint32_t k = first_of(other + 1); k > first_of(other); --k) {
        if (!claim_piece(k - 1)) continue;
        at.begin = begin_of(k - 1);
        at.end = begin_of(k);
        return true;
      }
    }
    return false;
  }
  /// Looks at the flag before it is set: that leaves the line with the others. Of adjacent flags
  /// only the first one costs its price.
  bool claim_piece(std::uint32_t number) {
    const std::uint32_t line = number / flags_in_line;
    if (line != line_seen) static_cast<void>(lines[line].load(relaxed));
    line_seen = line;
    if (taken[number] != 0) return false;
    static_cast<void>(lines[line].exchange(1, relaxed));
    return std::exchange(taken[number], std::uint8_t{1}) == 0;
  }
  /// As map.hpp has it.
  [[nodiscard]] static std::uint32_t pieces_each(std::uint32_t all, std::uint32_t by) {
    const std::uint32_t least = std::clamp(256 / by, 4U, 16U);
    return std::clamp(all / by / 64, least, 4 * least);
  }
  [[nodiscard]] std::uint32_t first_of(std::uint32_t hand) const {
    return static_cast<std::uint32_t>(std::uint64_t{pieces} * hand / hands);
  }
  [[nodiscard]] std::uint32_t begin_of(std::uint32_t number) const {
    return static_cast<std::uint32_t>(std::uint64_t{elements} * number / pieces);
  }

  // order: relaxed: only the price is simulated
  static constexpr std::memory_order relaxed = std::memory_order_relaxed;

  const std::uint32_t elements;
  const std::uint32_t hands;
  const std::uint32_t pieces;
  std::vector<std::uint8_t> taken;
  std::vector<machine_atomics::atomic<std::uint8_t>> lines;  ///< the prices of `taken`
  std::uint32_t line_seen = 0;                               ///< by a claim
  machine_atomics::atomic<std::uint32_t> left;               ///< elements that are not done
  machine_atomics::atomic<std::uint64_t> busy_ns;
  std::vector<seat> seats;
  std::uint32_t told = 1;     ///< members: the asked one, and its first helpers
  std::uint32_t holders = 1;  ///< members that may still look at it
  model_actor* asker;
};

/// The work of a member: requests in their order, and at most one message to itself that lets it go
/// on (team/work_queue.hpp).
struct lane {
  struct part {
    std::uint64_t request = 0;
    std::uint32_t who = 0;
  };
  std::deque<part> parts;
  double in_a_row_ns = 0;  ///< the time of the first of them so far
  bool going = false;
};

struct team;

struct helper final : model_actor {
  team* of = nullptr;
  lane todo;
  void on(turn& t, const message& m) override;
};

/// The actor that is asked, which takes part as number 0.
struct master final : model_actor {
  team* of = nullptr;
  lane todo;
  std::uint32_t waiting = 0;  ///< messages to it
  void on(turn& t, const message& m) override;
};

struct team {
  team(simulation& s, const team_model& w, std::uint32_t hands) : work(w) {
    asked = &s.spawn<master>();
    asked->of = this;
    asked->quantum = 8;  // team/team.hpp
    for (std::uint32_t i = 1; i < hands; ++i) {
      helpers.push_back(&s.spawn<helper>());
      helpers.back()->of = this;
      helpers.back()->quantum = 1;
    }
  }

  /// An actor asks for work on its container.
  void ask(turn& t, std::uint64_t number) {
    ++asked->waiting;
    t.send(*asked, number);
  }
  void begin(turn& t, const message& m) {
    t.work(make_request_ns);
    if (requests.size() <= m.value) requests.resize(m.value + 1);
    const auto all = static_cast<std::uint32_t>(helpers.size() + 1);
    requests[m.value] = std::make_unique<request>(work.elements, all, m.from);
    const double worth = 1 + work.elements * pace_ns / least_part_ns;
    const std::uint32_t most = std::min(all, requests[m.value]->pieces);
    tell(t, m.value, pace_ns > 0 && worth < most ? static_cast<std::uint32_t>(worth) : most);
  }
  void tell(turn& t, std::uint64_t number, std::uint32_t to) {
    request& r = *requests[number];
    for (; r.told < to; ++r.told, ++r.holders)
      t.send(*helpers[r.told - 1], number << hand_bits | r.told);
  }

  /// Runs a turn of an actor that takes part. Returns true if it needs another one.
  bool go_on(turn& t, lane& todo, bool is_master) {
    if (todo.parts.empty()) return false;
    const lane::part first = todo.parts.front();
    request& r = *requests[first.request];
    const double begin = t.now_ns();
    if (!take_part(t, first, is_master)) {
      todo.parts.pop_front();
      todo.in_a_row_ns = 0;
      if (--r.holders == 0) requests[first.request].reset();
      return !todo.parts.empty();
    }
    if (is_master && static_cast<double>(r.busy_ns.peek()) >= least_part_ns)
      tell(t, first.request, std::min(r.pieces, static_cast<std::uint32_t>(helpers.size() + 1)));
    todo.in_a_row_ns += t.now_ns() - begin;
    if (todo.in_a_row_ns >= most_in_a_row_ns) {
      todo.parts.pop_front();
      todo.parts.push_back(first);
      todo.in_a_row_ns = 0;
    }
    return true;
  }
  /// Returns true if there was no time for all of the work.
  bool take_part(turn& t, const lane::part& what, bool is_master) {
    request& r = *requests[what.request];
    seat& at = r.seats[what.who];
    const double begin = t.now_ns();
    double before = begin;
    for (;;) {
      if (at.begin == at.end && !r.claim(what.who)) return false;
      const std::uint32_t n = std::min(at.end - at.begin, at.block);
      t.work(n * work.element_ns + clock_read_ns);
      t.touch(n / work.elements_in_line);
      at.begin += n;
      const double now = t.now_ns();
      const double took = now - before;
      r.busy_ns.fetch_add(static_cast<std::uint64_t>(took), request::relaxed);
      if (r.left.fetch_sub(n, request::relaxed) == n) {
        pace_ns = static_cast<double>(r.busy_ns.peek()) / work.elements;
        t.send(*r.asker, what.request);
        return false;
      }
      if (took < short_block_ns)
        at.block = std::min(at.block * 2, longest_block);
      else if (took > long_block_ns)
        at.block = std::max(at.block / 2, 1U);
      if (now - begin >= turn_ns || (is_master && asked->waiting != 0)) return true;
      before = now;
    }
  }

  const team_model work;
  master* asked = nullptr;
  std::vector<helper*> helpers;
  std::vector<std::unique_ptr<request>> requests;  ///< by number
  double pace_ns = 0;                              ///< an element's time, once it is known
};

constexpr std::uint64_t next_turn = ~std::uint64_t{0};  // a member's message to itself

void helper::on(turn& t, const message& m) {
  if (m.value == next_turn)
    todo.going = false;
  else
    todo.parts.push_back(
        {m.value >> hand_bits, static_cast<std::uint32_t>(m.value & ((1U << hand_bits) - 1))});
  if (todo.going) return;
  todo.going = of->go_on(t, todo, false);
  if (todo.going) t.send(*this, next_turn);
}

void master::on(turn& t, const message& m) {
  --waiting;
  if (m.value == next_turn) {
    todo.going = false;
  } else {
    of->begin(t, m);
    todo.parts.push_back({m.value, 0});
  }
  if (todo.going) return;
  todo.going = of->go_on(t, todo, true);
  if (!todo.going) return;
  ++waiting;
  t.send(*this, next_turn);
}

// ---- chains -------------------------------------------------------------------------------------

/// Hands the message on; the last one notes when it came.
struct chain_link final : model_actor {
  model_actor* next = nullptr;
  std::vector<double>* arrived_ns = nullptr;
  void on(turn& t, const message& m) override {
    if (next != nullptr) return t.send(*next, m.value);
    (*arrived_ns)[m.value] = t.now_ns();
  }
};

struct heavy_link final : model_actor {
  const team_model* work = nullptr;
  team* helped_by = nullptr;  ///< null: it does the work itself
  model_actor* before = nullptr;
  model_actor* next = nullptr;
  void on(turn& t, const message& m) override {
    if (m.from != before) return t.send(*next, m.value);  // the answer
    if (helped_by != nullptr) return helped_by->ask(t, m.value);
    t.work(work->elements * work->element_ns);
    t.touch(work->elements / work->elements_in_line);
    t.send(*next, m.value);
  }
};

// ---- a matrix -----------------------------------------------------------------------------------

struct row_adder final : model_actor {
  const matrix_rows* program = nullptr;
  team* helped_by = nullptr;
  std::uint32_t added = 0;

  void on(turn& t, const message& m) override {
    const double n = program->work.elements;
    if (m.from != nullptr) {
      t.work(n * program->add_ns);
      ++added;
      return;
    }
    for (std::uint64_t i = 0; i < program->rows; ++i) {
      if (helped_by != nullptr) {
        helped_by->ask(t, i);
        continue;
      }
      t.work(n * (program->work.element_ns + program->add_ns));
      ++added;
    }
  }
};

}  // namespace

pipeline_outcome run(const heavy_chains& program, simulation_options on) {
  simulation s(std::move(on));
  const std::uint32_t workers = s.options().workers;
  std::vector<std::unique_ptr<team>> teams;
  if (program.how == offloading::accelerator)
    teams.push_back(std::make_unique<team>(s, program.work, workers));
  std::vector<double> arrived_ns(program.messages);
  std::vector<chain_link*> firsts;
  for (std::uint32_t c = 0; c < program.chains; ++c) {
    auto& last = s.spawn<chain_link>();
    last.arrived_ns = &arrived_ns;
    model_actor* next = &last;
    heavy_link* heavy = nullptr;
    for (std::uint32_t i = program.actors; i > 0; --i) {
      if (i == 4) {
        heavy = &s.spawn<heavy_link>();
        heavy->next = next;
        next = heavy;
        continue;
      }
      auto& made = s.spawn<chain_link>();
      made.next = next;
      next = &made;
      if (i == 3) heavy->before = next;
      if (i == 1) firsts.push_back(&made);
    }
    if (program.how == offloading::own_maps)
      teams.push_back(std::make_unique<team>(s, program.work, workers));
    heavy->work = &program.work;
    if (!teams.empty()) heavy->helped_by = teams.back().get();
  }
  std::vector<double> sent_ns(program.messages);
  s.outside([&](outside& o) {
    for (std::uint32_t i = 0; i < program.messages; ++i) {
      if (!program.at_once) o.sleep_until((i + 1) * 1e9 / program.rate);
      sent_ns[i] = o.now_ns();
      o.send(*firsts[i % program.chains], i);
    }
  });
  pipeline_outcome result;
  static_cast<outcome&>(result) = s.run();
  for (std::uint32_t i = program.not_counted; i < program.messages; ++i) {
    const double us = (arrived_ns[i] - sent_ns[i]) / 1000;
    if (us <= 0 && result.error.empty()) result.error = "a message is missing";
    result.latency_us.push_back(us);
    result.sent_us.push_back(sent_ns[i] / 1000);
  }
  return result;
}

outcome run(const matrix_rows& program, simulation_options on) {
  simulation s(std::move(on));
  auto& adder = s.spawn<row_adder>();
  adder.program = &program;
  std::unique_ptr<team> helpers;
  if (program.how != offloading::none)
    helpers = std::make_unique<team>(s, program.work, s.options().workers);
  adder.helped_by = helpers.get();
  s.outside([&](outside& o) { o.send(adder, 0); });
  outcome result = s.run();
  if (result.error.empty() && adder.added != program.rows) result.error = "rows are missing";
  return result;
}

}  // namespace bench::simulator
