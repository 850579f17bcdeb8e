#include <garrick/core/life/internal/asked_proxy.hpp>
#include <garrick/core/life/signals.hpp>

#include <utility>

namespace garrick::core::asked_proxy {

void note(response_table::slot& s, cell& proxy) noexcept {
  proxy.add_strong();
  s.proxy = &proxy;
}

void let_go(response_table::slot& s, const cell& self, std::uint64_t id, bool answered) noexcept {
  cell& asked = *std::exchange(s.proxy, nullptr);
  if (!answered) tell_withdrawn(asked, self, id);
  asked.drop_strong();
}

}  // namespace garrick::core::asked_proxy
