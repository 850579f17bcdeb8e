// Actors that are asked by a thread outside, beside a ring of actors that is never idle.
#include "common/garrick_system.hpp"
#include "latency/interactive/interactive.hpp"

namespace {

struct connect;
struct token {
  std::uint64_t value;
};
using ring_member = garrick::protocol<void(connect), void(token)>;
struct connect {
  garrick::ref<ring_member> next;  // empty: the flood has ended
};

class flooder : public garrick::actor<ring_member> {
 public:
  flooder(bench::interactive_run* run, std::uint64_t index) : run_(run), index_(index) {}
  void on(connect c) {
    next_ = std::move(c.next);
    if (!next_) quit();
  }
  void on(token t) {
    if (run_->flooded(index_, &t.value)) send(next_, t);
  }

 private:
  bench::interactive_run* run_;
  std::uint64_t index_;
  garrick::ref<ring_member> next_;
};

using answers = garrick::protocol<void(bench::answer)>;
using questions = garrick::protocol<void(bench::question)>;
using works = garrick::protocol<void(std::uint64_t)>;

class collector : public garrick::actor<answers> {
 public:
  explicit collector(bench::interactive_run* run) : run_(run) {}
  void on(const bench::answer& a) { run_->answered(a); }

 private:
  bench::interactive_run* run_;
};

class interactive : public garrick::actor<questions> {
 public:
  interactive(const bench::interactive_run* run, std::uint64_t index, garrick::ref<answers> whom)
      : run_(run), index_(index), whom_(std::move(whom)) {}
  void on(const bench::question& q) { send(whom_, run_->ask(index_, q, bench::now_ns())); }

 private:
  const bench::interactive_run* run_;
  std::uint64_t index_;
  garrick::ref<answers> whom_;
};

class slow : public garrick::actor<works> {
 public:
  slow(bench::interactive_run* run, std::uint64_t index) : run_(run), index_(index) {}
  void on(std::uint64_t value) { run_->worked(index_, value); }

 private:
  bench::interactive_run* run_;
  std::uint64_t index_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const interactive_settings s = read_interactive(args);
  interactive_run measured(s);

  run_system(args, [&](garrick::actor_system& system) {
    std::vector<garrick::ref<ring_member>> ring;
    for (std::uint64_t i = 0; i < s.flood; ++i)
      ring.push_back(system.spawn<flooder>(garrick::lent(&measured), i));
    for (std::uint64_t i = 0; i < s.flood; ++i) send(ring[i], connect{ring[(i + 1) % s.flood]});
    for (std::uint64_t i = 0; i < s.flood * interactive_run::tokens_each; ++i)
      send(ring[i % s.flood], token{i});

    const auto whom = system.spawn<collector>(garrick::lent(&measured));
    std::vector<garrick::ref<questions>> asked;
    for (std::uint64_t i = 0; i < s.actors; ++i)
      asked.push_back(system.spawn<interactive>(garrick::lent(&measured), i, whom));
    std::vector<garrick::ref<works>> working;
    for (std::uint64_t i = 0; i < s.slow; ++i)
      working.push_back(system.spawn<slow>(garrick::lent(&measured), i));

    measured.run([&](std::uint64_t i, const question& q) { send(asked[i], q); },
                 [&](std::uint64_t i, std::uint64_t value) { send(working[i], value); });
    for (const auto& member : ring) send(member, connect{});
  });
  measured.report(out);
}
