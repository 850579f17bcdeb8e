// A teller orders all transfers at once. The account that pays asks the other to book its side, and
// takes nothing else until it has.
#include "common/garrick_system.hpp"
#include "savina/banking/transfers.hpp"

namespace {

using bench::money;

struct debit {
  money amount;
};
using payee = garrick::protocol<garrick::result<void>(debit)>;
struct paid {};
using office = garrick::protocol<void(paid)>;
struct credit {
  money amount;
  garrick::ref<payee> destination;
  garrick::ref<office> customer;
};
using account = garrick::protocol<void(credit), garrick::result<void>(debit)>;

class account_actor : public garrick::actor<account> {
 public:
  account_actor(std::uint64_t number, bench::bank_books* books) : number_(number), books_(books) {}

  void on(const credit& c) {
    balance_ -= c.amount;
    request(c.destination, debit{c.amount}).await([this, customer = c.customer] {
      send(customer, paid{});
    });
  }
  garrick::result<void> on(debit d) {
    balance_ += d.amount;
    return {};
  }
  void on_exit(const garrick::exit_reason&) { books_->balances[number_] = balance_; }

 private:
  std::uint64_t number_;
  bench::bank_books* books_;
  money balance_ = 0;
};

struct open {
  std::uint64_t transactions;
};

class teller : public garrick::actor<garrick::protocol<void(open), void(paid)>> {
 public:
  explicit teller(bench::bank_books* books) : books_(books) {}

  void on(open o) {
    const std::uint64_t count = books_->balances.size();
    for (std::uint64_t i = 0; i < count; ++i)
      accounts_.push_back(spawn<account_actor>(i, garrick::lent(books_)));
    outstanding_ = o.transactions;
    bench::transfer_generator generator(count);
    for (std::uint64_t i = 0; i < o.transactions; ++i) {
      const bench::transfer t = generator.next();
      send(accounts_[t.source], credit{t.amount, accounts_[t.destination], self()});
    }
  }
  void on(paid) {
    ++books_->completed;
    if (--outstanding_ == 0) accounts_.clear();  // no handle to the accounts is left: they end
  }

 private:
  bench::bank_books* books_;
  std::vector<garrick::ref<account>> accounts_;
  std::uint64_t outstanding_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t accounts = args.number("accounts", 1000);
  const std::uint64_t transactions = args.number("transactions", 50'000);

  bank_books books(accounts);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<teller>(garrick::lent(&books)), open{transactions});
    static_cast<void>(system.await_all());
  });
  check_bank(out, books, transactions);
}
