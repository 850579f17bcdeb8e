// Requests whose answer cannot be made, for lack of memory or because making it throws: the
// requester is told, and never waits in vain.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <garrick/base/memory/block_pool.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <new>
#include <string>
#include <vector>

#include "support/in_child.hpp"

namespace {

using namespace garrick;

std::atomic<bool> poor{false};

/// There is no memory to move it while `poor` is set.
struct fragile {
  using garrick_sendable = void;
  fragile() = default;
  fragile(const fragile&) = delete;
  fragile(fragile&&) {
    if (poor) throw std::bad_alloc();
  }
  fragile& operator=(fragile&&) = delete;
};

struct plain {};
struct as_result {};
struct by_promise {};
struct by_coroutine {};
struct thrown {};
struct starved {};
using answering = protocol<fragile(plain), fragile(as_result), fragile(by_promise),
                           fragile(by_coroutine), fragile(thrown), int(starved)>;

/// Takes all memory for small blocks, so that not even an error finds any.
std::vector<void*> take_all_blocks() {
  std::vector<void*> taken;
  taken.reserve(1u << 22);
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1;
  ::setrlimit(RLIMIT_AS, &limit);
  try {
    for (;;) taken.push_back(base::block_pool::allocate(64));
  } catch (const std::bad_alloc&) {}
  return taken;
}

class answerer : public actor<answering> {
 public:
  fragile on(plain) { return {}; }
  result<fragile> on(as_result) { return result<fragile>(std::in_place); }
  result<fragile> on(by_promise) {
    auto p = make_promise<fragile>();
    p.deliver(fragile());
    return p;
  }
  task<fragile> on(by_coroutine) { co_return fragile(); }
  fragile on(thrown) { throw std::bad_alloc(); }
  int on(starved) {
    taken_ = take_all_blocks();
    throw std::bad_alloc();
  }
  ~answerer() {
    for (void* const block : taken_) base::block_pool::deallocate(block, 64);
  }

 private:
  std::vector<void*> taken_;
};

template <class Message>
void expect_failure(actor_system& system, errc code = errc::receiver_failed) {
  const auto to = system.spawn<answerer>();
  const error why = system.request(to, Message{}, duration::seconds(60)).get().error();
  CHECK(why == code);
  if (code == errc::broken_promise) return;
  CHECK(why.detail().find("bad_alloc") != std::string_view::npos);
  CHECK(why.detail().find("answerer") != std::string_view::npos);
}

}  // namespace

TEST_CASE("a requester is told when its answer cannot be made, however the handler answers") {
  actor_system system;
  poor = true;
  expect_failure<plain>(system);
  expect_failure<as_result>(system);
  expect_failure<by_promise>(system, errc::broken_promise);
  expect_failure<by_coroutine>(system);
  expect_failure<thrown>(system);
  poor = false;
  const auto to = system.spawn<answerer>();
  CHECK(system.request(to, plain{}).get().has_value());
  CHECK(system.request(to, by_coroutine{}).get().has_value());
}

TEST_CASE("a requester is told although there is no memory for the answer" *
          doctest::skip(HAS_SANITIZER)) {
  actor_system system;
  const auto to = system.spawn<answerer>(spawn_options{.name = "starved"});
  const error why = [&] {
    struct limit_again {
      rlimit before{};
      limit_again() { REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0); }
      ~limit_again() { ::setrlimit(RLIMIT_AS, &before); }
    } const guard;
    return system.request(to, starved{}).get().error();  // a time-out might need a thread
  }();
  CHECK(why == errc::receiver_failed);
}
