// A door of a link that never opens: it counts the visits, and makes none of them.
//
// Thread safety: one thread's.
#pragma once

#include <garrick/net/transport/hosted.hpp>

#include <cstdlib>
#include <memory>

namespace link_test {

using namespace garrick;

/// See above.
class counting_door final : public net::detail::entrance {
 public:
  int visits = 0;

  answer enter() noexcept override { return answer::busy; }
  void leave() noexcept override {}
  net::visit_result wait_in_line(std::unique_ptr<net::detail::visit>, bool) override {
    ++visits;
    return net::visit_result::over;
  }
  net::hosted& occupant() noexcept override { std::abort(); }  // no visitor enters
  net::transport_counters counters() const override { return {}; }
  bool is_over() const noexcept override { return false; }
  bool is_connected() const noexcept override { return true; }
  bool was_admitted() const noexcept override { return true; }
};

}  // namespace link_test
