#include "garrick/net/broker/internal/receiver.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "garrick/base/values/random.hpp"

namespace receiver_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::internal;

namespace {

class counting_pool final : public read_pool {
 public:
  using read_pool::read_pool;
  int woken = 0;

 private:
  void wake() noexcept override { ++woken; }
};

std::string letters(std::size_t n) {
  std::string s(n, ' ');
  for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<char>('a' + i % 26);
  return s;
}

/// Feeds `text` in pieces of `sizes(i)` bytes, and returns the messages.
template <class Sizes>
std::vector<std::string> cut(receiver& r, const std::string& text, Sizes sizes) {
  std::vector<std::string> all;
  std::size_t at = 0;
  for (std::size_t i = 0; at < text.size(); ++i) {
    const auto room = r.room();
    REQUIRE(room);
    const std::size_t n =
        std::min(std::min(room->size(), static_cast<std::size_t>(sizes(i))), text.size() - at);
    std::memcpy(room->data(), text.data() + at, n);
    r.filled(n);
    at += n;
    while (auto m = r.next()) all.emplace_back(m->text());
  }
  return all;
}

std::string joined(const std::vector<std::string>& all) {
  std::string s;
  for (const std::string& m : all) s += m;
  return s;
}

}  // namespace

TEST_CASE("receiver: each split of a stream gives messages of the size that the policy says") {
  const std::string text = letters(40);
  for (std::size_t n = 1; n <= 16; ++n)
    for (std::size_t first = 1; first < text.size(); ++first)
      for (const bool least : {false, true}) {
        CAPTURE(n);
        CAPTURE(first);
        receiver r(std::make_shared<read_pool>(16, 2, 100));
        r.set(least ? receive_policy::at_least(n) : receive_policy::exactly(n));
        const auto all = cut(r, text, [&](std::size_t i) { return i == 0 ? first : 100; });
        CHECK(joined(all) + std::string(text.substr(text.size() - r.unread())) == text);
        CHECK(r.unread() < n);
        for (const std::string& m : all) CHECK((least ? m.size() >= n : m.size() == n));
      }
}

TEST_CASE("receiver: at most n bytes come at once, without waiting for more") {
  receiver r(std::make_shared<read_pool>(64, 2, 100));
  r.set(receive_policy::at_most(3));
  const auto all = cut(r, letters(10), [](std::size_t) { return 5; });
  CHECK(all == std::vector<std::string>{"abc", "de", "fgh", "ij"});
}

TEST_CASE("receiver: a policy can change after each message, and one for once waits for the next") {
  receiver r(std::make_shared<read_pool>(64, 2, 100));
  CHECK_FALSE(r.room());
  r.set(receive_policy::exactly(1).once());
  const std::string text = "2xx3yyy0";
  std::memcpy(r.room()->data(), text.data(), text.size());
  r.filled(text.size());
  std::vector<std::string> all;
  for (;;) {
    const auto header = r.next();
    REQUIRE(header);
    CHECK_FALSE(r.next());
    CHECK_FALSE(r.room());
    const auto n = static_cast<std::size_t>(header->text()[0] - '0');
    if (n == 0) break;
    r.set(receive_policy::exactly(n).once());
    all.emplace_back(r.next()->text());
    r.set(receive_policy::exactly(1).once());
  }
  CHECK(all == std::vector<std::string>{"xx", "yyy"});
}

TEST_CASE("receiver: policies that blocks cannot keep are refused") {
  CHECK(receiver::wrong_with(receive_policy::exactly(65), 64) == base::errc::invalid_setting);
  CHECK(receiver::wrong_with(receive_policy::at_least(65), 64) == base::errc::invalid_setting);
  CHECK(receiver::wrong_with(receive_policy::at_most(0), 64) == base::errc::invalid_setting);
  CHECK_FALSE(receiver::wrong_with(receive_policy::exactly(64), 64));
  CHECK_FALSE(receiver::wrong_with(receive_policy::at_most(65), 64));
}

TEST_CASE("receiver: with all blocks held nothing is read, and a returned one says so") {
  const auto pool = std::make_shared<counting_pool>(8, 2, 100);
  receiver r(pool);
  r.set(receive_policy::exactly(8));
  std::vector<received> held;
  for (int i = 0; i < 2; ++i) {
    const auto room = r.room();
    REQUIRE(room);
    std::memset(room->data(), 'a' + i, 8);
    r.filled(8);
    held.push_back(*r.next());
  }
  CHECK_FALSE(r.room());
  CHECK(held[0].text() == "aaaaaaaa");
  CHECK(held[1].text() == "bbbbbbbb");
  CHECK(pool->woken == 0);
  held.erase(held.begin());
  CHECK(pool->woken == 1);
  CHECK(r.room());
  CHECK(held[0].text() == "bbbbbbbb");
}

TEST_CASE("receiver: so many messages are under way, and no more") {
  const auto pool = std::make_shared<counting_pool>(64, 2, 3);
  receiver r(pool);
  r.set(receive_policy::exactly(1));
  const auto room = r.room();
  std::memset(room->data(), 'x', 5);
  r.filled(5);
  std::vector<received> held;
  while (auto m = r.next()) held.push_back(*m);
  CHECK(held.size() == 3);
  CHECK_FALSE(r.room());
  held.clear();
  CHECK(pool->woken == 1);
  CHECK(r.next());
}

TEST_CASE(
    "receiver: bytes that are held never change, however much is read and dropped meanwhile") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    base::random_source draw(seed);
    const auto pool = std::make_shared<counting_pool>(32, 3, 8);
    receiver r(pool);
    const auto policy = [&] {
      const std::size_t n = 1 + draw.below(20);
      const auto k = draw.below(3);
      return k == 0   ? receive_policy::at_most(n)
             : k == 1 ? receive_policy::at_least(n)
                      : receive_policy::exactly(n);
    };
    r.set(policy());
    std::vector<std::pair<received, std::string>> held;
    std::string sent, got;
    for (int i = 0; i < 300; ++i) {
      if (const auto room = r.room()) {
        const std::size_t n = 1 + draw.below(static_cast<std::uint32_t>(room->size()));
        for (std::size_t k = 0; k < n; ++k) {
          sent.push_back(static_cast<char>('a' + draw.below(26)));
          (*room)[k] = static_cast<std::byte>(sent.back());
        }
        r.filled(n);
      } else if (!held.empty()) {
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(
                                      draw.below(static_cast<std::uint32_t>(held.size()))));
      }
      while (auto m = r.next()) {
        got += m->text();
        held.emplace_back(*m, std::string(m->text()));
        if (draw.below(4) == 0) r.set(policy());
      }
      for (const auto& [now, then] : held) REQUIRE(now.text() == then);
    }
    CHECK(got == sent.substr(0, got.size()));
    CHECK(got.size() + r.unread() == sent.size());
  }
}

}  // namespace receiver_test
