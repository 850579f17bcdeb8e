#include "garrick/net/stack/stack.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "garrick/net/error.hpp"

namespace stack_writable_test {

using namespace garrick;
using namespace garrick::net;

namespace {

struct end final : carrier, link_owner {
  int sent = 0;
  std::function<void()> on_writable;
  std::function<void()> on_text;

  void transmit(packet) override { ++sent; }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1000; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming&) override {
    if (on_text) on_text();
    return true;
  }
  void on_event(const link_event& e) override {
    if (e.what == link_event::kind::writable && on_writable) on_writable();
  }
};

struct nothing : layer_defaults {};

}  // namespace

TEST_CASE("a stack: an owner that sends from within a call more than is kept is told to go on") {
  end here;
  stack<datagrams, nothing> s(here, here, nothing());
  int left = 5000;
  const auto go = [&] {
    for (; left != 0; --left)
      if (s.send({packet::with_room(0, 0)}, base::instant()) == net_errc::overload) break;
  };
  here.on_writable = go;
  here.on_text = go;
  s.receive({}, base::instant());
  CHECK(left == 0);
  CHECK(here.sent == 5000);
}

}  // namespace stack_writable_test
