// The bytes of large messages that a peer may send again, by what may still be in the mailbox.
#include <doctest/doctest.h>
#include <garrick/net/node/internal/large_mail.hpp>

#include <cstddef>
#include <cstdint>

namespace large_mail_test {

using garrick::net::first_bytes;
using garrick::net::internal::large_mail;

constexpr std::size_t mib = 1u << 20;

/// A mailbox, and a peer that sends to it.
struct fixture {
  large_mail of;
  std::size_t length = 0;
  std::int64_t left = first_bytes;  // that the peer may send

  void send(std::size_t bytes, std::size_t memory = 0) {
    of.took(bytes);
    left -= static_cast<std::int64_t>(bytes);
    of.delivers();
    of.holds(bytes, memory);
    ++length;
  }
  void send_small(std::size_t number) {
    for (std::size_t i = 0; i < number; ++i) of.delivers();
    length += number;
  }
  void grant() {
    of.is_owed = false;
    if (of.is_due()) left += static_cast<std::int64_t>(of.grant(length));
  }
};

TEST_CASE("large mail: a peer gets the bytes of messages that have left the mailbox, and no more") {
  fixture f;
  for (int i = 0; i < 16; ++i) {
    f.send(mib);
    f.grant();
  }
  CHECK(f.left == 0);
  CHECK(f.of.is_owed);
  CHECK_FALSE(f.of.is_due());
  f.length = 10;
  f.grant();
  CHECK(f.left == 6 * std::int64_t{mib});
  CHECK(f.of.in_mailbox(f.length) == 10 * mib);
  f.length = 0;
  f.grant();
  CHECK(f.left == first_bytes);
  CHECK(f.of.in_mailbox(0) == 0);
}

TEST_CASE("large mail: for an actor that keeps up grants are few, and in time") {
  fixture f;
  int grants = 0;
  for (int i = 0; i < 1600; ++i) {
    f.send(mib / 10);
    f.length = 0;
    const std::int64_t before = f.left;
    f.grant();
    grants += f.left != before;
    CHECK(f.left > first_bytes / 2);
  }
  CHECK(grants >= 70);
  CHECK(grants <= 80);
}

TEST_CASE("large mail: small messages behind large ones count as the mailbox does") {
  fixture f;
  for (int i = 0; i < 8; ++i) f.send(mib);
  f.send_small(1000);
  CHECK(f.of.in_mailbox(1000) == 0);
  CHECK(f.of.held() == 0);
  f.send(mib);
  f.send_small(5);
  CHECK(f.of.in_mailbox(6) == mib);
  // An urgent message goes before others, and is not counted as one that has come behind.
  f.of.holds(2 * mib, 0);
  CHECK(f.of.in_mailbox(7) == 3 * mib);
  CHECK(f.of.in_mailbox(1) == 2 * mib);
}

TEST_CASE("large mail: for a type that takes more in memory a peer gets fewer bytes") {
  fixture f;
  for (int i = 0; i < 64; ++i) {  // each is read at once
    f.send(mib / 4, 8 * mib);
    f.length = 0;
    f.grant();
  }
  CHECK(f.left > 0);
  CHECK(f.left <= std::int64_t{mib});
  while (f.left > 0) {  // and now none is read
    f.send(mib / 4, 8 * mib);
    f.grant();
  }
  CHECK(f.of.held() <= first_bytes + 8 * mib);
  f.length = 0;
  f.grant();
  CHECK(f.left > 0);
  // When messages are small in memory again, so are the bytes.
  for (int i = 0; i < 4000 && f.left < first_bytes / 2; ++i) {
    f.send(mib / 4);
    f.length = 0;
    f.grant();
  }
  CHECK(f.left >= first_bytes / 2);
}

TEST_CASE("large mail: however much larger a type is, a message can come after the last was read") {
  fixture f;
  for (int i = 0; i < 2000; ++i) {
    if (f.left > 0) f.send(4096, 64 * mib);
    f.length = 0;
    f.grant();
  }
  CHECK(f.left > 0);
}

TEST_CASE("large mail: a message larger than the credit is given back when it was read") {
  fixture f;
  f.send(48 * mib);
  f.grant();
  CHECK(f.left <= 0);
  CHECK(f.of.is_owed);
  f.length = 0;
  f.grant();
  CHECK(f.left == first_bytes);
  CHECK_FALSE(f.of.is_owed);
}

TEST_CASE("large mail: more than twice the credit is too much") {
  fixture f;
  for (int i = 0; i < 32; ++i) {
    f.send(mib);
    f.grant();
    CHECK_FALSE(f.of.exceeds());
  }
  f.send(mib);
  CHECK(f.of.exceeds());
  f.of.begins_again();
  CHECK_FALSE(f.of.exceeds());
}

TEST_CASE("large mail: an actor that no worker can run is granted a little, up to twice as much") {
  fixture f;
  std::uint64_t more = 0;
  for (int i = 0; i < 16; ++i) f.send(mib);
  for (int i = 0; i < 100; ++i)
    if (const std::uint64_t n = f.of.grant_to_stuck(f.length); n != 0) {
      more += n;
      f.send(n);
    }
  CHECK(more == 16 * mib);
  CHECK(f.of.in_mailbox(f.length) == 32 * mib);
}

TEST_CASE("large mail: messages that were passed on are given back while there is credit") {
  fixture f;
  for (int i = 0; i < 8; ++i) f.send(mib);
  CHECK(f.of.grant_passed_on(false) == 0);
  CHECK(f.of.is_owed);
  CHECK(f.of.grant_passed_on(true) == 8 * mib);
}

}  // namespace large_mail_test
