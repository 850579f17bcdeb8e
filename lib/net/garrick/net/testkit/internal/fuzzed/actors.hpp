// The actors of a node that is fuzzed: they use each handle in every way that an actor may, and
// count the messages that they get.
//
// Thread safety: one thread at a time.
#pragma once

#include <garrick/base/platform/assert.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace garrick::net::testkit::internal::fuzzed {

struct say {
  std::string words;
};
struct ask {
  std::int64_t n = 0;
};
using hidden_type = core::protocol<std::int64_t(ask)>;
struct bring {
  ref<hidden_type> who;
};
using guest_type = core::protocol<void(say), std::int64_t(ask), void(bring)>;

struct keep {
  ref<guest_type> who;
  std::uint8_t how = 0;
};
struct crowd {
  std::vector<ref<guest_type>> all;
  std::map<std::string, std::int64_t> more;
};
struct give {
  std::uint8_t what = 0;
};
struct later {
  std::uint8_t n = 0;
};
struct pass {
  std::uint8_t n = 0;
};
/// For the host alone: peers may not send it.
struct act {
  std::uint8_t what = 0;
  std::string name;
};
using host_type = core::protocol<void(say), std::int64_t(ask), void(keep), void(crowd),
                                 ref<guest_type>(give), std::int64_t(later), std::int64_t(pass)>;

class keeper;

/// The shared state of all actors of one run.
struct house {
  node* self = nullptr;
  peer_identity stranger{};
  std::size_t handled = 0;  ///< messages and requests that a guest or the host has got
  std::size_t allowed = 0;  ///< the most that were sent to them
  std::size_t guests = 0;   ///< the number of living guests
  std::size_t hidden_asked = 0;
  std::set<keeper*> keepers{};

  static inline house* here = nullptr;
};

/// An actor that has handles, and can be made to forget them.
class keeper {
 public:
  keeper() { house::here->keepers.insert(this); }
  keeper(const keeper&) = delete;
  keeper& operator=(const keeper&) = delete;
  ~keeper() { house::here->keepers.erase(this); }

  void forget() {
    kept_.clear();
    brought_.clear();
    promises_.clear();
    owed_.clear();
  }
  [[nodiscard]] const std::vector<ref<guest_type>>& kept() const noexcept { return kept_; }

 protected:
  static constexpr std::size_t most = 12;
  template <class T>
  static void add(std::vector<T>& to, T what) {
    if (to.size() == most) to.erase(to.begin());
    to.push_back(std::move(what));
  }
  std::vector<ref<guest_type>> kept_;
  std::vector<ref<hidden_type>> brought_;
  std::vector<response_promise<std::int64_t>> promises_;
  std::vector<response_promise<ref<guest_type>>> owed_;
};

/// An actor that only the holders of its handle may reach.
class hidden : public actor<core::protocol<std::int64_t(ask), void(exit_signal)>> {
 public:
  hidden() { trap_exit(true); }
  std::int64_t on(ask a) {
    ++house::here->hidden_asked;
    return a.n + 1;
  }
  void on(const exit_signal&) { GARRICK_ASSERT(false, "an exit of an actor that was never named"); }
};

/// An actor that is shown to peers, and spawned for them.
class guest : public actor<core::protocol<void(say), result<std::int64_t>(ask), void(bring),
                                          void(down), void(exit_signal)>>,
              public keeper {
 public:
  guest(const std::string& name, std::int64_t n) : is_late_(name == "late") {
    if (name == "none") throw std::runtime_error("no guest has this name");
    if (n % 2 != 0) trap_exit(true);
    ++house::here->guests;
  }
  ~guest() { --house::here->guests; }

  void on_start() {
    if (is_late_) throw std::runtime_error("too late");
  }
  void on(const say& s) {
    ++house::here->handled;
    if (s.words == "quit") quit();
    if (s.words == "fail") throw std::runtime_error(s.words);
  }
  result<std::int64_t> on(ask a) {
    ++house::here->handled;
    if (a.n < 0) return make_error(errc::user, "guest", "no");
    if (a.n % 4 != 3) return a.n + 1;
    add(promises_, make_promise<std::int64_t>());
    return promises_.back();
  }
  void on(const bring& b) {
    ++house::here->handled;
    add(brought_, b.who);
    if (!b.who) return;
    ++house::here->allowed;  // `who` may be a guest or the host itself
    request(b.who, ask{1}).then([](std::int64_t) {}, [](const error&) {});
  }
  void on(const down&) {}
  void on(const exit_signal&) {}

 private:
  const bool is_late_;
};

/// An actor that is spawned with a handle.
class companion : public actor<guest_type>, public keeper {
 public:
  explicit companion(ref<guest_type> whose) {
    ++house::here->guests;
    if (whose) {
      link(whose);
      ++house::here->allowed;
      send(whose, say{"here"});
    }
    add(kept_, std::move(whose));
  }
  ~companion() { --house::here->guests; }
  void on(const say&) { ++house::here->handled; }
  std::int64_t on(ask a) {
    ++house::here->handled;
    return a.n;
  }
  void on(const bring&) { ++house::here->handled; }
};

