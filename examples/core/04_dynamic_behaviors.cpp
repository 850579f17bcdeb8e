// An actor without a fixed protocol: it matches messages by type, value, guard and projection, and
// changes its behavior as it goes.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <optional>
#include <string>

using push = garrick::atom<"push">;
using coin = garrick::atom<"coin">;
using status = garrick::atom<"status">;

// [turnstile]
// A turnstile is locked or open. Each state is a behavior; `become` changes from one to the other.
class turnstile : public garrick::dynamic_actor {
 public:
  void on_start() { become(locked()); }

 private:
  garrick::behavior locked() {
    return {
        [this](coin) { become(opened()); },
        [](push) { return std::string("locked: pay first"); },
        [](status) { return std::string("locked"); },
    };
  }
  garrick::behavior opened() {
    return {
        [this](push) {
          become(locked());
          return std::string("welcome");
        },
        [](status) { return std::string("open"); },
    };
  }
};
// [/turnstile]

// [patterns]
std::optional<int> number_in(const std::string& text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9' ? std::optional<int>(std::stoi(text))
                                                           : std::nullopt;
}

// A function that returns a behavior is an actor, too. The first case that fits handles a message.
garrick::behavior classifier(garrick::dynamic_actor&) {
  using garrick::any, garrick::on, garrick::otherwise;
  return {
      on(42) >> [] { return std::string("the answer"); },
      on(any<int>).when([](int x) { return x < 0; }) >>
          [](int x) { return std::to_string(x) + " is negative"; },
      [](int x) { return std::to_string(x) + " is some number"; },
      on(number_in) >> [](int x) { return "the text begins with " + std::to_string(x); },
      on("ping", any<int>) >> [](int n) { return "ping number " + std::to_string(n); },
      otherwise >> [](const garrick::message& m) { return "something else: " + m.to_string(); },
  };
}
// [/patterns]

// [keep]
// `keep_behavior` puts the new behavior on top of the old one; `unbecome` removes it. Until then
// messages that do not fit are skipped and wait in their order.
class chest : public garrick::dynamic_actor {
 public:
  void on_start() {
    set_unmatched(garrick::unmatched::skip);
    become([this](const std::string& thing) { return "in the chest: " + (inside_ += " " + thing); },
           [this](status) { close(); });
  }

 private:
  void close() {
    become(garrick::keep_behavior, [this](push) { unbecome(); });
  }
  std::string inside_;
};
// [/keep]

int main() {
  garrick::actor_system system;
  const garrick::any_ref gate = system.spawn<turnstile>();
  std::printf("%s\n", system.request_as<std::string>(gate, push{}).get().value().c_str());
  send(gate, coin{});
  std::printf("%s\n", system.request_as<std::string>(gate, status{}).get().value().c_str());
  std::printf("%s\n", system.request_as<std::string>(gate, push{}).get().value().c_str());

  const garrick::any_ref what = system.spawn(classifier);
  const auto ask = [&](auto... message) {
    std::printf("%s\n", system.request_as<std::string>(what, message...).get().value().c_str());
  };
  ask(42);
  ask(-7);
  ask(8);
  ask(std::string("3 apples"));
  ask(std::string("ping"), 5);
  ask(2.5);

  const garrick::any_ref box = system.spawn<chest>();
  send(box, status{});                                                    // closes it
  auto waits = system.request_as<std::string>(box, std::string("gold"));  // skipped for now
  send(box, push{});                                                      // opens it again
  std::printf("%s\n", waits.get().value().c_str());
}
