// One actor's whole life on a mailbox, as a scenario for the explorer: producers, a sender of
// signals, two workers, the end, the last handle.
//
// What it checks: I1 one runner at a time; I3 nothing is freed that is still in use, and freed memory is used again at once, so that a stale comparison is fooled;
// I4 every message is handled, or refused, or left over at the end; I5 in order per sender and
// priority; signals all arrive, in order, before the next message; L2 the end comes exactly once,
// and not while a handle exists; a normal message waits for eight urgent ones at most.
//
// Thread safety: fibres of one interleaving.
#pragma once

#include <garrick/machine/interleaving.hpp>
#include <garrick/machine/internal/planted/mailbox.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace garrick::machine::internal::planted {

struct life_plan {
  std::uint32_t producers = 2;
  std::uint32_t messages = 4;       ///< of each producer
  std::uint32_t urgent_one_in = 0;  ///< 0: none
  std::uint32_t signals = 0;
  /// messages handled before the actor ends by itself; 0: it lives until it is unreachable
  std::uint32_t ends_after = 0;
  /// a handler makes a handle to its own actor, which another thread drops later
  bool gives_itself_away = false;
  std::uint32_t urgent_chain = 0;  ///< an urgent message sends the next one, so often
};

template <class Mailbox>
class mailbox_life {
  struct alignas(64) node {
    node* next = nullptr;
    mailbox_life* home = nullptr;
    std::uint32_t producer = 0;
    std::uint32_t number = 0;
    bool urgent = false;
    bool in_use = false;

    static bool is_urgent(const node* n) noexcept { return n->urgent; }
    static bool is_answer(const node*) noexcept { return false; }
    static void retire(node* n) noexcept { n->home->give_back(n); }
  };
  using gate_type = typename Mailbox::template gate<node, scheduled_atomics>;
  using reader_type = typename Mailbox::template reader<node, scheduled_atomics>;
  static constexpr std::uint32_t urgent_share = 8;
  static constexpr auto any_order = std::memory_order_seq_cst;  // order: the policy ignores it

 public:
  mailbox_life(interleaving& run, const life_plan& plan)
      : run_(run), plan_(plan), senders_(plan.producers + (plan.signals != 0 ? 1 : 0)) {
    strong_.store(senders_, any_order);
    if (plan.gives_itself_away) {
      ++senders_;
      run.add([this] { inherit(); });
    }
    last_number_.resize(2 * (plan.producers + 1));
    for (std::uint32_t p = 0; p < plan.producers; ++p) run.add([this, p] { produce(p); });
    if (plan.signals != 0) run.add([this] { send_signals(); });
    for (int w = 0; w < 2; ++w) run.add([this] { work(); });
  }

  void go() {
    run_.go();
    run_.require(scheduled_ == 0 && runner_ == 0, "somebody still runs at the end");
    run_.require(handled_ + refused_ + left_over_ == pushed_, "a message was lost");
    run_.require(signals_handled_ == plan_.signals, "a signal was lost");
    run_.require(ends_ == 1, "the actor did not end exactly once");
    run_.require(nodes_in_use_ == 0, "an envelope was not freed");
  }

 private:
  // ---- envelopes: the one freed last is used next
  node* take(std::uint32_t producer, std::uint32_t number, bool urgent) {
    node* n = free_;
    if (n != nullptr)
      free_ = n->next;
    else
      n = nodes_.emplace_back(std::make_unique<node>()).get();
    interleaving::check(!n->in_use, "an envelope was given out twice");
    ++nodes_in_use_;
    *n = node{nullptr, this, producer, number, urgent, true};
    return n;
  }
  void give_back(node* n) noexcept {
    interleaving::check(n->in_use, "an envelope was freed twice");
    n->in_use = false;
    --nodes_in_use_;
    n->next = free_;
    free_ = n;
  }

  // ---- those who hold handles
  void produce(std::uint32_t p) {
    for (std::uint32_t i = 1; i <= plan_.messages; ++i)
      send(p, i, plan_.urgent_one_in != 0 && run_.random().below(plan_.urgent_one_in) == 0);
    drop_handle();
  }
  void send(std::uint32_t producer, std::uint32_t number, bool urgent) {
    node* const n = take(producer, number, urgent);
    ++pushed_;
    switch (gate_.push(n)) {
      case core::push_outcome::woke: schedule(); break;
      case core::push_outcome::queued: break;
      case core::push_outcome::closed:
        ++refused_;
        give_back(n);
        break;
    }
    if (urgent) attention_.store(1, any_order);
  }
  void send_signals() {
    for (std::uint32_t i = 1; i <= plan_.signals; ++i) {
      const core::push_outcome r = gate_.push_signal(take(plan_.producers, i, false));
      if (r == core::push_outcome::closed) {
        handle_signals(reader_type::take_signals_of_the_dead(gate_), true);
        continue;
      }
      attention_.store(1, any_order);
      if (r == core::push_outcome::woke) schedule();
    }
    drop_handle();
  }
  void drop_handle() {
    if (strong_.fetch_sub(1, any_order) == 1) {
      switch (gate_.drop()) {
        case core::drop_outcome::running: break;
        case core::drop_outcome::closed: break;  // the block only: its actor has ended
        case core::drop_outcome::idle:
          interleaving::check(reader_.claim_idle(gate_), "an actor that nobody holds was woken");
          interleaving::check(runner_ == 0 && scheduled_ == 0, "an idle actor runs");
          end();
          break;
      }
    }
    --senders_;
  }
  void inherit() {
    while (!given_away_) interleaving::pause();
    drop_handle();
  }

