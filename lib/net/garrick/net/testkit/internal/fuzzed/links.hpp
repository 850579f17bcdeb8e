// A node's links without a network, for its fuzzer: bytes lie between the two ends until the fuzzer
// carries them. The holder of the links makes the decisions of a socket, an I/O thread and the
// other end.
//
// Thread safety: one thread at a time.
#pragma once

#include <garrick/base/platform/assert.hpp>
#include <garrick/base/time/clock.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/link_source.hpp>
#include <garrick/net/transport/hosted.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace garrick::net::testkit::internal::fuzzed {

class place;
class far_end;

using bytes = std::vector<std::byte>;

/// Bytes under way between a node and the other end.
struct stream {
  enum class state : std::uint8_t { knocks, taken, refused };
  state is = state::knocks;
  std::shared_ptr<place> node;  ///< null: not accepted yet, or closed at this end
  far_end* far = nullptr;       ///< null: closed at this end
  bytes to_node, to_far;
};

/// The other end of a link.
class far_end final : public carrier {
 public:
  explicit far_end(const base::clock& time) : time_(time) {}
  /// Sets the receiver of the bytes. Called before all other functions.
  void carries_to(carried& who) { who_ = &who; }
  void attach(std::shared_ptr<stream> s) {
    wire_ = std::move(s);
    wire_->far = this;
    reopens_ = false;
    who_->connected(time_.now());
  }
  void lose() {
    if (wire_ == nullptr) return;
    wire_->far = nullptr;
    wire_ = nullptr;
    who_->disconnected(net_errc::connection_lost, time_.now());
  }
  void receive(std::span<const std::byte> all) { who_->receive(all, time_.now()); }
  void look_at_the_clock() {
    for (int n = 0; !closed_ && who_->deadline() <= time_.now(); ++n) {
      GARRICK_ASSERT(n < 1000, "a deadline that stays");
      who_->advance(time_.now());
    }
  }
  [[nodiscard]] bool wants_stream() const noexcept { return reopens_ && !closed_; }
  [[nodiscard]] bool has_stream() const noexcept { return wire_ != nullptr; }
  /// True if arriving bytes are taken; otherwise they stay in the stream.
  bool reads = true;

  void transmit(packet p) override {
    if (wire_ == nullptr) return;
    const std::span<const std::byte> all = std::as_const(p).bytes();
    wire_->to_node.insert(wire_->to_node.end(), all.begin(), all.end());
  }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return most; }
  void reopen() override { reopens_ = true; }
  void close() override {
    closed_ = true;
    if (wire_ != nullptr) std::exchange(wire_, nullptr)->far = nullptr;
  }
  [[nodiscard]] bool is_closed() const override { return closed_; }

  static constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();

 private:
  const base::clock& time_;
  carried* who_ = nullptr;
  std::shared_ptr<stream> wire_;
  bool reopens_ = false;
  bool closed_ = false;
};

