#include "garrick/net/testkit/simulated_host.hpp"

#include <algorithm>
#include <stdexcept>

#include "garrick/net/testkit/internal/connection_attempt.hpp"
#include "garrick/net/testkit/internal/datagram_end.hpp"
#include "garrick/net/testkit/internal/engine.hpp"
#include "garrick/net/testkit/internal/stream_end.hpp"

namespace garrick::net::testkit {

namespace {
internal::listening::accept wrapped(simulated_host::accept taken) {
  if (!taken) throw std::invalid_argument("a listener needs a function that takes new ends");
  return [taken = std::move(taken)](std::shared_ptr<internal::end> e) {
    taken(std::make_unique<endpoint>(std::move(e)));
  };
}
}  // namespace

const std::string& simulated_host::name() const noexcept { return host_.name(); }
bool simulated_host::sees(std::string_view other) const noexcept {
  return std::ranges::any_of(net_.hosts(), [&](const auto& h) { return h->name() == other; });
}
std::uint32_t simulated_host::lives() const noexcept { return host_.lives(); }

void simulated_host::runs(program what) {
  if (!what) return host_.runs({});
  host_.runs([this, what = std::move(what)] { return what(*this); });
}

void simulated_host::after(base::duration d, std::function<void()> what) {
  if (!host_.is_up()) return;
  auto held = std::make_unique<std::function<void()>>(std::move(what));
  const auto fire = [](void* context, std::uint64_t) {
    const std::unique_ptr<std::function<void()>> f(static_cast<std::function<void()>*>(context));
    (*f)();
  };
  const auto drop = [](void* context, std::uint64_t) {
    delete static_cast<std::function<void()>*>(context);
  };
  if (host_.clock().arm(now() + d, {.fire = fire, .context = held.get(), .drop = drop}))
    static_cast<void>(held.release());
}

std::unique_ptr<endpoint> simulated_host::datagrams(std::uint16_t port, address peer) {
  if (port == 0) port = host_.free_port();
  if (host_.datagram_end(port, peer))
    throw std::invalid_argument("port " + std::to_string(port) + " of " + name() + " has an end");
  auto made = std::make_shared<internal::datagram_end>(net_, host_, address{name(), port}, peer);
  if (host_.is_up())
    host_.enter(made);
  else
    made->died();
  return std::make_unique<endpoint>(std::move(made));
}

std::unique_ptr<listener> simulated_host::listen_datagrams(std::uint16_t port, accept taken) {
  return std::make_unique<listener>(host_.listen(false, port, wrapped(std::move(taken)), false));
}

std::unique_ptr<endpoint> simulated_host::connect(address peer) {
  const address local{name(), host_.free_port()};
  auto made = std::make_shared<internal::stream_end>(host_, local, std::move(peer),
                                                     internal::knocking_in(net_));
  if (host_.is_up())
    host_.enter(made);
  else
    made->died();
  return std::make_unique<endpoint>(std::move(made));
}

std::unique_ptr<listener> simulated_host::listen(std::uint16_t port, accept taken, bool resumes) {
  return std::make_unique<listener>(host_.listen(true, port, wrapped(std::move(taken)), resumes));
}

base::instant simulated_host::now() const noexcept { return host_.clock().now(); }
base::clock_service& simulated_host::clock() noexcept { return host_.clock(); }
void simulated_host::jump(base::duration d) { host_.clock().jump(d); }
void simulated_host::set_rate(std::int64_t ppm) { host_.clock().set_rate(ppm); }

void simulated_host::pause() { host_.pause(); }
void simulated_host::resume() { host_.resume(); }
bool simulated_host::is_paused() const noexcept { return host_.is_paused(); }
bool simulated_host::is_up() const noexcept { return host_.is_up(); }

void simulated_host::crash(crash_kind what) {
  if (net_.is_calling())
    net_.at(net_.now(), [this, what] { net_.crash(host_, what); });
  else
    net_.crash(host_, what);
}

void simulated_host::restart() { net_.restart(host_); }

}  // namespace garrick::net::testkit
