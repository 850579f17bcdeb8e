// A handler that is a coroutine: several requests, one after the other or at once, written from top
// to bottom.
#include <garrick/garrick.hpp>

#include <cstdio>

struct deposit {
  long cents;
};
struct withdraw {
  long cents;
};
struct balance {};
using account = garrick::protocol<void(deposit), garrick::result<long>(withdraw), long(balance)>;

class account_actor : public garrick::actor<account> {
 public:
  explicit account_actor(long cents) : cents_(cents) {}
  void on(deposit d) { cents_ += d.cents; }
  garrick::result<long> on(withdraw w) {
    if (w.cents > cents_)
      return garrick::make_error(garrick::errc::user, "withdraw", "the account holds too little");
    return cents_ -= w.cents;
  }
  long on(balance) const { return cents_; }

 private:
  long cents_;
};

// [transfer]
struct transfer {
  garrick::ref<account> from;
  garrick::ref<account> to;
  long cents;
};
using bank = garrick::protocol<garrick::result<long>(transfer),
                               long(garrick::ref<account>, garrick::ref<account>)>;

class bank_actor : public garrick::actor<bank> {
 public:
  garrick::task<long> on(transfer t) {  // by value: the message lives in the coroutine's frame
    const garrick::result<long> left = co_await request<withdraw>(t.from, t.cents);
    if (!left) co_return left.error();
    const garrick::result<void> paid = co_await request<deposit>(t.to, t.cents);
    if (!paid) co_return paid.error();
    co_return *left;
  }
  // [/transfer]

  // [both]
  garrick::task<long> on(garrick::ref<account> a, garrick::ref<account> b) {
    auto of_a = request<balance>(a);  // both are under way ...
    auto of_b = request<balance>(b);
    // ... before the first is waited for
    const garrick::result<long> in_a = co_await std::move(of_a);
    const garrick::result<long> in_b = co_await std::move(of_b);
    co_return in_a.value() + in_b.value();
  }
  // [/both]
};

int main() {
  garrick::actor_system system;
  const auto ann = system.spawn<account_actor>(100);
  const auto bob = system.spawn<account_actor>(20);
  const auto bank_of_both = system.spawn<bank_actor>();

  std::printf("left after the transfer: %ld\n",
              system.request(bank_of_both, transfer{ann, bob, 70}).get().value());
  const garrick::result<long> again = system.request(bank_of_both, transfer{ann, bob, 70}).get();
  std::printf("and again: %s\n", again.error().to_string().c_str());
  std::printf("together: %ld\n", system.request(bank_of_both, ann, bob).get().value());
}
