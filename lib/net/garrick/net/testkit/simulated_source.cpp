#include "garrick/net/testkit/simulated_source.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/testkit/internal/host.hpp"

namespace garrick::net::testkit {

namespace {

using hosts_endpoint = testkit::endpoint;

/// A hosted object on an end of the simulated network: its door, and its carrier.
class place final : public detail::entrance,
                    public carrier,
                    public carried,
                    public std::enable_shared_from_this<place> {
 public:
  place(simulated_host& host, std::unique_ptr<hosts_endpoint> end)
      : host_(host), end_(std::move(end)) {}

  /// Takes the hosted object and connects its end. Null: the link has ended.
  void start(std::unique_ptr<hosted> who) {
    who_ = std::move(who);
    if (who_ == nullptr) return finish({});
    end_->drive(*this);
  }
  /// Takes a newcomer's hosted object and its first bytes, which another object has read; the end
  /// still drives that other object.
  void start_with(std::unique_ptr<hosted> who, std::span<const std::byte> first) {
    who_ = std::move(who);
    if (who_ == nullptr) return finish({});
    connected(host_.now());
    if (!over_) receive(first, host_.now());
  }
  /// Takes another stream in place of the present one; that stream's end calls `driver`.
  /// Returns false if the link is over.
  bool join(std::unique_ptr<hosts_endpoint>& fresh, std::shared_ptr<void> driver,
            std::span<const std::byte> first) {
    if (over_ || end_->carries() == carrier_kind::datagrams) return false;
    const std::shared_ptr<place> keeps = shared_from_this();
    const std::shared_ptr<void> old_driver = std::exchange(kept_, std::move(driver));
    const std::unique_ptr<hosts_endpoint> old_end = std::exchange(end_, std::move(fresh));
    if (told_connected_)  // the present stream may be lost without the stack's knowledge
      disconnected(base::make_error(net_errc::connection_lost, "another connection took its place"),
                   host_.now());
    if (!over_) connected(host_.now());
    if (!over_) receive(first, host_.now());
    return true;
  }
  /// Holds an object until the link has ended.
  void keep(std::shared_ptr<void> what) { kept_ = std::move(what); }
  void stop() {
    if (over_ || in_) return;
    const base::error why = base::make_error(base::errc::shutting_down, host_.name());
    const std::shared_ptr<place> keeps = shared_from_this();
    call([&](carried& c) { c.over(why, host_.now()); });
    finish(why);
  }

  // entrance
  answer enter() noexcept override {
    if (over_) return answer::over;
    if (in_) return answer::busy;
    in_ = true;
    return answer::entered;
  }
  void leave() noexcept override {
    in_ = false;
    settle();
  }
  visit_result wait_in_line(std::unique_ptr<detail::visit> v, bool) override {
    if (over_) return visit_result::over;
    line_.push_back(std::move(v));
    return visit_result::queued;
  }
  hosted& occupant() noexcept override { return *who_; }
  transport_counters counters() const override { return {}; }
  bool is_over() const noexcept override { return over_; }
  bool is_connected() const noexcept override { return !over_ && end_->is_open(); }
  bool was_admitted() const noexcept override {
    return admitted_ || (who_ != nullptr && who_->admitted());
  }

  // carrier
  void transmit(packet bytes) override { end_->transmit(std::move(bytes)); }
  bool writable() const override { return end_->writable(); }
  std::size_t largest() const override { return end_->largest(); }
  void reopen() override { end_->reopen(); }
  void reopen_beside() override { end_->reopen_beside(); }
  void close() override { closes_ = true; }
  bool is_closed() const override { return closes_ || over_; }

  // carried
  void connected(base::instant now) override {
    told_connected_ = true;
    call([&](carried& s) { s.connected(now); });
  }
  void disconnected(const base::error& why, base::instant now) override {
    told_connected_ = false;
    call([&](carried& s) { s.disconnected(why, now); });
  }
  packet greeting(base::instant now) override {
    packet first;
    call([&](carried& s) { first = s.greeting(now); });
    return first;
  }
  beside answered(std::span<const std::byte> bytes, base::instant now) override {
    beside what = beside::drops;
    call([&](carried& s) { what = s.answered(bytes, now); });
    return what;
  }
  void receive(std::span<const std::byte> bytes, base::instant now) override {
    call([&](carried& s) { s.receive(bytes, now); });
  }
  void carrier_writable(base::instant now) override {
    call([&](carried& s) { s.carrier_writable(now); });
  }
  void path_changed(std::size_t largest, base::instant now) override {
    call([&](carried& s) { s.path_changed(largest, now); });
  }
  base::instant deadline() const override {
    return over_ ? base::instant::never() : who_->stack().deadline();
  }
  void advance(base::instant now) override {
    call([&](carried& s) { s.advance(now); });
  }

 private:
  template <class F>
  void call(F f) {
    if (over_) return;
    in_ = true;
    f(who_->stack());
    in_ = false;
    settle();
  }
  /// Makes the waiting visits, and ends the link if that is due; only while no visitor is in.
  void settle() {
    const std::shared_ptr<place> keeps = shared_from_this();
    const std::shared_ptr<void> and_its_driver = kept_;
    while (!line_.empty() && !closes_) {
      const std::unique_ptr<detail::visit> next = std::move(line_.front());
      line_.pop_front();
      in_ = true;
      next->run(*who_);
      in_ = false;
    }
    if (closes_) finish({});
  }
  void finish(const base::error& why) {
    if (std::exchange(over_, true)) return;
    admitted_ = was_admitted();
    if (who_ != nullptr) who_->ended(why);
    line_.clear();
    who_.reset();
    end_.reset();
    kept_.reset();
  }

  simulated_host& host_;
  std::unique_ptr<hosts_endpoint> end_;
  std::unique_ptr<hosted> who_;
  std::deque<std::unique_ptr<detail::visit>> line_;
  std::shared_ptr<void> kept_;
  bool in_ = false;
  bool told_connected_ = false;  ///< the stack was told `connected` last
  bool closes_ = false;
  bool over_ = false;
  bool admitted_ = false;
};

}  // namespace

struct simulated_source::state {
  explicit state(simulated_host& h) : host(h), seed(h.inside().next_seed()) {}
  simulated_host& host;
  const std::uint64_t seed;
  std::vector<std::shared_ptr<place>> places;
  bool is_stopped = false;

