// Rings of actors pass a token while a detached actor for each ring factorises; rings are torn down
// and rebuilt.
#include "actors/mixed/factorise.hpp"
#include "common/garrick_system.hpp"

namespace {

struct calc {
  std::uint64_t n;
};
struct token {
  std::uint64_t value;
};
struct factors {
  std::vector<std::uint64_t> found;
};
struct ring_done {};
struct begin {};

using calculator = garrick::protocol<void(calc)>;
using ring_member = garrick::protocol<void(token)>;
using reports = garrick::protocol<void(factors), void(ring_done)>;

struct setup {
  std::uint64_t ring;
  std::uint64_t token;
  std::uint64_t repetitions;
};

class factoriser : public garrick::actor<calculator> {
 public:
  explicit factoriser(garrick::ref<reports> supervisor) : supervisor_(std::move(supervisor)) {}
  void on(calc c) { send(supervisor_, factors{bench::factorise(c.n)}); }

 private:
  garrick::ref<reports> supervisor_;
};

class chain_link : public garrick::actor<ring_member> {
 public:
  explicit chain_link(garrick::ref<ring_member> next) : next_(std::move(next)) {}

  void on(token t) {
    send(next_, t);
    if (t.value == 0) quit();
  }

 private:
  garrick::ref<ring_member> next_;
};

class master : public garrick::actor<garrick::protocol<void(begin), void(token)>> {
 public:
  master(setup s, garrick::ref<reports> supervisor)
      : setup_(s), supervisor_(std::move(supervisor)) {}

  void on(begin) {
    factoriser_ = spawn<factoriser>(garrick::spawn_options{.detached = true}, supervisor_);
    new_ring();
  }
  void on(token t) {
    if (t.value != 0) {
      send(next_, token{t.value - 1});
      return;
    }
    if (++rounds_ < setup_.repetitions) {
      new_ring();
      return;
    }
    send(supervisor_, ring_done{});
    quit();
  }

 private:
  void new_ring() {
    send(factoriser_, calc{bench::first_prime * bench::second_prime});
    next_ = self();
    for (std::uint64_t i = 1; i < setup_.ring; ++i) next_ = spawn<chain_link>(next_);
    send(next_, token{setup_.token});
  }

  setup setup_;
  garrick::ref<reports> supervisor_;
  garrick::ref<calculator> factoriser_;
  garrick::ref<ring_member> next_;
  std::uint64_t rounds_ = 0;
};

struct tally {
  std::uint64_t factorisations = 0;
  std::uint64_t masters = 0;
};

class supervisor : public garrick::actor<reports> {
 public:
  explicit supervisor(tally* seen) : seen_(seen) {}

  void on(const factors& f) {
    if (f.found == std::vector{bench::first_prime, bench::second_prime}) ++seen_->factorisations;
  }
  void on(ring_done) { ++seen_->masters; }

 private:
  tally* seen_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t rings = args.number("rings", 20);
  const setup s{args.number("ring", 50), args.number("token", 200), args.number("repetitions", 2)};

  tally seen;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const garrick::ref<reports> top = system.spawn<supervisor>(garrick::lent(&seen));
      for (std::uint64_t i = 0; i < rings; ++i) send(system.spawn<master>(s, top), begin{});
    }
    static_cast<void>(system.await_all());
  });
  out.items = rings * s.repetitions * (s.token + 1) * s.ring;
  out.expect("factorisations", rings * s.repetitions, seen.factorisations);
  out.expect("rings", rings, seen.masters);
}
