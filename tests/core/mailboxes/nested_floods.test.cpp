// Floods within floods: an actor that runs in place floods another one. Memory stays flat at any
// depth, and uninvolved actors have their turn.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/seen_numbers.hpp"

namespace nested_floods_test {

namespace {

using namespace garrick;
using tests::numbers;
using tests::seen;

constexpr std::uint32_t limit = 16;

class sink : public actor<numbers> {
 public:
  explicit sink(seen* into) : into_(into) {}
  void on(std::uint64_t i) { into_->note(i, mailbox_length()); }

 private:
  seen* into_;
};

/// At its first message it sends `each` of them to each of its receivers, in turns.
class burst : public actor<numbers> {
 public:
  burst(std::vector<ref<numbers>> to, std::uint64_t each, seen* into)
      : to_(std::move(to)), each_(each), into_(into) {}
  void on(std::uint64_t i) {
    into_->note(i, mailbox_length());
    if (i != 0) return;
    for (std::uint64_t k = 0; k < each_; ++k)
      for (const auto& r : to_) send(r, k);
  }

 private:
  std::vector<ref<numbers>> to_;
  std::uint64_t each_;
  seen* into_;
};

struct flood {
  std::uint64_t messages;
};

/// Sends that many messages to its receivers, in turns.
class source : public actor<protocol<void(flood)>> {
 public:
  explicit source(std::vector<ref<numbers>> to) : to_(std::move(to)) {}
  void on(flood f) {
    for (std::uint64_t i = 0; i < f.messages; ++i)
      for (const auto& r : to_) send(r, i);
  }