  void add(std::shared_ptr<place> p) {
    std::erase_if(places, [](const auto& one) { return one->is_over(); });
    places.push_back(std::move(p));
  }
};

namespace {

/// Collects the first bytes of a newcomer until the policy has decided, and then passes on the
/// calls of its end to the link that it has become, or that it has joined.
template <class State>
class newcomer final : public carried, public std::enable_shared_from_this<newcomer<State>> {
 public:
  newcomer(std::shared_ptr<State> in, std::unique_ptr<hosts_endpoint> end, net::endpoint local,
           std::shared_ptr<accept_policy> policy)
      : in_(std::move(in)),
        end_(std::move(end)),
        local_(std::move(local)),
        remote_(net::endpoint::of(local_.kind(), end_->peer().host, end_->peer().port)
                    .value_or(local_)),
        policy_(std::move(policy)) {}
  void start() {
    self_ = this->shared_from_this();
    end_->drive(*this);
  }

  void connected(base::instant now) override {
    if (made_ != nullptr) made_->connected(now);
  }
  void disconnected(const base::error& why, base::instant now) override {
    if (made_ != nullptr) return made_->disconnected(why, now);
    refuse();
  }
  void receive(std::span<const std::byte> bytes, base::instant now) override {
    if (made_ != nullptr) return made_->receive(bytes, now);
    const bool is_datagram = local_.kind() == transport_kind::udp;
    if (is_datagram && !policy_->may_begin(bytes)) return refuse();
    const std::size_t room = std::max<std::size_t>(policy_->wants(), 1);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    const arrival who{.remote = remote_,
                      .local = local_,
                      .bytes = std::span(bytes_).first(std::min(bytes_.size(), room)),
                      .now = now};
    verdict v = policy_->look(who);
    if (v.what() == verdict::kind::more && bytes_.size() < room && !is_datagram) return;
    if (v.what() == verdict::kind::join) return join(v.to());
    if (v.what() != verdict::kind::start) return refuse(v.take_words());
    const auto keeps = std::exchange(self_, nullptr);
    made_ = std::make_shared<place>(in_->host, std::move(end_));
    made_->keep(keeps);
    in_->add(made_);
    const connection fresh(made_);
    made_->start_with(
        policy_->claim(who, fresh) == fresh ? policy_->make(who, *made_, fresh) : nullptr, bytes_);
    bytes_.clear();
  }
  void carrier_writable(base::instant now) override {
    if (made_ != nullptr) made_->carrier_writable(now);
  }
  void path_changed(std::size_t n, base::instant now) override {
    if (made_ != nullptr) made_->path_changed(n, now);
  }
  base::instant deadline() const override {
    return made_ != nullptr ? made_->deadline() : base::instant::never();
  }
  void advance(base::instant now) override {
    if (made_ != nullptr) made_->advance(now);
  }