  // ---- the workers
  void schedule() {
    interleaving::check(scheduled_ == 0 && runner_ == 0,
                        "double run: the actor was scheduled while it was scheduled or running");
    ++scheduled_;
  }
  void work() {
    std::uint32_t idle_looks = 0;
    while (senders_ != 0 || scheduled_ != 0 || runner_ != 0 || idle_looks++ < 3) {
      if (scheduled_ == 0) {
        interleaving::pause();
        continue;
      }
      --scheduled_;
      ++runner_;
      run_once();
    }
  }
  void run_once() {
    std::uint32_t budget = 1 + run_.random().below(4);
    for (;;) {
      if (attention_.load(any_order) != 0) attend();
      if (plan_.ends_after != 0 && handled_ >= plan_.ends_after) return close();
      node* const n = pick();
      if (n == nullptr) {
        switch (reader_.release(gate_, 0)) {
          // nobody else went on between the release and here
          case core::release_outcome::released: --runner_; return;
          case core::release_outcome::arrivals:
            if ((gate_.peek() & core::mailbox_word::signal) != 0) attend();
            continue;
          case core::release_outcome::unreachable:
            interleaving::check(strong_.load(any_order) == 0,
                                "the actor is ended while a handle to it exists");
            --runner_;
            return end();
        }
      }
      handle(n);
      if (--budget == 0) {
        --runner_;
        return schedule();
      }
    }
  }
  void attend() {
    attention_.exchange(0, any_order);
    reader_.take_arrivals(gate_);
    handle_signals(reader_.take_signals(gate_), false);
  }
  /// As cell::pick.
  node* pick() {
    if (!reader_.has_urgent()) {
      node* const n = reader_.next(gate_);
      if (n != nullptr || !reader_.has_urgent()) return n;
    }
    const std::uint32_t share =
        std::is_same_v<Mailbox, planted_mailbox<bug::unfair_urgent>> ? ~0u : urgent_share;
    if (streak_ < share || reader_.peek_front() == nullptr) {
      ++streak_;
      return reader_.next_urgent();
    }
    streak_ = 0;
    return reader_.next(gate_);
  }
  void handle(node* n) {
    interleaving::check(n->in_use, "a freed envelope is handled");
    interleaving::check(runner_ == 1, "double run: two workers handle messages of one actor");
    if (n->urgent && reader_.peek_front() != nullptr)
      interleaving::check(++urgent_in_a_row_ <= urgent_share, "normal messages starve");
    else
      urgent_in_a_row_ = 0;
    std::uint32_t& last = last_number_[2 * n->producer + (n->urgent ? 1 : 0)];
    interleaving::check(n->number > last,
                        "messages of one sender and priority came out of order, or twice");
    last = n->number;
    ++handled_;
    interleaving::point();  // the handler
    if (n->number <= plan_.urgent_chain && n->urgent == (n->number != 1) &&
        n->producer == (n->urgent ? plan_.producers : 0)) {
      make_handle();
      send(plan_.producers, n->number + 1, true);
      // "running": this is the runner
      if (strong_.fetch_sub(1, any_order) == 1) static_cast<void>(gate_.drop());
    }
    if (plan_.gives_itself_away && !given_away_) {
      make_handle();
      given_away_ = true;
    }
    reader_.done(n);
  }
  /// As cell::add_strong_from_self.
  void make_handle() {
    if (strong_.fetch_add(1, any_order) == 0) gate_.undrop();
  }
  void handle_signals(node* newest, bool of_the_dead) {
    node* oldest = nullptr;
    if (std::is_same_v<Mailbox, planted_mailbox<bug::reordered_signals>>) {
      oldest = newest;
    } else {
      while (newest != nullptr) {
        node* const older = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = older;
      }
    }
    while (oldest != nullptr) {
      node* const n = oldest;
      oldest = n->next;
      interleaving::check(n->in_use, "a freed signal is handled");
      if (!of_the_dead) {
        interleaving::check(n->number > last_number_[2 * n->producer],
                            "signals came out of order, or twice");
        last_number_[2 * n->producer] = n->number;
      }
      ++signals_handled_;
      give_back(n);
    }
  }

  // ---- the end
  void close() {
    static_cast<void>(reader_.close(gate_));
    while (reader_.has_urgent()) leave_over(reader_.next_urgent());
    while (reader_.peek_front() != nullptr) leave_over(reader_.next(gate_));
    handle_signals(reader_type::take_signals_of_the_dead(gate_), true);
    --runner_;
    ++ends_;
  }
  void leave_over(node* n) {
    ++left_over_;
    reader_.done(n);
  }
  void end() {
    ++ends_;
    static_cast<void>(reader_.close(gate_));
    interleaving::check(reader_.peek_front() == nullptr && !reader_.has_urgent(),
                        "an unreachable actor still had messages");
  }

 private:
  interleaving& run_;
  const life_plan plan_;
  gate_type gate_{true};
  reader_type reader_;
  scheduled_atomics::atomic<std::uint32_t> strong_{0};
  scheduled_atomics::atomic<std::uint32_t> attention_{0};
  std::uint32_t senders_;
  std::uint32_t scheduled_ = 0;
  std::uint32_t runner_ = 0;
  std::uint32_t streak_ = 0;
  std::uint32_t urgent_in_a_row_ = 0;
  std::uint32_t pushed_ = 0;
  std::uint32_t handled_ = 0;
  std::uint32_t refused_ = 0;
  std::uint32_t left_over_ = 0;
  std::uint32_t signals_handled_ = 0;
  std::uint32_t ends_ = 0;
  bool given_away_ = false;
  std::vector<std::uint32_t> last_number_;
  std::vector<std::unique_ptr<node>> nodes_;
  node* free_ = nullptr;
  std::uint32_t nodes_in_use_ = 0;
};

}  // namespace garrick::machine::internal::planted