/// The actor that is published.
class host
    : public actor<core::protocol<void(say), std::int64_t(ask), void(keep), void(crowd),
                                  result<ref<guest_type>>(give), result<std::int64_t>(later),
                                  std::int64_t(pass), void(act), void(down), void(exit_signal)>>,
      public keeper {
 public:
  host() { trap_exit(true); }

  void on(const say&) { ++house::here->handled; }
  std::int64_t on(ask a) {
    ++house::here->handled;
    return a.n + 1;
  }
  void on(const keep& k) {
    ++house::here->handled;
    add(kept_, k.who);
    use(k.who, k.how);
  }
  void on(const crowd& c) {
    ++house::here->handled;
    for (const auto& one : c.all) add(kept_, one);
  }
  result<ref<guest_type>> on(give g) {
    ++house::here->handled;
    switch (g.what % 5) {
      case 0: return ref<guest_type>(spawn<guest>(std::string("own"), std::int64_t{g.what}));
      case 1: return own();
      case 2: return kept_.empty() ? ref<guest_type>() : kept_[g.what % kept_.size()];
      case 3: add(owed_, make_promise<ref<guest_type>>()); return owed_.back();
      default: return ref<guest_type>();
    }
  }
  result<std::int64_t> on(later) {
    ++house::here->handled;
    add(promises_, make_promise<std::int64_t>());
    return promises_.back();
  }
  auto on(pass p) {
    ++house::here->handled;
    const ref<guest_type> to = some(p.n);
    ++house::here->allowed;
    return delegate(to ? to : own(), ask{p.n});
  }
  void on(const act& a) {
    switch (a.what % 12) {
      case 0: return answer_all();
      case 1: promises_.clear(); return owed_.clear();
      case 2: return forget();
      case 3: return let_go();
      case 4: return quit();
      case 5: return look_up(a.name);
      case 6: return have_spawned(a.name, a.what);
      case 7:
        for (const auto& one : std::vector(kept_)) use(one, 8 | 4);
        return;
      case 8:
        for (const auto& one : std::vector(kept_)) use(one, 16 | 1 | 2);
        return;
      case 9: return tell_all();
      case 10: own_ = {}; return;
      default: dial(a.name);
    }
  }
  void on(const down&) {}
  void on(const exit_signal&) {}

 private:
  [[nodiscard]] ref<guest_type> own() {
    if (!own_) own_ = spawn<guest>(std::string("own"), std::int64_t{1});
    return own_;
  }
  [[nodiscard]] ref<guest_type> some(std::size_t n) const {
    return kept_.empty() ? ref<guest_type>() : kept_[n % kept_.size()];
  }
  void use(const ref<guest_type>& who, unsigned how) {
    if (!who) return;
    const auto nothing = [](const error&) {};
    if ((how & 1) != 0) add(monitors_, monitor(who));
    if ((how & 2) != 0) link(who);
    house::here->allowed += 8;
    if ((how & 4) != 0) send(who, say{"some words"});
    if ((how & 8) != 0) request(who, ask{how}).then([](std::int64_t) {}, nothing);
    if ((how & 16) != 0)
      request(who, ask{how}, duration::milliseconds(30)).then([](std::int64_t) {}, nothing);
    if ((how & 32) != 0) send_urgent(who, say{"soon"});
    if ((how & 64) != 0) send(who, bring{});
    if ((how & 128) != 0) send(who, say{std::string(3000, 'x')});
  }
  void answer_all() {
    for (auto& one : std::exchange(promises_, {})) one.deliver(std::int64_t{5});
    for (auto& one : std::exchange(owed_, {})) one.deliver(own());
  }
  void let_go() {
    for (const auto& one : std::exchange(monitors_, {})) demonitor(one);
    for (const auto& one : kept_)
      if (one) unlink(one);
  }
  void look_up(const std::string& name) {
    house::here->self->remote<guest_type>(*this, house::here->stranger, name)
        .within(duration::milliseconds(40))
        .then([this](ref<guest_type> found) { add(kept_, std::move(found)); }, [](const error&) {});
  }
  void have_spawned(const std::string& name, std::size_t n) {
    house::here->self
        ->spawn<guest_type>(*this, house::here->stranger, name, some(n), std::int64_t{3})
        .then([this](ref<guest_type> found) { add(kept_, std::move(found)); }, [](const error&) {});
  }
  void dial(const std::string& to) {
    house::here->self->connect(*this, to).then([](const peer_identity&) {}, [](const error&) {});
  }
  void tell_all() {
    for (const auto& one : std::vector(kept_))
      for (unsigned i = 0; i < 12; ++i) use(one, i % 4 == 3 ? 128 : 4);
  }

  ref<guest_type> own_;
  std::vector<monitor_id> monitors_;
};

}  // namespace garrick::net::testkit::internal::fuzzed
