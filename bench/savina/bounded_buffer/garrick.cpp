// Savina 10: a manager hands items from producers to consumers. It lets a producer make its next
// item only while few are waiting, so that the buffer is never exceeded by items that producers
// have under way.
#include <deque>

#include "common/garrick_system.hpp"
#include "savina/bounded_buffer/items.hpp"

namespace {

using bench::savina::buffer_outcome;
using bench::savina::buffer_rules;
using bench::savina::process_item;
using garrick::ref;

struct produce {};
using producing = garrick::protocol<void(produce)>;
struct consume {
  double item;
};
using consuming = garrick::protocol<void(consume)>;

struct produced {
  double item;
  ref<producing> by;
};
struct producer_done {};
struct consumed {
  ref<consuming> by;
};
using managing = garrick::protocol<void(produced), void(producer_done), void(consumed)>;

class producer : public garrick::actor<producing> {
 public:
  producer(ref<managing> manager, std::uint64_t items, std::uint32_t cost)
      : manager_(std::move(manager)), left_(items), cost_(cost) {}

  void on(produce) {
    if (left_ == 0) {
      send(manager_, producer_done{});
      quit();
      return;
    }
    --left_;
    item_ = process_item(item_, cost_);
    send(manager_, produced{item_, self()});
  }

 private:
  ref<managing> manager_;
  std::uint64_t left_;
  std::uint32_t cost_;
  double item_ = 0;
};

class consumer : public garrick::actor<consuming> {
 public:
  consumer(ref<managing> manager, std::uint32_t cost) : manager_(std::move(manager)), cost_(cost) {}

  void on(consume c) {
    item_ = process_item(item_ + c.item, cost_);
    send(manager_, consumed{self()});
  }

 private:
  ref<managing> manager_;
  std::uint32_t cost_;
  double item_ = 0;
};

class manager : public garrick::actor<managing> {
 public:
  manager(const buffer_rules& rules, buffer_outcome* seen)
      : rules_(rules),
        limit_(rules.buffer - rules.producers),
        producers_(rules.producers),
        seen_(seen) {}

  void on_start() {
    for (std::uint64_t i = 0; i < rules_.consumers; ++i)
      consumers_.push_back(spawn<consumer>(self(), rules_.consume));
    for (std::uint64_t i = 0; i < rules_.producers; ++i)
      send(spawn<producer>(self(), rules_.items, rules_.produce), produce{});
  }
  void on(const produced& p) {
    ++seen_->produced;
    seen_->sum += p.item;
    if (consumers_.empty()) {
      waiting_.push_back(p.item);
      seen_->most_waiting = std::max<std::uint64_t>(seen_->most_waiting, waiting_.size());
    } else {
      send(consumers_.front(), consume{p.item});
      consumers_.pop_front();
    }
    if (waiting_.size() >= limit_)
      held_back_.push_back(p.by);
    else
      send(p.by, produce{});
  }
  void on(const consumed& c) {
    ++seen_->consumed;
    if (waiting_.empty()) {
      consumers_.push_back(c.by);
      end_if_done();
      return;
    }
    send(c.by, consume{waiting_.front()});
    waiting_.pop_front();
    if (held_back_.empty()) return;
    send(held_back_.front(), produce{});
    held_back_.pop_front();
  }
  void on(producer_done) {
    --producers_;
    end_if_done();
  }

 private:
  // The consumers end with the last handles to them.
  void end_if_done() {
    if (producers_ == 0 && consumers_.size() == rules_.consumers) quit();
  }

  buffer_rules rules_;
  std::uint64_t limit_;
  std::uint64_t producers_;
  buffer_outcome* seen_;
  std::deque<double> waiting_;
  std::deque<ref<producing>> held_back_;
  std::deque<ref<consuming>> consumers_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const buffer_rules rules = savina::read_rules(args);

  buffer_outcome seen;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    system.spawn<manager>(rules, garrick::lent(&seen));
    static_cast<void>(system.await_all());
  });
  out.items = rules.producers * rules.items;
  savina::check_buffer(out, rules, seen);
}
