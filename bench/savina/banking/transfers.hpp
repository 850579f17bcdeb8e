// The transfers of workload `savina_banking`, and the balances that the accounts must have at the
// end.
//
// Amounts are whole billionths: sums of integers do not depend on the order of the transfers, so
// the check is exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/measure.hpp"
#include "common/savina.hpp"

namespace bench {

using money = std::int64_t;

struct transfer {
  std::uint64_t source = 0;
  // above the source, so accounts that wait for each other form no circle
  std::uint64_t destination = 0;
  money amount = 0;
};

class transfer_generator {
 public:
  explicit transfer_generator(std::uint64_t accounts) : accounts_(accounts) {}

  transfer next() {
    transfer t;
    t.source = random_.below(accounts_ * 8 / 10);
    t.destination = t.source + std::max<std::uint64_t>(1, random_.below(accounts_ - t.source));
    t.amount = std::llround(random_.real() * 1000 * 1e9);
    return t;
  }

 private:
  savina::random_numbers random_{123'456};
  std::uint64_t accounts_;
};

// The balances of the accounts when they ended: `balances` has a place for each.
struct bank_books {
  explicit bank_books(std::uint64_t accounts) : balances(accounts) {}
  std::vector<money> balances;
  std::uint64_t completed = 0;
};

inline void check_bank(result& out, const bank_books& found, std::uint64_t transactions) {
  bank_books expected(found.balances.size());
  transfer_generator generator(found.balances.size());
  money moved = 0;
  for (std::uint64_t i = 0; i < transactions; ++i) {
    const transfer t = generator.next();
    expected.balances[t.source] -= t.amount;
    expected.balances[t.destination] += t.amount;
    moved += t.amount;
  }
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < found.balances.size(); ++i)
    wrong += found.balances[i] == expected.balances[i] ? 0 : 1;
  out.items = transactions;
  out.expect("completed transactions", transactions, found.completed);
  out.expect("accounts with a wrong balance", 0, wrong);
  if (found.balances.size() == 1000 && transactions == 50'000)
    out.expect("moved, in ten-thousandths", 93'840'817,
               static_cast<std::uint64_t>(moved / 100'000));
}

}  // namespace bench
