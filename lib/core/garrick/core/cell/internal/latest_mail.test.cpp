// The newest messages of an actor, without the actor: what is put back or set aside while others
// come has no place beyond the bound.
#include <garrick/core/cell/internal/latest_mail.hpp>

#include <doctest/doctest.h>

#include <utility>

namespace latest_mail_test {

using namespace garrick::core;

namespace {

struct number {
  int n;
};

/// A mailbox with a bound, and its runner.
struct held_mail {
  mailbox_gate<envelope> gate{true};
  mailbox_reader<envelope> reader;
  latest_mail mail;
  envelope* token = nullptr;

  explicit held_mail(std::uint32_t bound) : mail(bound) {}
  ~held_mail() {
    while (mail.take_aside() != nullptr) {}
    while (token != nullptr && mail.take(token) != nullptr) {}
    if ((gate.peek() & mailbox_word::closed) == 0) static_cast<void>(reader.close(gate));
    if (token != nullptr) reader.done(token);
  }
  held_mail(const held_mail&) = delete;
  held_mail& operator=(const held_mail&) = delete;

  envelope* add(envelope_ptr& e) {
    const latest_mail::addition added = mail.add(gate, e.get());
    CHECK((added.what == latest_mail::outcome::kept || added.what == latest_mail::outcome::woke));
    return added.dropped;
  }
  envelope* take() {
    if (token == nullptr) token = reader.next(gate);
    return mail.take(token);
  }
};

/// Messages that the test owns whatever becomes of them.
envelope_ptr message(int n) { return envelope_ptr(detail::make_envelope<number>(n)); }

}  // namespace

TEST_CASE("what is put back when the mailbox is full again is dropped: it is the oldest") {
  envelope_ptr a = message(1), b = message(2), c = message(3);
  held_mail m(2);
  CHECK(m.add(a) == nullptr);
  CHECK(m.add(b) == nullptr);
  CHECK(m.take() == a.get());
  CHECK(m.add(c) == nullptr);
  CHECK(m.mail.put_back(a.get()) == a.get());
  CHECK(m.mail.length() == 2);
  CHECK(m.take() == b.get());
  CHECK(m.take() == c.get());
}

TEST_CASE("what is put back goes first, and its place is its own") {
  envelope_ptr a = message(1), b = message(2);
  held_mail m(2);
  CHECK(m.add(a) == nullptr);
  CHECK(m.take() == a.get());
  CHECK(m.mail.put_back(a.get()) == nullptr);
  CHECK(m.add(b) == nullptr);
  CHECK(m.take() == a.get());
  CHECK(m.take() == b.get());
  CHECK(m.take() == nullptr);
}

TEST_CASE("what is set aside when the mailbox is full again is dropped: it is the oldest") {
  envelope_ptr a = message(1), b = message(2);
  held_mail m(1);
  CHECK(m.add(a) == nullptr);
  CHECK(m.take() == a.get());
  CHECK(m.add(b) == nullptr);
  CHECK(m.mail.set_aside(a.get()) == a.get());
  CHECK(m.mail.aside() == 0);
  CHECK(m.mail.length() == 1);
  CHECK(m.take() == b.get());
}

TEST_CASE("an urgent message that was set aside is put back among the others") {
  envelope_ptr a = message(1);
  a->set(envelope_flag::urgent);
  held_mail m(2);
  CHECK(m.add(a) == nullptr);
  CHECK(m.reader.next(m.gate) == nullptr);
  m.token = m.reader.next_urgent();
  CHECK(m.take() == a.get());
  CHECK(m.take() == nullptr);
  m.reader.done(std::exchange(m.token, nullptr));
  CHECK(m.mail.set_aside(a.get()) == nullptr);
  m.mail.retry(m.reader);
  CHECK(m.take() == a.get());
  CHECK(m.mail.put_back(a.get()) == nullptr);
  CHECK(m.take() == a.get());
  CHECK(m.take() == nullptr);
}

TEST_CASE("an actor that has ended takes no message, also where one waits that it could join") {
  envelope_ptr a = message(1), b = message(2);
  held_mail m(2);
  CHECK(m.add(a) == nullptr);
  m.token = m.reader.next(m.gate);
  static_cast<void>(m.reader.close(m.gate));
  CHECK(m.mail.add(m.gate, b.get()).what == latest_mail::outcome::closed);
  CHECK(m.mail.length() == 1);
}

}  // namespace latest_mail_test
