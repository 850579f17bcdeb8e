// Your own error codes: a requester compares them like those of the framework.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <string>
#include <string_view>

// [category]
enum class bank_errc : std::uint32_t {
  too_poor = 1,
  closed,
};

class bank_errors final : public garrick::base::error_category {
 public:
  std::string_view name() const noexcept override { return "bank"; }
  std::string message(std::uint32_t code) const override {
    switch (static_cast<bank_errc>(code)) {
      case bank_errc::too_poor: return "there is not enough money";
      case bank_errc::closed: return "the account is closed";
    }
    return "an error of the bank without a text";
  }
};

// In the namespace of the enumeration; returns one object, which lives as long as the program.
const garrick::base::error_category& error_category_of(bank_errc) noexcept {
  static const bank_errors category;
  return category;
}
// [/category]

struct withdraw {
  long cents;
};
struct close_account {};
using account = garrick::protocol<garrick::result<long>(withdraw), void(close_account)>;

// [handler]
class account_actor : public garrick::actor<account> {
 public:
  garrick::result<long> on(withdraw w) {
    if (closed_) return bank_errc::closed;
    if (w.cents > cents_)
      return garrick::make_error(bank_errc::too_poor, name(),
                                 std::to_string(w.cents - cents_) + " cents are missing");
    return cents_ -= w.cents;
  }
  void on(close_account) { closed_ = true; }

 private:
  long cents_ = 100;
  bool closed_ = false;
};
// [/handler]

int main() {
  garrick::actor_system system;
  const auto a = system.spawn<account_actor>(garrick::spawn_options{.name = "savings"});
  std::printf("left: %ld\n", system.request(a, withdraw{70}).get().value());
  // [compare]
  const auto refused = system.request(a, withdraw{50}).get();
  if (!refused && refused.error() == bank_errc::too_poor)
    std::printf("try less: %s\n", refused.error().to_string().c_str());
  // [/compare]
  send(a, close_account{});
  const auto closed = system.request(a, withdraw{1}).get();
  std::printf("%s\n", closed.error().to_string().c_str());
}
