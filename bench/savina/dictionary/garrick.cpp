// Savina 08: workers read and write one hash map, which belongs to an actor; each waits for an
// answer before it asks again.
#include <unordered_map>

#include "common/garrick_system.hpp"
#include "savina/dictionary/requests.hpp"

namespace {

using bench::savina::dictionary_outcome;
using bench::savina::dictionary_rules;
using garrick::ref;

struct write {
  std::uint32_t key;
  std::uint32_t value;
};
struct read {
  std::uint32_t key;
};
struct outcome {};
using storing =
    garrick::protocol<std::int64_t(write), std::int64_t(read), dictionary_outcome(outcome)>;

class dictionary : public garrick::actor<storing> {
 public:
  std::int64_t on(write w) {
    ++counts_.writes;
    return values_[w.key] = w.value;
  }
  // -1: there is none.
  std::int64_t on(read r) {
    ++counts_.reads;
    const auto found = values_.find(r.key);
    return found == values_.end() ? -1 : std::int64_t{found->second};
  }
  dictionary_outcome on(outcome) {
    counts_.size = values_.size();
    return counts_;
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> values_;
  dictionary_outcome counts_;
};

struct worker_done {};
using waiting = garrick::protocol<void(worker_done)>;
struct begin {};

class worker : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  worker(const dictionary_rules& rules, std::uint32_t id, ref<storing> dictionary,
         ref<waiting> master)
      : requests_(rules, id), dictionary_(std::move(dictionary)), master_(std::move(master)) {}

  void on(begin) { next(); }

 private:
  void next() {
    if (!requests_.more()) {
      send(master_, worker_done{});
      return;
    }
    const auto [is_write, key, value] = requests_.next();
    if (is_write)
      request(dictionary_, write{key, value}).then([this](std::int64_t) { next(); });
    else
      request(dictionary_, read{key}).then([this](std::int64_t) { next(); });
  }

  bench::savina::dictionary_requests requests_;
  ref<storing> dictionary_;
  ref<waiting> master_;
};

class master : public garrick::actor<waiting> {
 public:
  master(const dictionary_rules& rules, dictionary_outcome* found) : rules_(rules), found_(found) {}

  void on_start() {
    dictionary_ = spawn<dictionary>();
    for (std::uint32_t i = 0; i < rules_.workers; ++i)
      send(spawn<worker>(rules_, i, dictionary_, self()), begin{});
  }
  void on(worker_done) {
    if (++done_ == rules_.workers)
      request(dictionary_, outcome{}).then([this](dictionary_outcome all) { *found_ = all; });
  }

 private:
  dictionary_rules rules_;
  dictionary_outcome* found_;
  ref<storing> dictionary_;
  std::uint32_t done_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const dictionary_rules rules = savina::read_rules(args);

  dictionary_outcome found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    system.spawn<master>(rules, garrick::lent(&found));
    static_cast<void>(system.await_all());
  });
  out.items = std::uint64_t{rules.workers} * rules.messages;
  savina::check_dictionary(out, rules, found);
}
