// A process that has nodes is forked: the child's use of them changes nothing for the parent and
// its peers.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/transport/io_threads.hpp>

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <support/in_child.hpp>
#include <support/quiet.hpp>

namespace forked_nodes_test {

using namespace garrick;
using tests::has_aborted;
using tests::in_child;

struct ask {};
using asked_type = protocol<int(ask)>;
class asked : public actor<asked_type> {
 public:
  int on(ask) { return ++times_; }

 private:
  int times_ = 0;
};

struct two_nodes {
  actor_system left{tests::quiet()}, right{tests::quiet()};
  std::optional<net::node> a{std::in_place, left}, b{std::in_place, right};
  std::string at = a->listen("tcp://127.0.0.1:0").value().to_string();
  std::optional<ref<asked_type>> far;

  two_nodes() {
    REQUIRE(a->publish("asked", left.spawn<asked>()).has_value());
    far = b->remote<asked_type>(at, "asked").value();
    CHECK(answer() == 1);
  }
  int answer() { return right.request(*far, ask{}).get().value(); }
};

TEST_CASE("forked nodes: a child drops them and returns, and the sessions go on" *
          doctest::skip(IS_EMULATED)) {
  two_nodes n;
  auto threads = std::make_unique<net::io_threads>();
  const net::peer_identity peer = n.a->self();
  for (int times = 2; times < 5; ++times) {
    const auto [words, status] = in_child([&] {
      ::alarm(60);  // a child that hangs dies of it
      const auto says = [](bool right, char as) {
        const char one = right ? as : '!';
        static_cast<void>(::write(STDERR_FILENO, &one, 1));
      };
      says(n.b->remote<asked_type>(n.at, "asked").error() == errc::would_block, 'r');
      says(n.b->connect(n.at).error() == errc::would_block, 'c');
      const error no = n.b->listen("tcp://127.0.0.1:0").error();
      says(no == errc::would_block, 'l');
      says(no.to_string().starts_with("this call is not possible here: a node: this process is a "
                                      "fork"),
           't');
      says(n.b->publish("mine", *n.far).error() == errc::would_block, 'p');
      says(!n.a->unpublish("asked"), 'u');
      says(n.b->allow<asked>("asked").error() == errc::would_block, 'a');
      says(!n.b->disallow("asked"), 'd');
      says(n.b->spawn<asked_type>(n.at, "asked").error() == errc::would_block, 's');
      says(n.b->peers().empty(), 'e');
      n.b->subscribe(nullptr);
      says(n.b->counters(peer).empty(), 'n');
      n.b->quarantine(peer);
      n.right.kill(*n.far);
      n.far.reset();
      n.b.reset();
      n.a.reset();
      threads.reset();
      says(true, '.');
    });
    CHECK(words == "rcltpuadsen.");
    CHECK(status == 0);
    CHECK(n.answer() == times);
  }
}

TEST_CASE("forked nodes: a child that sends to another node is told that it may not" *
          doctest::skip(IS_EMULATED)) {
  two_nodes n;
  const auto [words, status] = in_child([&] {
    ::alarm(60);
    send(*n.far, ask{});
  });
  CHECK(has_aborted(status));
  CHECK(words.find("a message was sent to another node") != std::string::npos);
  CHECK(n.answer() == 2);
}

}  // namespace forked_nodes_test
