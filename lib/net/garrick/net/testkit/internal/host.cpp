#include "garrick/net/testkit/internal/host.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "garrick/base/platform/assert.hpp"

namespace garrick::net::testkit::internal {

// ---- end ----------------------------------------------------------------------------------------

end::end(host& h, address local, address peer)
    : host_(h), id_(++h.time().ends_made), local_(std::move(local)), peer_(std::move(peer)) {}

void end::drive(carried& upper) {
  if (dead_) return;
  GARRICK_ASSERT(upper_ == nullptr, "an endpoint drives one");
  upper_ = &upper;
  started();
}

void end::later(base::instant when, std::function<void(carried&, base::instant)> what) {
  host_.time().at(when, [self = shared_from_this(), what = std::move(what)] {
    if (!self->dead_) self->host_.when_running([self, what] { self->call(what); });
  });
}

void end::call(const std::function<void(carried&, base::instant)>& what) {
  if (upper_ == nullptr) return;
  timeline& net = host_.time();
  net.calling([&] { what(*upper_, host_.clock().now()); });
  net.changed();
}

// ---- host ---------------------------------------------------------------------------------------

host::host(timeline& t, std::string name, std::uint32_t number)
    : time_(t), name_(std::move(name)), number_(number), clock_(t) {}

host::~host() = default;

std::uint64_t host::next_seed() {
  const std::uint64_t seed =
      time_.seed_for("seed " + std::to_string(++seeds_) + " of the host " + name_);
  return seed != 0 ? seed : 1;
}

void host::tell(const char* what) { time_.past().add(time_.now(), number_, number_, what); }

void host::when_running(std::function<void()> what, std::size_t kept_bytes) {
  if (!paused_) return what();
  kept_bytes_ += kept_bytes;
  held_.push_back(std::move(what));
}

void host::enter(const std::shared_ptr<end>& e) {
  std::erase_if(ends_, [](const auto& other) { return other.expired(); });
  ends_.push_back(e);
}

std::vector<std::shared_ptr<end>> host::ends() const {
  std::vector<std::shared_ptr<end>> all;
  all.reserve(ends_.size());
  for (const auto& each : ends_)
    if (auto held = each.lock(); held && !held->is_dead()) all.push_back(std::move(held));
  return all;
}

std::shared_ptr<end> host::datagram_end(std::uint16_t port, const address& from) const {
  for (const auto& e : ends())
    if (e->local().port == port && e->peer() == from && e->takes_datagrams()) return e;
  return nullptr;
}

std::shared_ptr<listening> host::at(const ports& p, std::uint16_t port) {
  const auto found = p.find(port);
  if (found == p.end()) return nullptr;
  std::shared_ptr<listening> l = found->second.lock();
  return l && !l->over ? l : nullptr;
}

std::shared_ptr<listening> host::datagram_listener(std::uint16_t port) const {
  return at(datagram_ports_, port);
}
std::shared_ptr<listening> host::stream_listener(std::uint16_t port) const {
  return at(stream_ports_, port);
}

std::shared_ptr<listening> host::listen(bool streams, std::uint16_t port, listening::accept taken,
                                        bool resumes) {
  ports& p = streams ? stream_ports_ : datagram_ports_;
  if (at(p, port))
    throw std::invalid_argument("port " + std::to_string(port) + " of " + name_ + " is taken");
  auto made = std::make_shared<listening>(std::move(taken), resumes);
  if (!up_) made->over = true;
  p[port] = made;
  return made;
}

void host::runs(std::function<std::shared_ptr<void>()> program) {
  program_ = std::move(program);
  running_.reset();
  if (up_ && program_) running_ = program_();
}

void host::pause() {
  if (paused_ || !up_) return;
  tell("is paused");
  paused_ = true;
}

void host::resume() {
  if (!paused_) return;
  tell("goes on");
  paused_ = false;
  kept_bytes_ = 0;
  // The held calls run as events of the present time, before any deadline. Bytes that arrive now
  // are handled after them.
  for (std::function<void()>& each : std::exchange(held_, {}))
    time_.at(time_.now(), [this, what = std::move(each)] { when_running(what); });
  time_.changed();
}

void host::let_ends_die() {
  for (const auto& e : ends()) e->died();
  ends_.clear();
  for (const ports& p : {std::exchange(datagram_ports_, {}), std::exchange(stream_ports_, {})})
    for (const auto& [port, l] : p)
      if (const auto held = l.lock()) held->over = true;
}

void host::lose_power_of(crash_kind what) {
  tell(what == crash_kind::process ? "crashes" : "loses its power");
  up_ = false;
  power_ = what == crash_kind::process;
  paused_ = false;
  ++lives_;
  held_.clear();
  kept_bytes_ = 0;
}

void host::crash() {
  let_ends_die();
  clock_.drop_all();
  running_.reset();
}

void host::gets_power() {
  tell("is there again");
  up_ = power_ = true;
}

void host::restart() {
  if (program_) running_ = program_();
}

void host::stop() noexcept {
  let_ends_die();
  up_ = false;
  clock_.drop_all();
  running_.reset();
  program_ = nullptr;
  held_.clear();
}

}  // namespace garrick::net::testkit::internal
