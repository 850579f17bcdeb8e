// Savina 09: workers insert into one sorted linked list and search it; the list belongs to an
// actor.
#include "common/garrick_system.hpp"
#include "savina/sorted_list/list.hpp"

namespace {

using bench::savina::list_outcome;
using bench::savina::list_request;
using bench::savina::list_rules;
using garrick::ref;

struct insert {
  std::uint32_t value;
};
struct contains {
  std::uint32_t value;
};
struct size {};
struct outcome {};
using keeping = garrick::protocol<std::uint64_t(insert), std::uint64_t(contains),
                                  std::uint64_t(size), list_outcome(outcome)>;

class keeper : public garrick::actor<keeping> {
 public:
  std::uint64_t on(insert i) {
    ++counts_.inserts;
    list_.insert(i.value);
    return i.value;
  }
  std::uint64_t on(contains c) {
    ++counts_.contains;
    return list_.contains(c.value) ? 1 : 0;
  }
  std::uint64_t on(size) {
    ++counts_.sizes;
    return list_.size();
  }
  list_outcome on(outcome) {
    counts_.values = list_.size();
    counts_.in_order = list_.in_order();
    return counts_;
  }

 private:
  bench::savina::sorted_list list_;
  list_outcome counts_;
};

struct worker_done {};
using waiting = garrick::protocol<void(worker_done)>;
struct begin {};

class worker : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  worker(const list_rules& rules, std::uint32_t id, ref<keeping> list, ref<waiting> master)
      : requests_(rules, id), list_(std::move(list)), master_(std::move(master)) {}

  void on(begin) { next(); }

 private:
  void next() {
    if (!requests_.more()) {
      send(master_, worker_done{});
      return;
    }
    const auto answered = [this](std::uint64_t) { next(); };
    const auto [kind, value] = requests_.next();
    switch (kind) {
      case list_request::insert: request(list_, insert{value}).then(answered); break;
      case list_request::contains: request(list_, contains{value}).then(answered); break;
      case list_request::size: request(list_, size{}).then(answered); break;
    }
  }

  bench::savina::list_requests requests_;
  ref<keeping> list_;
  ref<waiting> master_;
};

class master : public garrick::actor<waiting> {
 public:
  master(const list_rules& rules, list_outcome* found) : rules_(rules), found_(found) {}

  void on_start() {
    list_ = spawn<keeper>();
    for (std::uint32_t i = 0; i < rules_.workers; ++i)
      send(spawn<worker>(rules_, i, list_, self()), begin{});
  }
  void on(worker_done) {
    if (++done_ == rules_.workers)
      request(list_, outcome{}).then([this](list_outcome all) { *found_ = all; });
  }

 private:
  list_rules rules_;
  list_outcome* found_;
  ref<keeping> list_;
  std::uint32_t done_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  list_rules rules;
  rules.workers = static_cast<std::uint32_t>(args.number("workers", rules.workers));
  rules.messages = static_cast<std::uint32_t>(args.number("messages", rules.messages));
  rules.writes = static_cast<std::uint32_t>(args.number("writes", rules.writes));
  rules.sizes = static_cast<std::uint32_t>(args.number("sizes", rules.sizes));

  list_outcome found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    system.spawn<master>(rules, garrick::lent(&found));
    static_cast<void>(system.await_all());
  });
  out.items = std::uint64_t{rules.workers} * rules.messages;
  savina::check_list(out, rules, found);
}
