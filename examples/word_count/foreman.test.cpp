// The foreman names the files that changed, even if the actor that walks the folders fails.
#include "foreman.hpp"

#include "ledger.hpp"
#include "ranker.hpp"

#include <doctest/doctest.h>
#include <garrick/testkit/test_system.hpp>

namespace foreman_test {

using namespace word_count;

namespace {

/// A walker with a plan without work, and with one changed file. Fails at the first request for
/// changes.
class forgetful_walker : public garrick::actor<walker_protocol> {
 public:
  explicit forgetful_walker(bool* has_fallen) : has_fallen_(has_fallen) {}

  shared_plan on(find_files) {
    plan p;
    p.files = {{"/empty", 0, 0, form::plain}, {"/written", 0, 0, form::plain}};
    p.fingerprint = 7;
    return std::make_shared<const plan>(p);
  }
  std::vector<problem> on(const look_again& l) {
    if (!*has_fallen_) {
      *has_fallen_ = true;
      throw chaos_strike("on purpose");
    }
    return {{l.known->files.at(1).path, "was written to"}};
  }

 private:
  bool* has_fallen_;
};

}  // namespace

TEST_CASE("the result names the files that changed, even if the walker falls when it is asked") {
  bool has_fallen = false;
  chaos fate(1, 0);
  garrick::testkit::test_system system;
  const auto boss = system.spawn<garrick::supervisor>(garrick::supervision{.max_restarts = 5});
  crew hands;
  const auto keeper = garrick::supervise<keeper_actor>(boss, garrick::lent(&fate));
  hands.ledgers.push_back(garrick::supervise<ledger_actor>(boss, keeper, garrick::lent(&fate)));
  hands.ranker = garrick::supervise<ranker_actor>(boss, hands.ledgers, garrick::lent(&fate));
  hands.walker = garrick::supervise<forgetful_walker>(boss, garrick::lent(&has_fallen));
  const auto foreman = garrick::supervise<foreman_actor>(boss, hands, garrick::lent(&fate));
  auto answer = system.request(foreman, finish{});
  system.run();
  const garrick::result<finished> done = answer.get();
  REQUIRE(done);
  CHECK(has_fallen);
  CHECK(done->what->files.size() == 2);
  REQUIRE(done->changed.size() == 1);
  CHECK(done->changed[0].path == "/written");
}

}  // namespace foreman_test
