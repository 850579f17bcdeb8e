// A thread that brings much mail at once wakes the sleeping actors when all of it is there.
#include <doctest/doctest.h>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/garrick.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <support/by_hand.hpp>

namespace waking_together_test {

namespace {

using namespace garrick;

struct note {
  int n = 0;
};
using reader_type = protocol<void(note)>;

/// Writes down its messages, and its end.
class reader : public actor<reader_type> {
 public:
  reader(std::string name, std::vector<std::string>& seen) : name_(std::move(name)), seen_(&seen) {}
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  ~reader() { seen_->push_back(name_ + " ends"); }
  void on(note n) { seen_->push_back(name_ + " " + std::to_string(n.n)); }

 private:
  std::string name_;
  std::vector<std::string>* seen_;
};

using words = std::vector<std::string>;

/// Readers that run when the test says so, and their notes.
struct readers {
  words seen;
  tests::by_hand loop;
  actor_system system;
  std::optional<ref<reader_type>> a, b;

  readers() : a(made("a")), b(made("b")) { loop.run(); }
  readers(const readers&) = delete;
  readers& operator=(const readers&) = delete;
  ~readers() {
    a.reset();
    b.reset();
    loop.run();
  }

 private:
  ref<reader_type> made(std::string name) {
    return system.spawn<reader>(spawn_options{.executor = &loop.executor}, std::move(name),
                                lent(seen));
  }
};

}  // namespace

TEST_CASE_FIXTURE(readers,
                  "an actor that is woken in such a scope is scheduled once, at the scope's end") {
  {
    const core::waking_together scope;
    send(*b, note{1});
    send(*a, note{2});
    send(*b, note{3});
    CHECK(loop.jobs.empty());
  }
  CHECK(loop.jobs.size() == 2);
  loop.run();
  CHECK(seen == words{"b 1", "b 3", "a 2"});  // in the order in which they were woken
  send(*a, note{4});
  CHECK(loop.jobs.size() == 1);
  loop.run();
  {
    const core::waking_together scope;
    send(*b, note{5});
  }
  CHECK(loop.jobs.size() == 1);  // a, which was behind it the last time, has no mail
  loop.run();
}

TEST_CASE_FIXTURE(readers,
                  "such a scope within another one schedules the actors that were woken in it") {
  {
    const core::waking_together outer;
    send(*a, note{1});
    {
      const core::waking_together inner;
      send(*a, note{2});
      send(*b, note{3});
    }
    CHECK(loop.jobs.size() == 1);
    send(*b, note{4});
    loop.run();
    CHECK(seen == words{"b 3", "b 4"});
    send(*b, note{5});
    CHECK(loop.jobs.empty());
  }
  loop.run();
  CHECK(seen == words{"b 3", "b 4", "a 1", "a 2", "b 5"});
}

TEST_CASE_FIXTURE(readers,
                  "an actor that loses its last handle in such a scope reads its mail and ends") {
  {
    const core::waking_together scope;
    send(*a, note{1});
    a.reset();
    CHECK(loop.jobs.empty());
  }
  loop.run();
  CHECK(seen == words{"a 1", "a ends"});
}

TEST_CASE_FIXTURE(
    readers, "an actor of which a queue has an old entry is scheduled at once in such a scope") {
  // As after a sender has run it in place: the queue has still to drop the entry, by its link.
  core::cell& claimed = *core::handle_access::get(*a);
  core::cell& behind = *core::handle_access::get(*b);
  REQUIRE(claimed.offer());
  REQUIRE(claimed.claim());
  claimed.queue_link = &behind;
  {
    const core::waking_together scope;
    send(*a, note{1});
    CHECK(loop.jobs.size() == 1);
    send(*b, note{2});
  }
  CHECK(claimed.queue_link == &behind);
  CHECK(!claimed.take());
  CHECK(loop.jobs.size() == 2);
  loop.run();
  CHECK(seen == words{"a 1", "b 2"});
}

TEST_CASE_FIXTURE(readers, "an actor with a bounded mailbox is scheduled at once in such a scope") {
  a = system.spawn<reader>(
      spawn_options{.policy = mailbox_policy::reject, .bound = 2, .executor = &loop.executor}, "c",
      lent(seen));
  loop.run();
  seen.clear();
  {
    const core::waking_together scope;
    for (int i = 0; i != 4; ++i) {
      send(*a, note{i});
      loop.run();
    }
  }
  CHECK(seen == words{"c 0", "c 1", "c 2", "c 3"});
}

TEST_CASE_FIXTURE(readers, "an actor that is scheduled at such a scope's end has all its mail") {
  std::vector<std::uint32_t> lengths;
  loop.at_post = [&] { lengths.push_back(core::handle_access::get(*a)->mailbox_length()); };
  {
    const core::waking_together scope;
    for (int i = 0; i != 3; ++i) send(*a, note{i});
  }
  loop.at_post = nullptr;
  CHECK(lengths == std::vector<std::uint32_t>{3});
}

}  // namespace waking_together_test
