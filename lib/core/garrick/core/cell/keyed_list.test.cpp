// The keyed list: entries keep their order, and the index comes and goes with the length.
#include <garrick/core/cell/keyed_list.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace keyed_list_test {

using namespace garrick::core;

namespace {

struct entry {
  std::uint64_t n;
  [[nodiscard]] keyed_list_key key() const noexcept { return {n % 3, n}; }
};
keyed_list_key key_of(std::uint64_t n) { return entry{n}.key(); }

std::vector<std::uint64_t> all_of(const keyed_list<entry>& list) {
  std::vector<std::uint64_t> all;
  list.for_each([&](const entry& e) { all.push_back(e.n); });
  return all;
}

}  // namespace

TEST_CASE("entries keep their order when any are taken, with and without an index") {
  for (const std::uint64_t n : {5u, 200u}) {
    keyed_list<entry> list;
    for (std::uint64_t i = 0; i < n; ++i) list.add({i});
    CHECK(list.has_index() == (n > keyed_list<entry>::searched));
    std::vector<std::uint64_t> expected;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (i % 3 == 1)
        expected.push_back(i);
      else
        CHECK(list.take(key_of(i))->n == i);
      CHECK(list.contains(key_of(i)) == (i % 3 == 1));
    }
    CHECK(all_of(list) == expected);
    CHECK(list.size() == expected.size());
    CHECK_FALSE(list.take(key_of(0)).has_value());
    list.add({0});
    expected.push_back(0);
    CHECK(all_of(list) == expected);
    list.clear();
    CHECK(list.size() == 0);
  }
}

TEST_CASE("a list that has become short has no index") {
  keyed_list<entry> list;
  for (std::uint64_t i = 0; i < 100; ++i) list.add({i});
  CHECK(list.has_index());
  for (std::uint64_t i = 0; i < 90; ++i) CHECK(list.take(key_of(i)).has_value());
  CHECK_FALSE(list.has_index());
  CHECK(list.contains(key_of(95)));
}

}  // namespace keyed_list_test
