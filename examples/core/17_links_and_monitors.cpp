// The end of an actor: a monitoring actor is notified, a linked actor ends too, and a linked actor
// that traps exits decides for itself.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

struct work {
  int value;
};
using worker = garrick::protocol<int(work)>;

class fragile : public garrick::actor<worker> {
 public:
  int on(work w) {
    if (w.value < 0) throw std::invalid_argument("cannot work on " + std::to_string(w.value));
    return w.value * 2;
  }
};

struct watch {
  garrick::ref<worker> who;
};
using watcher = garrick::protocol<void(watch), std::string(garrick::atom<"news">)>;

// [monitor]
class watching_actor : public garrick::actor<watcher> {
 public:
  garrick::result<std::string> on(garrick::atom<"news">) {
    waiting_ = make_promise<std::string>();
    tell();
    return waiting_;
  }
  void on(watch w) {
    monitor(w.who, [this](const garrick::down& d) {
      news_ = "the worker has ended: " + d.reason.to_string();
      tell();
    });
  }

 private:
  void tell() {
    if (!news_.empty() && waiting_.pending()) waiting_.deliver(std::move(news_));
  }
  std::string news_;
  garrick::response_promise<std::string> waiting_;
};
// [/monitor]

// [trap]
class guardian : public garrick::actor<watcher> {
 public:
  void on_start() { trap_exit(true); }  // exit signals are messages now
  void on(watch w) { link(w.who); }
  void on(const garrick::exit_signal& s) {
    news_ = "my partner is gone (" + s.reason.to_string() + "), I stay";
    if (waiting_.pending()) waiting_.deliver(news_);
  }
  garrick::result<std::string> on(garrick::atom<"news">) {
    if (!news_.empty()) return news_;
    waiting_ = make_promise<std::string>();
    return waiting_;
  }

 private:
  std::string news_;
  garrick::response_promise<std::string> waiting_;
};
// [/trap]

template <class Watcher>
void let_one_fail(garrick::actor_system& system) {
  const auto w = system.spawn<fragile>();
  const auto observer = system.spawn<Watcher>();
  send(observer, watch{w});
  std::printf("21 doubled: %d\n", system.request(w, work{21}).get().value());
  const auto failed = system.request(w, work{-1}).get();
  std::printf("the requester hears: %s\n", failed.error().message().c_str());
  std::printf("%s\n", system.request(observer, garrick::atom<"news">{}).get().value().c_str());
}

int main() {
  garrick::settings quiet;
  quiet.log.level = garrick::system::log_level::off;
  garrick::actor_system system(quiet);
  let_one_fail<watching_actor>(system);
  let_one_fail<guardian>(system);
}