 private:
  std::vector<ref<numbers>> to_;
};

settings one_worker() {
  settings o;
  o.scheduler.workers = 1;
  o.mailbox.soft_limit = limit;
  o.mailbox.full_wait = {};  // a wait gives up at once: only running in place keeps mailboxes short
  o.shutdown.deadline = duration::seconds(60);  // 30 000 actors under a sanitizer, beside others
  return o;
}

}  // namespace

TEST_CASE(
    "nested floods: a receiver flooded by an actor that runs in place keeps a short mailbox") {
  constexpr std::uint64_t n = 50'000;
  seen middle, last;
  {
    actor_system system(one_worker());
    const ref<numbers> c = system.spawn<sink>(lent(&last));
    const ref<numbers> b = system.spawn<burst>(std::vector{c}, n, lent(&middle));
    send(system.spawn<source>(std::vector{b}), flood{1'000});
  }
  CHECK(middle.count == 1'000);
  CHECK(last.count == n);
  CHECK(middle.in_order);
  CHECK(last.in_order);
  CHECK(middle.longest <= 2 * limit);
  CHECK(last.longest <= 2 * limit);
}

TEST_CASE("nested floods: of many receivers in turns each keeps a short mailbox, at any depth") {
  constexpr std::uint64_t n = 2'000;
  seen middle[3], last[40];
  {
    actor_system system(one_worker());
    std::vector<ref<numbers>> sinks;
    for (seen& s : last) sinks.push_back(system.spawn<sink>(lent(&s)));
    std::vector<ref<numbers>> middles;
    for (int i = 0; i < 3; ++i)
      middles.push_back(system.spawn<burst>(
          std::vector(sinks.begin() + 13 * i, sinks.begin() + 13 * i + 13), n, lent(&middle[i])));
    middles.push_back(sinks.back());
    send(system.spawn<source>(middles), flood{n});
  }
  for (const seen& s : middle) CHECK(s.count == n);
  for (const seen& s : last) {
    CHECK(s.count == n);
    CHECK(s.in_order);
    CHECK(s.longest <= 2 * limit);
  }
}

TEST_CASE(
    "nested floods: each stage of a chain floods the next one, also beyond the depth of a stack") {
  for (const std::size_t stages : {10U, 30'000U}) {
    constexpr std::uint64_t n = 3 * limit;
    std::vector<seen> all(stages);
    {
      actor_system system(one_worker());
      ref<numbers> next = system.spawn<sink>(lent(&all[0]));
      for (std::size_t i = 1; i < stages; ++i)
        next = system.spawn<burst>(std::vector{next}, n, lent(&all[i]));
      send(system.spawn<source>(std::vector{std::exchange(next, {})}), flood{n});
    }
    for (const seen& s : all) {
      REQUIRE(s.count == n);
      REQUIRE(s.in_order);
      REQUIRE(s.longest <= 2 * limit + (stages > 10 ? limit : 0));
    }
  }
}

namespace {

struct tick {};

/// For each message it gets it sends `each` to its receiver, and counts them all.
class multiplier : public actor<numbers> {
 public:
  multiplier(ref<numbers> to, std::uint64_t each) : to_(std::move(to)), each_(each) {}
  void on(std::uint64_t) {
    for (std::uint64_t k = 0; k < each_; ++k) send(to_, k);
  }

 private:
  ref<numbers> to_;
  std::uint64_t each_;
};

class counting : public actor<numbers> {
 public:
  explicit counting(std::uint64_t* handled) : handled_(handled) {}
  void on(std::uint64_t) { ++*handled_; }

 private:
  std::uint64_t* handled_;
};

/// Sends to itself, and notes how much the others have handled between two of its turns.
class innocent : public actor<protocol<void(tick)>> {
 public:
  innocent(const std::uint64_t* others, std::uint64_t enough, std::uint64_t* longest)
      : others_(others), enough_(enough), longest_(longest) {}
  void on(tick) {
    if (*others_ != 0) *longest_ = std::max(*longest_, *others_ - before_);
    before_ = *others_;
    if (*others_ < enough_) send(self(), tick{});
  }

 private:
  const std::uint64_t* others_;
  std::uint64_t enough_;
  std::uint64_t* longest_;
  std::uint64_t before_ = 0;
};

/// The most messages for which the innocent actor waits for its turn.
std::uint64_t longest_wait(std::uint64_t each, std::uint64_t messages) {
  settings o;
  o.scheduler.workers = 1;
  std::uint64_t handled = 0, longest = 0;
  {
    actor_system system(o);
    const auto to = system.spawn<counting>(lent(&handled));
    const auto multiplies = system.spawn<multiplier>(to, each);
    send(system.spawn<innocent>(lent(&handled), each * messages, lent(&longest)), tick{});
    send(system.spawn<source>(std::vector<ref<numbers>>{multiplies}), flood{messages});
  }
  CHECK(handled == each * messages);
  return longest;
}

}  // namespace

TEST_CASE("a run in place is charged to the round: others wait for one handler, not for all") {
  // W3 of work_stealing.hpp: three runnables, eight rounds. In half of them the multiplier handles
  // a message. Its sends run the receiver in place, with the mail that had been waiting for it.
  constexpr std::uint64_t quantum = sched::default_quantum, batch = 1024;
  for (const std::uint64_t each : {600U, 5'000U}) {
    const std::uint64_t most = longest_wait(each, 500);
    MESSAGE(each, " for each: ", most);
    CHECK(most <= 3 * quantum + 4 * (each + batch));
  }
}

namespace {

/// Sends each message that it gets to all its receivers, and notes how much they handle meanwhile.
class repeater : public actor<numbers> {
 public:
  repeater(std::vector<ref<numbers>> to, const std::uint64_t* handled, std::uint64_t* longest)
      : to_(std::move(to)), handled_(handled), longest_(longest) {}
  void on(std::uint64_t i) {
    const std::uint64_t before = *handled_;
    for (const auto& r : to_) send(r, i);
    *longest_ = std::max(*longest_, *handled_ - before);
  }

 private:
  std::vector<ref<numbers>> to_;
  const std::uint64_t* handled_;
  std::uint64_t* longest_;
};

}  // namespace

TEST_CASE("one handler with many full receivers runs few of them in place: the rest has turns") {
  constexpr std::uint64_t receivers = 600, messages = 1'000, batch = 1024;
  settings o;
  o.scheduler.workers = 1;
  std::uint64_t handled = 0, longest = 0;
  {
    actor_system system(o);
    std::vector<ref<numbers>> to;
    for (std::uint64_t i = 0; i < receivers; ++i)
      to.push_back(system.spawn<counting>(lent(&handled)));
    const auto r = system.spawn<repeater>(std::exchange(to, {}), lent(&handled), lent(&longest));
    for (std::uint64_t i = 0; i < messages; ++i) send(r, i);
  }
  CHECK(handled == receivers * messages);
  MESSAGE("in one handler: ", longest);
  CHECK(longest <= 2 * batch);
}

namespace {

struct census {
  std::uint64_t alive = 0;
  std::uint64_t most = 0;
};

class counted : public actor<numbers> {
 public:
  explicit counted(census* into) : into_(into) {
    into_->most = std::max(into_->most, ++into_->alive);
  }
  ~counted() { --into_->alive; }
  void on(std::uint64_t) {}

 private:
  census* into_;
};

/// For each message it spawns an actor to which no handle exists a moment later.
class wasteful : public actor<numbers> {
 public:
  explicit wasteful(census* into) : into_(into) {}
  void on(std::uint64_t) {
    static_cast<void>(spawn<counted>(spawn_options{.lazy = true}, lent(into_)));
  }

 private:
  census* into_;
};

}  // namespace

TEST_CASE("nested floods: actors that become unreachable in them do not outlive the message") {
  constexpr std::uint64_t n = 20'000;
  census all;
  {
    actor_system system(one_worker());
    const ref<numbers> to = system.spawn<wasteful>(lent(&all));
    send(system.spawn<source>(std::vector{to}), flood{n});
  }
  CHECK(all.alive == 0);
  CHECK(all.most == 1);
}

}  // namespace nested_floods_test