 private:
  void join(const connection& to) {
    const auto at = std::ranges::find_if(
        in_->places, [&](const std::shared_ptr<place>& one) { return connection(one) == to; });
    if (at == in_->places.end()) return refuse();
    const auto keeps = std::exchange(self_, nullptr);
    made_ = *at;
    if (!made_->join(end_, keeps, bytes_)) refuse();
    bytes_.clear();
  }
  void refuse(packet words = {}) {
    const auto keeps = std::exchange(self_, nullptr);
    if (!words.empty()) end_->transmit(std::move(words));
    end_.reset();
  }

  const std::shared_ptr<State> in_;
  std::unique_ptr<hosts_endpoint> end_;
  const net::endpoint local_;
  const net::endpoint remote_;
  const std::shared_ptr<accept_policy> policy_;
  std::vector<std::byte> bytes_;
  std::shared_ptr<place> made_;
  std::shared_ptr<newcomer> self_;  // until the link is made
};

}  // namespace

simulated_source::simulated_source(simulated_host& host) : state_(std::make_shared<state>(host)) {}
simulated_source::~simulated_source() { stop(); }

namespace {
base::error is_no_path(const net::endpoint& e) {
  if (e.kind() != transport_kind::unix_stream) return {};
  return base::make_error(base::errc::invalid_setting, e.to_string(),
                          "a simulated network has TCP and UDP, and no Unix domain sockets");
}
}  // namespace

base::result<connection> simulated_source::connect(const net::endpoint& at,
                                                   std::unique_ptr<hosted_maker> make) {
  const net::endpoint to = at.advertised();
  if (state_->is_stopped) return base::make_error(base::errc::shutting_down, state_->host.name());
  if (base::error no = is_no_path(to)) return no;
  if (to.port() == 0)
    return base::make_error(net_errc::bad_endpoint, to.to_string(), "no other end has port 0");
  if (!state_->host.sees(to.host()))
    return base::make_error(base::errc::invalid_setting, to.to_string(),
                            "the simulated network has no host of this name");
  const address there{to.host(), to.port()};
  auto made = std::make_shared<place>(state_->host, to.kind() == transport_kind::udp
                                                        ? state_->host.datagrams(0, there)
                                                        : state_->host.connect(there));
  state_->add(made);
  made->start(make->make(*made, connection(made)));
  return connection(made);
}

base::result<net::listener> simulated_source::listen(const net::endpoint& given,
                                                     std::shared_ptr<accept_policy> policy) {
  if (base::error no = is_no_path(given)) return no;
  if (!given.is_numeric() && given.host() != state_->host.name())
    return base::make_error(base::errc::invalid_setting, given.to_string(),
                            "it is not an address of the simulated host " + state_->host.name());
  const net::endpoint at =
      given.with_port(given.port() != 0 ? given.port() : state_->host.inside().free_port());
  class door final : public detail::listening {
   public:
    explicit door(net::endpoint at) : at_(std::move(at)) {}
    const net::endpoint& local() const noexcept override { return at_; }
    void close() noexcept override { listener_.reset(); }
    listener_counters counters() const noexcept override { return {}; }
    std::unique_ptr<testkit::listener> listener_;

   private:
    net::endpoint at_;
  };
  const auto accept = [in = state_, at, policy](std::unique_ptr<hosts_endpoint> end) {
    std::make_shared<newcomer<state>>(in, std::move(end), at, policy)->start();
  };
  auto made = std::make_shared<door>(at);
  try {
    made->listener_ = at.kind() == transport_kind::udp
                          ? state_->host.listen_datagrams(at.port(), accept)
                          : state_->host.listen(at.port(), accept);
  } catch (const std::invalid_argument& e) {
    return base::make_error(net_errc::address_in_use, at.to_string(), e.what());
  }
  return net::listener(std::move(made));
}

std::uint64_t simulated_source::seed() const noexcept { return state_->seed; }
base::instant simulated_source::now() const noexcept { return state_->host.now(); }

void simulated_source::wait_for_end(const std::vector<connection>&, base::duration) {}

void simulated_source::stop() noexcept {
  state_->is_stopped = true;
  for (const auto& one : std::exchange(state_->places, {})) one->stop();
}

}  // namespace garrick::net::testkit
