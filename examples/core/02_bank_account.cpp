// An actor with a state, a protocol with three messages, and a request that can fail.
#include <garrick/garrick.hpp>

#include <cstdio>

// [protocol]
struct deposit {
  long cents;
};
struct withdraw {
  long cents;
};
struct balance {};

using account = garrick::protocol<void(deposit), garrick::result<long>(withdraw), long(balance)>;
// [/protocol]

// [actor]
class account_actor : public garrick::actor<account> {
 public:
  void on(deposit d) { cents_ += d.cents; }

  garrick::result<long> on(withdraw w) {
    if (w.cents > cents_)
      return garrick::make_error(garrick::errc::user, "withdraw", "the account holds too little");
    return cents_ -= w.cents;
  }

  long on(balance) const { return cents_; }

 private:
  long cents_ = 0;
};
// [/actor]

// [main]
int main() {
  garrick::actor_system system;
  garrick::ref<account> acc = system.spawn<account_actor>();
  send(acc, deposit{500});

  garrick::result<long> left = system.request(acc, withdraw{120}).get();
  std::printf("left: %ld\n", left.value());

  left = system.request(acc, withdraw{1000}, garrick::duration::seconds(1)).get();
  if (!left) std::printf("refused: %s\n", left.error().to_string().c_str());

  std::printf("balance: %ld\n", system.request(acc, balance{}).get().value());
}
// [/main]
