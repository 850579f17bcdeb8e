// The swept list: no call looks at more than a few entries, and inactive entries soon leave.
#include "garrick/base/memory/swept_list.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace swept_list_test {

using garrick::base::swept_entry;
using garrick::base::swept_list;

namespace {

struct fixture;

/// An entry that reports each look at it to the fixture.
struct entry : swept_entry<entry> {
  explicit entry(fixture& f) : told(&f) {}
  [[nodiscard]] bool active() const noexcept;
  bool over = false;
  bool dropped = false;
  fixture* told;
};

/// A list, its entries, and the most that one `add` has looked at and dropped.
struct fixture {
  swept_list<entry> list;
  std::vector<std::unique_ptr<entry>> all;
  unsigned looks = 0;
  const entry* last = nullptr;  ///< the entry of the last look
  unsigned most_looks = 0;
  unsigned most_dropped = 0;

  entry& add() {
    entry& x = *all.emplace_back(std::make_unique<entry>(*this));
    const unsigned looks_before = looks;
    unsigned dropped = 0;
    list.add(x, [&](entry& gone) {
      ++dropped;
      CHECK(gone.over);
      CHECK_FALSE(gone.listed());
      gone.dropped = true;
    });
    most_looks = std::max(most_looks, looks - looks_before);
    most_dropped = std::max(most_dropped, dropped);
    return x;
  }
  /// Returns the entries from the first to the last. Fails unless their number is `size()`.
  [[nodiscard]] std::vector<entry*> listed() const {
    std::vector<entry*> found;
    for (entry* x = list.first(); x != nullptr; x = x->next_listed()) found.push_back(x);
    REQUIRE(found.size() == list.size());
    return found;
  }
};

bool entry::active() const noexcept {
  CHECK(listed());
  ++told->looks;
  told->last = this;
  return !over;
}

}  // namespace

TEST_CASE("entries are listed newest first, and each can be removed") {
  fixture f;
  entry& a = f.add();
  entry& b = f.add();
  entry& c = f.add();
  CHECK(f.listed() == std::vector<entry*>{&c, &b, &a});
  f.list.remove(b);
  CHECK_FALSE(b.listed());
  CHECK(f.listed() == std::vector<entry*>{&c, &a});
  f.list.remove(c);
  f.list.remove(a);
  CHECK(f.list.first() == nullptr);
  CHECK(f.list.size() == 0);
}

TEST_CASE("a short list is left alone") {
  fixture f;
  for (unsigned i = 0; i < swept_list<entry>::swept_from; ++i) f.add().over = true;
  CHECK(f.looks == 0);
  CHECK(f.list.size() == swept_list<entry>::swept_from);
}

TEST_CASE("one call looks at three entries at most, whether all are active or all are over") {
  for (const bool over : {false, true}) {
    fixture f;
    for (unsigned i = 0; i < 10'000; ++i) f.add();
    for (const auto& x : f.all) x->over = over;
    for (unsigned i = 0; i < 10'000; ++i) f.add();
    CHECK(f.most_looks == 3);
    CHECK(f.most_dropped == (over ? 3 : 0));
    CHECK(f.list.size() == (over ? 10'000 : 20'000));
    for (std::size_t i = 0; i < 10'000; ++i) CHECK(f.all[i]->dropped == over);
  }
}

TEST_CASE("a pass goes on behind an entry that is removed where it stopped") {
  fixture f;
  for (unsigned i = 0; i < 200; ++i) f.add();
  unsigned removed = 0;
  for (unsigned i = 0; i < 100; ++i) {
    f.add();
    entry* const next = f.last->next_listed();
    if (next == nullptr) continue;
    next->over = true;
    f.list.remove(*next);
    f.last = nullptr;
    f.add();
    CHECK(f.last != nullptr);
    CHECK_FALSE(next->dropped);
    ++removed;
  }
  CHECK(removed > 90);
  CHECK(f.listed().size() == f.all.size() - removed);
  for (entry* x : f.listed()) f.list.remove(*x);
  entry& again = f.add();
  CHECK(f.listed() == std::vector<entry*>{&again});
}

TEST_CASE("the list has at most twice as many entries as were active at once, and sixteen more") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::minstd_rand random(seed);
    fixture f;
    std::vector<entry*> active;
    std::size_t most_active = 0;
    const std::size_t target = std::size_t{1} << (seed % 11);
    for (unsigned step = 0; step < 20'000; ++step) {
      while (active.size() >= target + random() % 3) {
        // the oldest, the newest or any ends first; some are removed at once
        const std::size_t i = seed % 3 == 0   ? 0
                              : seed % 3 == 1 ? active.size() - 1
                                              : random() % active.size();
        entry& x = *active[i];
        active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
        x.over = true;
        if (random() % 8 == 0) f.list.remove(x);
      }
      active.push_back(&f.add());
      most_active = std::max(most_active, active.size());
      REQUIRE(f.list.size() <= 2 * most_active + swept_list<entry>::swept_from);
    }
    CHECK(f.most_looks <= swept_list<entry>::most_looked_at);
    for (const entry* x : active) CHECK(x->listed());
  }
}

TEST_CASE("entries that are over all at once are gone when as many calls have passed by them") {
  fixture f;
  for (unsigned i = 0; i < 3000; ++i) f.add();
  for (const auto& x : f.all) x->over = true;
  for (unsigned i = 0; i < 2002; ++i) f.add();  // two passes: the first may have been under way
  for (std::size_t i = 0; i < 3000; ++i) CHECK(f.all[i]->dropped);
}

}  // namespace swept_list_test
