// A teller orders all transfers at once. The account that pays asks the other to book its side, and
// takes nothing else until it has.
#include "common/caf_system.hpp"
#include "savina/banking/transfers.hpp"

namespace {

using bench::money;
using credit_atom = caf::atom_constant<caf::atom("credit")>;
using debit_atom = caf::atom_constant<caf::atom("debit")>;
using paid_atom = caf::atom_constant<caf::atom("paid")>;

class account : public caf::event_based_actor {
 public:
  account(caf::actor_config& cfg, std::uint64_t number, bench::bank_books* books)
      : caf::event_based_actor(cfg), number_(number), books_(books) {}

  caf::behavior make_behavior() override {
    return {
        [this](credit_atom, money amount, const caf::actor& destination,
               const caf::actor& customer) {
          balance_ -= amount;
          request(destination, caf::infinite, debit_atom::value, amount).await([this, customer] {
            send(customer, paid_atom::value);
          });
        },
        [this](debit_atom, money amount) { balance_ += amount; },
    };
  }
  void on_exit() override { books_->balances[number_] = balance_; }

 private:
  std::uint64_t number_;
  bench::bank_books* books_;
  money balance_ = 0;
};

caf::behavior teller(caf::stateful_actor<std::vector<caf::actor>>* self, std::uint64_t transactions,
                     bench::bank_books* books) {
  auto& accounts = self->state;
  const std::uint64_t count = books->balances.size();
  for (std::uint64_t i = 0; i < count; ++i) accounts.push_back(self->spawn<account>(i, books));
  const auto me = caf::actor_cast<caf::actor>(self);
  bench::transfer_generator generator(count);
  for (std::uint64_t i = 0; i < transactions; ++i) {
    const bench::transfer t = generator.next();
    self->send(accounts[t.source], credit_atom::value, t.amount, accounts[t.destination], me);
  }
  return {
      [=](paid_atom) {
        if (++books->completed < transactions) return;
        for (const caf::actor& a : self->state) self->send_exit(a, caf::exit_reason::user_shutdown);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t accounts = args.number("accounts", 1000);
  const std::uint64_t transactions = args.number("transactions", 50'000);

  bank_books books(accounts);
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(teller, transactions, &books);
    system.await_all_actors_done();
  });
  check_bank(out, books, transactions);
}
