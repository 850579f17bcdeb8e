#include "garrick/net/testkit/simulated_network.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "garrick/net/testkit/internal/engine.hpp"

namespace garrick::net::testkit {

simulated_network::simulated_network(std::uint64_t seed, const network_settings& s)
    : engine_(std::make_unique<internal::engine>(seed, s, std::nullopt)) {}

simulated_network::simulated_network(const garrick::testkit::test_world& world,
                                     const network_settings& s)
    : engine_(std::make_unique<internal::engine>(world.seed(), s, world)) {}

// Destroys the programs first: they know their hosts.
simulated_network::~simulated_network() { engine_.reset(); }

std::uint64_t simulated_network::seed() const noexcept { return engine_->seed(); }
base::instant simulated_network::now() const noexcept { return engine_->now(); }
base::duration simulated_network::elapsed() const noexcept {
  return engine_->now() - engine_->start();
}
simulated_host& simulated_network::host(std::string_view name) {
  internal::host& inside = engine_->named(name);
  while (hosts_.size() < engine_->hosts().size())
    hosts_.push_back(std::make_unique<simulated_host>(*engine_, *engine_->hosts()[hosts_.size()]));
  return *hosts_[inside.number()];
}

path_settings& simulated_network::path(std::string_view from, std::string_view to) {
  return engine_->way_of(engine_->named(from), engine_->named(to)).settings;
}

void simulated_network::both(std::string_view a, std::string_view b, const path_settings& s) {
  internal::check(s, std::string(a) + " to " + std::string(b));
  path(a, b) = path(b, a) = s;
}

// ---- letting time pass --------------------------------------------------------------------------

namespace {
void check_time(const internal::engine& e) {
  e.check_ways();
  if (e.has_world()) throw std::logic_error("the systems of a network's world move its time");
}
}  // namespace

void simulated_network::run_for(base::duration d) {
  check_time(*engine_);
  const base::instant end = now() + d;
  while (engine_->step(end)) {}
  engine_->pass(end);
}

bool simulated_network::run_until(const std::function<bool()>& done, base::duration limit) {
  check_time(*engine_);
  const base::instant end = now() + limit;
  while (!done())
    if (!engine_->step(end)) {
      engine_->pass(end);
      return done();
    }
  return true;
}

base::instant simulated_network::next() const { return engine_->next(); }

// ---- faults -------------------------------------------------------------------------------------

void simulated_network::apply(const fault& what) {
  note(what.text);
  what.act(*this);
}

void simulated_network::at(base::duration elapsed, fault what) {
  engine_->at(engine_->start() + elapsed, [this, what = std::move(what)] { apply(what); });
}

void simulated_network::cut(std::string_view from, std::string_view to) {
  engine_->set_cut(engine_->named(from), engine_->named(to), true);
}
void simulated_network::heal(std::string_view from, std::string_view to) {
  engine_->set_cut(engine_->named(from), engine_->named(to), false);
}
bool simulated_network::is_cut(std::string_view from, std::string_view to) {
  return engine_->way_of(engine_->named(from), engine_->named(to)).cut;
}

void simulated_network::reset_streams(std::string_view a, std::string_view b) {
  for (const auto& s : engine_->streams_between(a, b)) s->reset();
}

void simulated_network::stall_streams(std::string_view a, std::string_view b) {
  for (const auto& s : engine_->streams_between(a, b)) s->stall();
}

void simulated_network::half_open(std::string_view at, std::string_view other) {
  for (const auto& s : engine_->streams())
    for (const std::uint32_t side : {0u, 1u})
      if (s->is_at(side, engine_->named(at)) && s->is_at(1 - side, engine_->named(other)))
        s->forget(side, "the stream was lost here");
}

void simulated_network::heal_all() {
  for (const auto& a : engine_->hosts())
    for (const auto& b : engine_->hosts()) engine_->set_cut(*a, *b, false);
  for (const auto& h : engine_->hosts()) {
    h->resume();
    engine_->restart(*h);
  }
}

// ---- the history --------------------------------------------------------------------------------

void simulated_network::require(bool holds, const std::string& text, std::source_location where) {
  if (!holds) engine_->fail(text, where);
}
void simulated_network::note(std::string text) {
  engine_->past().add(engine_->now(), std::move(text));
}
const network_history& simulated_network::history() const noexcept { return engine_->past(); }
std::uint64_t simulated_network::seed_for(std::string_view name) const noexcept {
  return engine_->seed_for(name);
}

}  // namespace garrick::net::testkit
