// The credit of the messages that a link has under way. The credit of each message is given back
// once. A release of handles waits until all messages before it are settled.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/link/internal/credit.hpp>

#include <cstdint>
#include <optional>

namespace credit_test {

using namespace garrick;
using namespace garrick::net;
using internal::credit;

constexpr std::uint32_t most = 64;
const base::message_type* const type = &base::message_type_of<int>;

struct fixture {
  actor_system actors;
  internal::answering_cell* const senders =
      new internal::answering_cell(actors.env(), connection(), {},
                                   {.most_under_way = most, .most_bytes_waiting = most * 200'000});
  credit of{*senders};
  const core::no_wait_scope nobody_waits;

  fixture() = default;
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;
  ~fixture() {
    of.end({});
    senders->drop_strong();
  }

  /// Takes credit for a message, and posts it.
  std::uint64_t post(std::uint32_t weight = 1) {
    REQUIRE(senders->take_credit());
    senders->weigh(weight);
    return of.begin(7, type, 8, weight);
  }
  [[nodiscard]] std::int64_t left() const { return senders->credit(); }
};

TEST_CASE("credit: each entry gives its credit back once, when it is settled") {
  fixture f;
  const std::uint64_t one = f.post();
  const std::uint64_t two = f.post(3);
  CHECK(f.left() == most - 4);
  CHECK(f.of.under_way() == 2);
  CHECK(f.of.settle(two, {}));
  CHECK(f.left() == most - 4);  // later, with the others of this read
  f.of.give_back();
  CHECK(f.left() == most - 1);
  CHECK_FALSE(f.of.settle(two, {}));  // a second time
  CHECK(f.of.settle(one, {}));
  CHECK_FALSE(f.of.settle(one, {}));
  CHECK_FALSE(f.of.settle(two + 1, {}));  // this number was never given
  CHECK_FALSE(f.of.settle(0, {}));
  f.of.give_back();
  f.of.give_back();
  CHECK(f.left() == most);
  CHECK(f.of.under_way() == 0);
  CHECK(f.of.settle(f.post(), {}));  // a new number
}

TEST_CASE("credit: large messages leave the account of large ones, too") {
  fixture f;
  const std::uint32_t large = f.senders->weight_of(large_message + 1) + 2;
  REQUIRE(f.senders->is_large(large));
  const std::uint64_t one = f.post(large);
  f.of.settle(one, {});
  f.of.give_back();
  CHECK(f.left() == most);
  while (f.left() > 0) REQUIRE(f.senders->take_credit());
  CHECK_FALSE(f.senders->pass_large_ones());  // no large message has credit
  f.senders->confirm(most, 0);
}

TEST_CASE("credit: a lost message is a dead letter, unless it has no sender to be told") {
  fixture f;
  const std::uint64_t before = f.actors.dead_letter_count();
  const std::uint64_t told = f.post();
  const std::uint64_t quiet = f.of.begin(7, nullptr, 8, 1);
  const std::uint64_t there = f.post();
  f.of.settle(told, net_errc::perhaps_delivered);
  f.of.settle(quiet, net_errc::perhaps_delivered);
  f.of.settle(there, {});
  CHECK(f.actors.dead_letter_count() == before + 1);
  const system::recent_letter told_of = f.actors.dead_letters().recent().front();
  CHECK(told_of.receiver == 7);
  CHECK(told_of.sender == 8);
  CHECK(told_of.type == type);
}

TEST_CASE("credit: a release waits for all that was sent before it, in the order of releases") {
  fixture f;
  f.of.release({1, 1}, 5);
  std::optional<credit::release_order> next = f.of.next_release();
  REQUIRE(next);  // nothing is under way
  CHECK(next->number == 5);
  CHECK_FALSE(f.of.next_release());
  const std::uint64_t one = f.post();
  const std::uint64_t frame = f.of.begin_frame();
  f.of.release({1, 2}, 6);
  const std::uint64_t behind = f.post();
  f.of.release({1, 3}, 7);
  f.of.settle(frame, {});
  CHECK_FALSE(f.of.next_release());
  f.of.settle(one, {});
  next = f.of.next_release();
  REQUIRE(next);
  CHECK(next->number == 6);
  CHECK_FALSE(f.of.next_release());
  f.of.settle(behind, {});
  next = f.of.next_release();
  REQUIRE(next);
  CHECK(next->who == actor_id{1, 3});
  f.of.give_back();
  CHECK(f.left() == most);  // a frame takes no credit
}

TEST_CASE("credit: at the end all credit is back, losses are told, and no release leaves") {
  fixture f;
  const std::uint64_t before = f.actors.dead_letter_count();
  f.post(2);
  f.of.settle(f.post(), {});
  f.post();
  f.of.release({1, 1}, 5);
  f.of.end(net_errc::perhaps_delivered);
  CHECK(f.left() == most);
  CHECK(f.of.under_way() == 0);
  CHECK(f.actors.dead_letter_count() == before + 2);
  CHECK_FALSE(f.of.next_release());
}

}  // namespace credit_test
