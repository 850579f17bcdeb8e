#include <garrick/base/platform/platform.hpp>
#include <garrick/patterns/node/graph.hpp>

#include <thread>

namespace garrick::patterns::detail {

void graph::wake_all() noexcept {
  for (const auto& n : nodes_) n->wake(nullptr, 0);
}

bool graph::help() noexcept {
  for (const auto& n : nodes_)
    if (n->help()) return true;
  return false;
}

void graph::yield() noexcept { std::this_thread::yield(); }

void graph::nap() noexcept { base::platform::sleep_ns(50'000); }

}  // namespace garrick::patterns::detail
