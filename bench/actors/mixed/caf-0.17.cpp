// Rings of actors pass a token while a detached actor for each ring factorises; rings are torn down
// and rebuilt.
#include "actors/mixed/factorise.hpp"
#include "common/caf_system.hpp"

namespace {

using factors = std::vector<std::uint64_t>;
using calc_atom = caf::atom_constant<caf::atom("calc")>;
using token_atom = caf::atom_constant<caf::atom("token")>;
using factors_atom = caf::atom_constant<caf::atom("factors")>;
using done_atom = caf::atom_constant<caf::atom("done")>;
using begin_atom = caf::atom_constant<caf::atom("begin")>;

struct setup {
  std::uint64_t ring;
  std::uint64_t token;
  std::uint64_t repetitions;
  caf::actor supervisor;
};

caf::behavior factoriser(caf::event_based_actor* self, const caf::actor& supervisor) {
  return {
      [=](calc_atom, std::uint64_t n) {
        self->send(supervisor, factors_atom::value, bench::factorise(n));
      },
      [=](done_atom) { self->quit(); },
  };
}

caf::behavior chain_link(caf::event_based_actor* self, const caf::actor& next) {
  return {
      [=](token_atom, std::uint64_t value) {
        self->send(next, token_atom::value, value);
        if (value == 0) self->quit();
      },
  };
}

class master : public caf::event_based_actor {
 public:
  master(caf::actor_config& cfg, setup s) : caf::event_based_actor(cfg), setup_(std::move(s)) {}

  caf::behavior make_behavior() override {
    return {
        [this](begin_atom) {
          factoriser_ = spawn<caf::detached>(factoriser, setup_.supervisor);
          new_ring();
        },
        [this](token_atom, std::uint64_t value) {
          if (value != 0) {
            send(next_, token_atom::value, value - 1);
            return;
          }
          if (++rounds_ < setup_.repetitions) {
            new_ring();
            return;
          }
          send(factoriser_, done_atom::value);
          send(setup_.supervisor, done_atom::value);
          quit();
        },
    };
  }

 private:
  void new_ring() {
    send(factoriser_, calc_atom::value, bench::first_prime * bench::second_prime);
    next_ = caf::actor_cast<caf::actor>(this);
    for (std::uint64_t i = 1; i < setup_.ring; ++i)
      next_ = spawn<caf::lazy_init>(chain_link, next_);
    send(next_, token_atom::value, setup_.token);
  }

  setup setup_;
  caf::actor factoriser_;
  caf::actor next_;
  std::uint64_t rounds_ = 0;
};

struct tally {
  std::uint64_t factorisations = 0;
  std::uint64_t masters = 0;
};

caf::behavior supervisor(caf::event_based_actor* self, std::uint64_t reports, tally* seen) {
  const auto count = [=](std::uint64_t& what) {
    ++what;
    if (seen->factorisations + seen->masters == reports) self->quit();
  };
  return {
      [=](factors_atom, const factors& found) {
        if (found == factors{bench::first_prime, bench::second_prime}) count(seen->factorisations);
      },
      [=](done_atom) { count(seen->masters); },
  };
}

}  // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(setup)

void bench::run(arguments& args, result& out) {
  const std::uint64_t rings = args.number("rings", 20);
  setup s{args.number("ring", 50), args.number("token", 200), args.number("repetitions", 2),
          nullptr};

  tally seen;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    s.supervisor = system.spawn(supervisor, rings + rings * s.repetitions, &seen);
    for (std::uint64_t i = 0; i < rings; ++i)
      caf::anon_send(system.spawn<master>(s), begin_atom::value);
    s.supervisor = nullptr;
    system.await_all_actors_done();
  });
  out.items = rings * s.repetitions * (s.token + 1) * s.ring;
  out.expect("factorisations", rings * s.repetitions, seen.factorisations);
  out.expect("rings", rings, seen.masters);
}
