// The mailbox on one thread: its counts, and the moments when it searches the taken envelopes for
// answers.
#include <garrick/core/mailbox/mailbox.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

namespace mailbox_test {

using namespace garrick::core;

namespace {

struct alignas(64) node {
  node* next = nullptr;
  bool answer = false;

  static bool is_urgent(const node*) { return false; }
  static bool is_answer(const node* n) { return n->answer; }
  static void retire(node*) {}
};

/// Atomics of a machine with one processor, on which the other thread runs only while this one
/// sleeps.
struct one_processor : garrick::base::real_atomics {
  static inline mailbox_gate<node, one_processor>* dropped = nullptr;
  static inline int pauses = 0;
  static void pause() noexcept {
    if (++pauses > 1'000'000) std::abort();  // the wait would never end
  }
  static bool wait_for(atomic<std::uint32_t>&, std::uint32_t, std::uint64_t) noexcept {
    CHECK(dropped->drop() == drop_outcome::running);
    return false;
  }
};

/// Atomics of a machine on which a thread is interrupted once before it counts a flip: then
/// `interrupt` runs.
struct late_flips : garrick::base::real_atomics {
  static inline std::function<void()> interrupt;

  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    T fetch_add(T n, std::memory_order order) noexcept {
      if (const auto now = std::exchange(interrupt, nullptr)) now();
      return std::atomic<T>::fetch_add(n, order);
    }
  };
};

using gate = mailbox_gate<node>;
using reader = mailbox_reader<node>;

/// A mailbox with a runner, and the number of envelopes that it searched for answers.
struct fixture {
  gate mail{false};
  reader runner;
  std::vector<node> nodes;
  std::size_t used = 0;
  int looks = 0;

  explicit fixture(std::size_t n = 8) : nodes(n) {}
  node* push(bool answer = false) {
    node& n = nodes[used++];
    n.answer = answer;
    CHECK(mail.push(&n) == push_outcome::queued);
    return &n;
  }
  node* take_answer() {
    return runner
        .take_out([this](const node* n) {
          ++looks;
          return n->answer;
        })
        .first;
  }
  void handle_next() { runner.done(runner.next(mail)); }
};

}  // namespace

TEST_CASE("mailbox: a runner that waits for a dropper lets it have the processor") {
  mailbox_gate<node, one_processor> mail(false);
  one_processor::dropped = &mail;
  mail.undrop();
  CHECK((mail.peek() & mailbox_word::unreachable) == 0);
}

TEST_CASE("mailbox: its length is counted beyond the limit of the word") {
  constexpr std::uint32_t n = 70'000;
  fixture f(n);
  for (std::uint32_t i = 0; i < n; ++i) static_cast<void>(f.mail.push(&f.nodes[i]));
  CHECK(f.mail.length() == n);
  for (std::uint32_t i = 0; i < n - 10; ++i) f.handle_next();
  f.runner.publish(f.mail);
  CHECK(f.mail.length() == 10);
}

TEST_CASE("mailbox: an answer is found among the arrivals") {
  fixture f;
  f.push();
  node* const answer = f.push(true);
  f.push();
  CHECK(f.runner.take_arrivals(f.mail));
  CHECK(f.take_answer() == answer);
}

TEST_CASE("mailbox: the length is right where two threads have not counted their flips yet") {
  constexpr std::uint32_t half = 1u << 15;
  mailbox_gate<node, late_flips> mail(false, half - 1);
  std::vector<node> nodes(half + 1);
  std::uint32_t used = 0;
  std::vector<std::uint32_t> lengths;
  const auto push = [&] { CHECK(mail.push(&nodes[used++]) == push_outcome::queued); };
  late_flips::interrupt = [&] {
    lengths.push_back(mail.length());
    late_flips::interrupt = [&] { lengths.push_back(mail.length()); };
    while (used < nodes.size()) push();
  };
  push();
  lengths.push_back(mail.length());
  CHECK(lengths == std::vector<std::uint32_t>{1, half + 1, half + 1});
}

TEST_CASE("mailbox: an answer that was put back is found") {
  fixture f;
  node* const answer = f.push(true);
  REQUIRE(f.runner.next(f.mail) == answer);  // it never was in the local queue
  f.runner.put_back(answer);
  CHECK(f.take_answer() == answer);
}

TEST_CASE("mailbox: no look for answers is made where none can be") {
  fixture f;
  SUBCASE("none has come since the last look") {
    f.push(true);
    f.push();
    CHECK(f.runner.take_arrivals(f.mail));
    CHECK(f.take_answer() != nullptr);
  }
  SUBCASE("the one that came was handled, with all that came along with it") {
    f.push();
    f.push(true);
    for (int i = 0; i < 2; ++i) f.handle_next();
    for (int i = 0; i < 2; ++i) f.push();
    CHECK(f.runner.take_arrivals(f.mail));
  }
  SUBCASE("it was sorted when it came") {
    f.runner.hold(true);
    f.push(true);
    f.push();
    reader::chain passed;
    CHECK(f.runner.sort_arrivals(f.mail, passed, [](const node*) { return false; }));
    CHECK(passed.first == nullptr);
    f.runner.hold(false);
  }
  f.looks = 0;
  CHECK(f.take_answer() == nullptr);
  CHECK(f.looks == 0);
}

}  // namespace mailbox_test
