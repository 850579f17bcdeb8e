// Supervision while two things cross: a child's report was on its way when its supervisor decided.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>

namespace supervision_crossings_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct fail {};
using child = protocol<void(fail)>;

/// The number of destroyed children's objects; shared with the test on its one thread.
struct gone {
  using garrick_sendable = void;
  std::shared_ptr<int> count = std::make_shared<int>(0);
};

class child_actor : public actor<child> {
  gone gone_;

 public:
  explicit child_actor(gone g) : gone_(std::move(g)) {}
  ~child_actor() { ++*gone_.count; }
  void on(fail) { throw std::runtime_error("failed"); }
};

}  // namespace

TEST_CASE("a child that is told to end and fails meanwhile costs its supervisor no restart") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const gone ended;
    const auto top = kit.spawn<supervisor>(supervision{.max_restarts = 0});
    const auto a = supervise<child_actor>(top, child_options{.name = "a"}, ended);
    kit.run();
    send(top, stop_child{"a"});
    kit.expect<stop_child>().to(top);
    // as the child would have sent it, had it failed before the order came
    core::handle_access::get(top)->signal(core::detail::make_envelope<core::signals::child_failed>(
        core::handle_access::make_address(core::handle_access::get(a)),
        exit_reason(exit_code::failure), true));
    kit.run();
    CHECK(*ended.count == 1);
    CHECK(kit.request(top, list_children{}).get().value().empty());
  }
}

}  // namespace supervision_crossings_test