/// The node's end of a link: its door, and its carrier.
class place final : public net::detail::entrance,
                    public carrier,
                    public std::enable_shared_from_this<place> {
 public:
  /// The number of bytes that it takes before it is not writable.
  static constexpr std::size_t buffer = 4096;

  place(const base::clock& time, bool dials) : time_(time), dials_(dials) {}

  /// Takes the hosted object. Null: the link has ended.
  void start(std::unique_ptr<hosted> who) {
    who_ = std::move(who);
    if (who_ == nullptr) return finish({});
    reopens_ = dials_;
  }
  void attach(std::shared_ptr<stream> s) {
    if (over_) return;
    lose();
    wire_ = std::move(s);
    wire_->is = stream::state::taken;
    wire_->node = shared_from_this();
    reopens_ = false;
    call([&](carried& c) { c.connected(time_.now()); });
  }
  void lose() {
    if (wire_ == nullptr) return;
    drop_stream();
    call([&](carried& c) { c.disconnected(net_errc::connection_lost, time_.now()); });
  }
  void refuse() {
    reopens_ = false;
    call([&](carried& c) { c.disconnected(net_errc::refused, time_.now()); });
  }
  void receive(std::span<const std::byte> all) {
    call([&](carried& c) { c.receive(all, time_.now()); });
  }
  void has_room() {
    call([&](carried& c) { c.carrier_writable(time_.now()); });
  }
  /// Gives the link a hint that any host may have forged.
  void hear_a_rumour() {
    if (over_ || in_ || occupied_) return;
    who_->hint(net_errc::refused);
    settle();
  }
  void look_at_the_clock() {
    for (int n = 0; !over_ && !occupied_ && who_->stack().deadline() <= time_.now(); ++n) {
      GARRICK_ASSERT(n < 1000, "a deadline that stays");
      call([&](carried& c) { c.advance(time_.now()); });
    }
  }
  /// Acts as if another thread were in the link and stayed: visits wait, and nothing is received.
  void occupy() { occupied_ = !over_; }
  void vacate() {
    if (std::exchange(occupied_, false)) settle();
  }
  [[nodiscard]] bool is_occupied() const noexcept { return occupied_; }
  [[nodiscard]] bool wants_stream() const noexcept { return dials_ && reopens_ && !over_; }
  void stop() {
    vacate();
    if (over_) return;
    const std::shared_ptr<place> keeps = shared_from_this();
    const base::error why = base::errc::shutting_down;
    call([&](carried& c) { c.over(why, time_.now()); });
    finish(why);
  }

  // entrance
  answer enter() noexcept override {
    if (over_) return answer::over;
    if (in_ || occupied_) return answer::busy;
    in_ = true;
    return answer::entered;
  }
  void leave() noexcept override {
    in_ = false;
    settle();
  }
  visit_result wait_in_line(std::unique_ptr<net::detail::visit> v, bool) override {
    if (over_) return visit_result::over;
    line_.push_back(std::move(v));
    return visit_result::queued;
  }
  hosted& occupant() noexcept override { return *who_; }
  transport_counters counters() const override { return {}; }
  bool is_over() const noexcept override { return over_; }
  bool is_connected() const noexcept override { return wire_ != nullptr; }
  bool was_admitted() const noexcept override {
    return admitted_ || (who_ != nullptr && who_->admitted());
  }

  // carrier
  void transmit(packet p) override {
    if (wire_ == nullptr) return;
    const std::span<const std::byte> all = std::as_const(p).bytes();
    wire_->to_far.insert(wire_->to_far.end(), all.begin(), all.end());
  }
  [[nodiscard]] bool writable() const override {
    return wire_ == nullptr || wire_->to_far.size() < buffer;
  }
  [[nodiscard]] std::size_t largest() const override { return far_end::most; }
  void reopen() override { reopens_ = true; }
  void close() override { closes_ = true; }
  [[nodiscard]] bool is_closed() const override { return closes_ || over_; }

 private:
  void drop_stream() {
    if (wire_ != nullptr) std::exchange(wire_, nullptr)->node = nullptr;
  }
  template <class F>
  void call(F f) {
    if (over_) return;
    const std::shared_ptr<place> keeps = shared_from_this();
    in_ = true;
    f(who_->stack());
    in_ = false;
    settle();
  }
  /// Makes the waiting visits, and ends the link if that is due; only while no thread is in.
  void settle() {
    if (occupied_) return;
    const std::shared_ptr<place> keeps = shared_from_this();
    while (!line_.empty() && !closes_) {
      const std::unique_ptr<net::detail::visit> next = std::move(line_.front());
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
    drop_stream();
  }

  const base::clock& time_;
  const bool dials_;
  std::unique_ptr<hosted> who_;
  std::shared_ptr<stream> wire_;
  std::deque<std::unique_ptr<net::detail::visit>> line_;
  bool in_ = false;
  bool occupied_ = false;
  bool reopens_ = false;
  bool closes_ = false;
  bool over_ = false;
  bool admitted_ = false;
};

/// A link source in which the fuzzer carries the bytes.
class direct_source final : public link_source {
 public:
  explicit direct_source(const base::clock& time) : time_(time) {}
  ~direct_source() override { stop(); }

  /// Returns the end that answers the node's dial, or null.
  std::function<far_end*()> answering;

  /// Offers the node a connection from this end.
  void knock(far_end& who) {
    streams_.push_back(std::make_shared<stream>());
    who.attach(streams_.back());
  }
  /// Breaks the connection of this end.
  void cut(far_end& who) {
    for (const auto& s : std::vector(streams_)) {
      if (s->far != &who) continue;
      if (s->node != nullptr) s->node->vacate();
      if (s->node != nullptr) s->node->lose();
      who.lose();
    }
  }
  /// Returns the node's end of this end's connection, or null.
  [[nodiscard]] place* behind(const far_end& who) const {
    for (const auto& s : streams_)
      if (s->far == &who) return s->node.get();
    return nullptr;
  }
  /// Carries the bytes and connections that can move now. Returns false if nothing moved.
  bool carry() {
    bool any = false;
    for (const auto& s : std::vector(streams_)) {
      any |= s->is == stream::state::knocks ? let_in(s) : to_node(*s);
      any |= to_far(*s);
    }
    std::erase_if(streams_, [](const auto& s) {
      return s->far == nullptr && s->node == nullptr && s->to_node.empty();
    });
    for (const auto& p : std::vector(places_)) any |= dial(*p);
    std::erase_if(places_, [](const auto& p) { return p->is_over(); });
    return any;
  }
  void look_at_the_clock() {
    for (const auto& p : std::vector(places_)) p->look_at_the_clock();
  }
  void vacate_all() {
    for (const auto& p : std::vector(places_)) p->vacate();
  }
  [[nodiscard]] bool any_occupied() const {
    return std::any_of(places_.begin(), places_.end(),
                       [](const auto& p) { return p->is_occupied(); });
  }
  /// Returns the number of the node's links that are not over.
  [[nodiscard]] std::size_t links() const {
    std::size_t n = 0;
    for (const auto& p : places_) n += p->is_over() ? 0 : 1;
    return n;
  }

  base::result<connection> connect(const endpoint&, std::unique_ptr<hosted_maker> make) override {
    auto made = std::make_shared<place>(time_, true);
    places_.push_back(made);
    made->start(make->make(*made, connection(made)));
    return connection(made);
  }
  base::result<listener> listen(const endpoint& at, std::shared_ptr<accept_policy> p) override {
    class door final : public net::detail::listening {
     public:
      explicit door(endpoint at) : at_(std::move(at)) {}
      const endpoint& local() const noexcept override { return at_; }
      void close() noexcept override {}
      listener_counters counters() const noexcept override { return {}; }

     private:
      const endpoint at_;
    };
    at_ = at;
    policy_ = std::move(p);
    return listener(std::make_shared<door>(at));
  }
  [[nodiscard]] base::instant now() const noexcept override { return time_.now(); }
  void wait_for_end(const std::vector<connection>&, base::duration) override {}
  void stop() noexcept override {
    for (const auto& p : std::exchange(places_, {})) p->stop();
    policy_ = nullptr;
  }

 private:
  [[nodiscard]] bool let_in(const std::shared_ptr<stream>& s) {
    const std::size_t room = policy_ != nullptr ? policy_->wants() : 0;
    const std::span<const std::byte> first =
        std::span(s->to_node).first(std::min(s->to_node.size(), room));
    if (first.empty() && s->far != nullptr && room != 0) return false;
    const arrival who{.remote = at_, .local = at_, .bytes = first, .now = time_.now()};
    verdict v = policy_ != nullptr ? policy_->look(who) : verdict::refuse();
    if (v.what() == verdict::kind::more && first.size() < room && s->far != nullptr) return false;
    s->is = stream::state::refused;
    const bytes all = std::exchange(s->to_node, {});
    if (v.what() == verdict::kind::start) {
      auto made = std::make_shared<place>(time_, false);
      const connection fresh(made);
      const arrival again{.remote = at_, .local = at_, .bytes = std::span(all).first(first.size())};
      const connection chosen = policy_->claim(again, fresh);
      places_.push_back(made);
      made->start(chosen == fresh ? policy_->make(again, *made, fresh) : nullptr);
      take(chosen, s, all);
    } else if (v.what() == verdict::kind::join) {
      take(v.to(), s, all);
    } else {
      const packet words = v.take_words();
      s->to_far.assign(words.bytes().begin(), words.bytes().end());
    }
    return true;
  }
  void take(const connection& who, const std::shared_ptr<stream>& s,
            std::span<const std::byte> all) {
    for (const auto& p : std::vector(places_)) {
      if (connection(p) != who) continue;
      p->vacate();
      p->attach(s);
      p->receive(all);
    }
  }
  static bool to_node(stream& s) {
    const std::shared_ptr<place> node = s.node;
    if (node == nullptr || node->is_occupied()) {
      if (node == nullptr) s.to_node.clear();
      return false;
    }
    const bytes all = std::exchange(s.to_node, {});
    if (!all.empty()) node->receive(all);
    if (s.far != nullptr) return !all.empty();
    node->lose();
    return true;
  }
  static bool to_far(stream& s) {
    if (s.far == nullptr) return std::exchange(s.to_far, {}).size() != 0;
    if (s.is == stream::state::knocks || !s.far->reads) return false;
    const bytes all = std::exchange(s.to_far, {});
    far_end& far = *s.far;
    if (!all.empty()) far.receive(all);
    if (all.size() >= place::buffer && s.node != nullptr && !s.node->is_occupied())
      s.node->has_room();
    if (s.node != nullptr || s.far == nullptr) return !all.empty();
    far.lose();
    return true;
  }
  [[nodiscard]] bool dial(place& p) {
    if (!p.wants_stream() || p.is_occupied()) return false;
    far_end* const far = answering ? answering() : nullptr;
    if (far == nullptr) return p.refuse(), true;
    streams_.push_back(std::make_shared<stream>());
    far->lose();
    p.attach(streams_.back());
    far->attach(streams_.back());
    return true;
  }

  const base::clock& time_;
  endpoint at_;
  std::shared_ptr<accept_policy> policy_;
  std::vector<std::shared_ptr<place>> places_;
  std::vector<std::shared_ptr<stream>> streams_;
};

}  // namespace garrick::net::testkit::internal::fuzzed
