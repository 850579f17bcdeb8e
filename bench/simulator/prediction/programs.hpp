// The programs whose time the simulator predicts, written in the usual way; small, so that the
// shortest of many runs is an undisturbed one.
#pragma once

#include <garrick/garrick.hpp>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "actors/mandelbrot/kernel.hpp"
#include "common/measure.hpp"

namespace bench::real {

namespace g = garrick;

struct go {};
struct number {
  std::uint64_t value;
};
using numbers = g::protocol<void(number)>;

/// From the first message until the last actor of the program has ended, on `workers` workers.
/// `start` spawns and sends.
template <class Start>
double timed(std::uint32_t workers, const Start& start) {
  g::settings o;
  o.scheduler.workers = workers;
  g::actor_system system(o);
  const std::int64_t begin = now_ns();
  start(system);
  static_cast<void>(system.await_all());
  return seconds_since(begin);
}

// ---- actor creation: bench/actors/spawn_tree ----------------------------------------------------

struct spread {
  std::uint32_t n;
};
class node : public g::actor<g::protocol<void(spread), void(number)>> {
 public:
  explicit node(g::ref<numbers> above) : above_(std::move(above)) {}
  void on(spread s) {
    if (s.n == 1) return send(above_, number{1});
    for (int i = 0; i < 2; ++i) send(spawn<node>(self()), spread{s.n - 1});
  }
  void on(number leaves) {
    sum_ += leaves.value;
    if (++answers_ == 2) send(above_, number{sum_});
  }

 private:
  g::ref<numbers> above_;
  std::uint64_t sum_ = 0;
  int answers_ = 0;
};

class keeper : public g::actor<numbers> {
 public:
  explicit keeper(std::uint64_t* into) : into_(into) {}
  void on(number n) { *into_ += n.value; }

 private:
  std::uint64_t* into_;
};

inline double creation(std::uint32_t workers, std::uint32_t n, std::uint64_t& leaves) {
  return timed(workers, [&](g::actor_system& system) {
    send(system.spawn<node>(system.spawn<keeper>(g::lent(&leaves))), spread{n});
  });
}

// ---- many to one: bench/actors/mailbox_n1 -------------------------------------------------------

class burst_sender : public g::actor<numbers> {
 public:
  explicit burst_sender(g::ref<numbers> whom) : whom_(std::move(whom)) {}
  void on(number n) {
    for (std::uint64_t i = 0; i < n.value; ++i) send(whom_, number{1});
  }

 private:
  g::ref<numbers> whom_;
};

inline double many_to_one(std::uint32_t workers, std::uint32_t senders, std::uint32_t messages,
                          std::uint64_t& received) {
  return timed(workers, [&](g::actor_system& system) {
    const auto whom = system.spawn<keeper>(g::lent(&received));
    for (std::uint32_t i = 0; i < senders; ++i)
      send(system.spawn<burst_sender>(whom), number{messages});
  });
}

// ---- every actor to every other: bench/savina/big -----------------------------------------------

struct ping {
  std::uint32_t from;
};
struct pong {};
struct everybody;
using talker_messages = g::protocol<void(everybody), void(go), void(ping), void(pong)>;
struct everybody {
  std::vector<g::ref<talker_messages>> list;
};

class talker : public g::actor<talker_messages> {
 public:
  talker(std::uint32_t id, std::uint32_t pings, std::uint64_t* answered)
      : id_(id), left_(pings), answered_(answered), random_(id) {}
  void on(const everybody& e) { others_ = e.list; }
  void on(go) { next(); }
  void on(ping p) { send(others_[p.from], pong{}); }
  void on(pong) {
    ++*answered_;
    next();
  }

 private:
  void next() {
    if (left_ == 0) return;
    --left_;
    send(others_[random_.below(static_cast<std::uint32_t>(others_.size()))], ping{id_});
  }

  std::uint32_t id_;
  std::uint32_t left_;
  std::uint64_t* answered_;
  g::base::random_source random_;
  std::vector<g::ref<talker_messages>> others_;
};

inline double all_to_all(std::uint32_t workers, std::uint32_t actors, std::uint32_t pings,
                         std::uint64_t& answered) {
  std::vector<std::uint64_t> each(actors * 8);
  g::settings o;
  o.scheduler.workers = workers;
  g::actor_system system(o);
  everybody all;
  for (std::uint32_t i = 0; i < actors; ++i)
    all.list.push_back(system.spawn<talker>(i, pings, g::lent(&each[i * 8])));
  for (const auto& one : all.list) send(one, all);
  const std::int64_t begin = now_ns();
  for (const auto& one : all.list) send(one, go{});
  const auto sum = [&] {
    std::uint64_t s = 0;
    for (std::uint32_t i = 0; i < actors; ++i)
      s += *const_cast<volatile std::uint64_t*>(&each[i * 8]);
    return s;
  };
  while (sum() != std::uint64_t{actors} * pings) g::base::platform::sleep_ns(20'000);
  const double took = seconds_since(begin);
  for (const auto& one : all.list) send(one, everybody{});
  answered = sum();
  return took;
}

// ---- Mandelbrot: bench/actors/mandelbrot --------------------------------------------------------

class row_actor : public g::actor<g::protocol<void(go)>> {
 public:
  row_actor(picture p, std::uint32_t y, g::ref<numbers> whole)
      : picture_(p), y_(y), whole_(std::move(whole)) {}
  void on(go) {
    const row_bits bits = mandelbrot_row(picture_, y_);
    std::uint64_t set = 0;
    for (const std::uint8_t byte : bits)
      set += static_cast<std::uint64_t>(__builtin_popcount(byte));
    send(whole_, number{set});
  }

 private:
  picture picture_;
  std::uint32_t y_;
  g::ref<numbers> whole_;
};

inline double mandelbrot(std::uint32_t workers, picture p, std::uint64_t& set) {
  return timed(workers, [&](g::actor_system& system) {
    const auto whole = system.spawn<keeper>(g::lent(&set));
    for (std::uint32_t y = 0; y < p.size; ++y) send(system.spawn<row_actor>(p, y, whole), go{});
  });
}

}  // namespace bench::real
