// The questions of a link to its peer: each ends once, and is found by its asker until then.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/link/internal/questions.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "net/node/link/asking_cell.hpp"

namespace questions_test {

using namespace garrick;
using namespace garrick::net;
using internal::questions;

using asked_type = protocol<int(int)>;
using numbers = std::vector<std::uint64_t>;

struct fixture {
  garrick::testkit::test_system system;
  int freed = 0;
  link_test::asking_cell* const asker = new link_test::asking_cell(system.env(), freed);
  questions of{system.env(), internal::peer_hash(1)};
  const signature_codec& signature = protocol_table_of<asked_type>().all()[0];

  fixture() = default;
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;
  ~fixture() {
    asker->drop_strong();
    CHECK(freed == 1);  // no other handle is left
    CHECK(system.env().outside_due() == 0);
  }

  void ask(std::uint64_t number, std::uint64_t id, base::instant until = base::instant::never()) {
    const core::envelope_ptr e = asker->request(id);
    of.ask(number, *e, signature, 3, until);
    CHECK_FALSE(e->is(core::envelope_flag::request));
  }
  [[nodiscard]] questions::asked_by as(std::uint64_t id) const { return {asker->id(), id}; }
};

TEST_CASE("questions: one is open until it is answered, and known by its asker's number") {
  fixture f;
  f.ask(1, 10);
  f.ask(2, 11);
  CHECK(f.of.size() == 2);
  CHECK_FALSE(f.of.is_open(f.of.find(3)));
  CHECK_FALSE(f.of.is_name(f.of.find(1)));
  REQUIRE(f.of.is_open(f.of.find(f.as(11))));
  CHECK(f.of.find(f.as(11)) == f.of.find(2));
  CHECK(f.of.find(2)->second.lane == 3);
  f.of.answer(f.of.take(f.of.find(2)), core::detail::make_envelope<int>(7));
  CHECK(f.asker->answers == numbers{11});
  CHECK_FALSE(f.of.is_open(f.of.find(2)));
  CHECK_FALSE(f.of.is_open(f.of.find(f.as(11))));
  f.of.answer(f.of.take(f.of.find(1)), base::error(net_errc::decode_failed));
  CHECK(f.asker->failures == numbers{10});
  CHECK(f.of.size() == 0);
}

TEST_CASE("questions: the answer to a request is due while it is open, and not to a name") {
  fixture f;
  f.ask(1, 10);
  f.ask(2, 11);
  CHECK(f.system.env().outside_due() == 2);
  f.of.answer(f.of.take(f.of.find(1)), core::detail::make_envelope<int>(7));
  CHECK(f.system.env().outside_due() == 1);
  f.of.withdraw(f.of.take(f.of.find(2)));
  CHECK(f.system.env().outside_due() == 0);
}

TEST_CASE("questions: one keeps its limit, and its asker's number is free when it has ended") {
  fixture f;
  const base::instant soon = base::instant::at(base::duration::seconds(1));
  f.ask(1, 10, soon);
  CHECK(f.of.find(1)->second.until == soon);
  f.of.withdraw(f.of.take(f.of.find(1)));
  f.ask(2, 10);
  CHECK(f.of.find(2)->second.until.is_never());
  REQUIRE(f.of.is_open(f.of.find(f.as(10))));  // Q2
  CHECK(f.of.find(f.as(10)) == f.of.find(2));
  f.of.withdraw(f.of.take(f.of.find(2)));
}

TEST_CASE("questions: one that is withdrawn gets no answer") {
  fixture f;
  f.ask(1, 10);
  f.of.withdraw(f.of.take(f.of.find(f.as(10))));
  CHECK(f.of.size() == 0);
  CHECK_FALSE(f.of.is_open(f.of.find(f.as(10))));
  f.of.end(net_errc::node_down);
  CHECK(f.asker->answers.empty());
  CHECK(f.asker->failures.empty());
}

TEST_CASE("questions: at the end all that are open fail, each once") {
  fixture f;
  for (std::uint64_t i = 1; i <= 5; ++i) f.ask(i, 10 + i);
  f.of.answer(f.of.take(f.of.find(3)), core::detail::make_envelope<int>(7));
  f.of.end(net_errc::perhaps_delivered);
  f.of.end(net_errc::perhaps_delivered);
  CHECK(f.asker->answers == numbers{13});
  CHECK(f.asker->failures.size() == 4);
  CHECK(f.of.size() == 0);
}

struct noted final : name_answer {
  explicit noted(int& failed) : failed_(failed) {}
  void found(core::cell*) override { FAIL_CHECK("nobody was found"); }
  void failed(const base::error&) override { ++failed_; }
  int& failed_;
};

TEST_CASE("questions: one for a name is told when it fails, and is counted as all are") {
  fixture f;
  int failed = 0;
  for (std::uint64_t i = 1; i <= 2; ++i) {
    std::unique_ptr<name_answer> done = std::make_unique<noted>(failed);
    f.of.ask_name(i, done, protocol_table_of<asked_type>());
    CHECK(done == nullptr);
  }
  CHECK(f.of.size() == 2);
  REQUIRE(f.of.is_name(f.of.find(1)));
  f.of.answer(f.of.take(f.of.find(1)), base::error(net_errc::denied));
  CHECK(failed == 1);
  f.of.end(net_errc::node_down);
  CHECK(failed == 2);
}

}  // namespace questions_test
