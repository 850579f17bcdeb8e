#include <garrick/net/node/internal/node_core.hpp>

#include <garrick/base/platform/assert.hpp>
#include <garrick/base/values/random.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/session/handshake.hpp>
#include <garrick/net/node/internal/link_port.hpp>
#include <garrick/net/node/internal/unguessable_numbers.hpp>
#include <garrick/net/siphash.hpp>
#include <garrick/net/stack/accept_sessions.hpp>

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

namespace garrick::net::internal {

namespace {

/// Returns the identity of this life. Draws the parts that the settings leave open: from the seed,
/// or from the system if that is 0.
peer_identity life_of(const node_settings& s, std::uint64_t seed) {
  base::random_source seeded(seed);
  unguessable_numbers unguessable;
  const auto number = [&] { return seed != 0 ? seeded() : unguessable(); };
  peer_identity self{s.id, s.incarnation};
  if (self.node == node_id{}) self.node = {number(), number()};
  while (self.incarnation == 0) self.incarnation = number();
  return self;
}

/// Returns true if the endpoint is only reachable from within this machine.
bool is_of_this_machine(const endpoint& e) {
  if (e.kind() == transport_kind::unix_stream) return true;
  if (!e.is_numeric()) return e.host() == "localhost";  // "127.org" is somewhere else
  return e.host() == "::1" || e.host().starts_with("127.");
}

}  // namespace

/// Finds the session of a peer that comes back, and makes links for other newcomers.
class node_core::policy final : public accept_sessions {
 public:
  policy(std::weak_ptr<node_core> node, const named_stack& kind, std::uint64_t seed)
      : accept_sessions(peer_return::same_life, seed), node_(std::move(node)), kind_(kind) {}

 private:
  std::optional<denial> objection(const arrival& from, const hello& who) override {
    const std::shared_ptr<node_core> node = node_.lock();
    if (node == nullptr) return {};
    if (node->is_quarantined(who.self)) return refusal::given_up;
    if (node->has_living_rival_now(who.self)) return refusal::has_session;
    std::optional<std::string> no =
        node->objection({who.self, who.program, from.remote.to_string(), false});
    if (no) return denial(refusal::not_allowed, std::move(*no));
    return {};
  }
  std::optional<peer_identity> self() const override {
    const std::shared_ptr<node_core> node = node_.lock();
    if (node == nullptr) return {};
    return node->self();
  }
  std::unique_ptr<hosted> make_session(const arrival&, const hello& who, std::uint64_t secret,
                                       carrier& below, const connection& self) override {
    const std::shared_ptr<node_core> node = node_.lock();
    if (node == nullptr) return nullptr;
    std::unique_ptr<hosted> made =
        node->make_link_(node, kind_, node->settings_for(false, secret), below, self, {});
    connection displaced;
    {
      const std::lock_guard lock(node->mutex_);
      if (node->is_stopping_) return nullptr;
      node->all_.push_back(self);
      displaced = node->add_newcomer(self, who.self.node, this);
    }
    if (displaced != connection())
      displaced.insist([](hosted& h) {
        static_cast<link_port&>(h).shut(
            base::make_error(net_errc::denied, "a node", "too many links of one node id"));
      });
    return made;
  }

  const std::weak_ptr<node_core> node_;
  const named_stack& kind_;
};

node_core::node_core(core::environment& env, node_settings s, link_maker make_link)
    : env_(env), make_link_(make_link), settings_(std::move(s)) {
  if (settings_.source == nullptr)
    settings_.source =
        std::make_shared<socket_source>(settings_.io, settings_.transport, settings_.accept);
  const std::uint64_t seed = settings_.source->seed();
  self_ = life_of(settings_, seed);
  if (settings_.seed == 0) settings_.seed = seed;
  draws_ = base::random_source(settings_.seed != 0 ? settings_.seed : unguessable_numbers()());
  if (settings_.idle_workers_read) settings_.source->share_with(*env.workers);
  env_.hold();
}

node_core::~node_core() { env_.release(); }

const std::string& node_core::stack_name_for(const endpoint& e) const {
  return e.kind() == transport_kind::udp ? settings_.datagram_stack : settings_.stream_stack;
}

const named_stack* node_core::stack_for(const endpoint& e) const {
  return settings_.stacks.find(stack_name_for(e));
}

link_settings node_core::settings_for(bool connects, std::uint64_t secret) const {
  link_settings s = settings_.link;
  s.session.self = self_;
  s.session.connects = connects;
  s.session.program = settings_.program;
  s.session.capabilities.add(hears_of_sessions);
  s.session.secret = secret;
  if (settings_.seed == 0) s.session.seed = unguessable_numbers()();
  return s;
}

std::uint64_t node_core::draw_secret() {
  if (settings_.seed == 0) return unguessable_numbers()();
  // order: relaxed, the number alone matters.
  return siphash({settings_.seed, self_.incarnation},
                 {secrets_drawn_.fetch_add(1, std::memory_order_relaxed)});
}

base::error node_core::wrong_process() const {
  if (!env_.is_copy()) return {};
  return base::make_error(base::errc::would_block, "a node",
                          "this process is a fork of the one that made the node, whose threads are "
                          "not here");
}

base::error node_core::may_use(const endpoint& e) const {
  if (base::error no = wrong_process()) return no;
  if (base::error no = check_without_stacks(settings_)) return no;
  // Otherwise the first peer's handshake would reveal the fault.
  const bool udp = e.kind() == transport_kind::udp;
  if (base::error no = check_stack(settings_, udp ? carrier_kind::datagrams : carrier_kind::stream))
    return no;
  if (settings_.insecure || is_of_this_machine(e)) return {};
  return base::make_error(net_errc::denied, e.to_string(),
                          "beyond this machine peers have to be authenticated; "
                          "node_settings::insecure does without");
}

base::result<endpoint> node_core::listen(const endpoint& at) {
  if (const base::error no = may_use(at)) return no;
  base::result<listener> door = source().listen(
      at, std::make_shared<policy>(weak_from_this(), *stack_for(at), settings_.seed));
  if (!door) return door.error();
  const endpoint local = door->local();
  // The default is lowered on most machines, and without a word.
  const std::size_t most = door->counters().lowered_to;
  if (most != 0 && settings_.accept.connections != accept_limits().connections)
    env_.warn("node", "lowered",
              local.to_string() + ": accept.connections is lowered to " + std::to_string(most) +
                  ", half of the descriptors that this process may have (RLIMIT_NOFILE)");
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return base::make_error(base::errc::shutting_down, "node", "it is stopping");
  listeners_.push_back(std::move(*door));
  return local.advertised();
}

std::optional<std::string> node_core::objection(const applicant& who) const {
  if (settings_.admission == nullptr) return {};
  // The text of an exception may hold a secret, so it goes to this node's log alone.
  const auto failed = [&](std::string_view why) {
    env_.warn("node", "admission failed",
              "node_settings::admission has thrown at " + who.who.to_string() + " (" +
                  std::string(who.at) + "), which is refused: " + std::string(why));
    return "the admission policy has failed";
  };
  try {
    return settings_.admission->objection(who);
  } catch (const std::exception& e) { return failed(e.what()); } catch (...) {
    return failed("no std::exception");
  }
}

std::shared_ptr<foreign_names> node_core::names_of(const node_id& peer) {
  const std::lock_guard lock(mutex_);
  std::erase_if(names_of_categories_, [](const auto& entry) {
    return entry.second.use_count() == 1 && entry.second->empty();
  });
  std::shared_ptr<foreign_names>& found = names_of_categories_[peer];
  if (found == nullptr) found = std::make_shared<foreign_names>();
  return found;
}

void node_core::opened(link_port& link) {
  const peer_identity who = link.peer();
  // An applicant that has connected to this node was judged before there was a link.
  if (const hello* const says = link.says(); says != nullptr && !link.dialled().empty())
    if (const auto no = objection({who, says->program, link.dialled(), true}))
      return link.leave(base::make_error(net_errc::denied, link.dialled(), *no));
  bool is_unwanted = false;
  bool is_given_up = false;
  bool lets_use = false;
  const bool decides = self_ < who;
  std::vector<connection> others;
  base::result<connection> in_use = base::error(net_errc::peer_down);
  {
    const std::lock_guard lock(mutex_);
    is_given_up = quarantined_.contains(who);
    is_unwanted = is_given_up || is_stopping_ || (decides && !takes_over(link, others));
    if (decides && !is_unwanted) {
      const auto [at, is_first] = peers_.try_emplace(who, peer_link{link.self()});
      lets_use = is_first;
      if (lets_use) forget_newcomer(link.self());
      is_unwanted = !is_first && at->second.link != link.self();
      in_use = at->second.link;
    }
  }
  end_lives(others);
  if (is_unwanted) {
    if (in_use && !link.dialled().empty()) answer_dial(link.dialled(), link.self(), in_use);
    if (!is_given_up) return link.leave(not_wanted());
    return link.leave(
        base::make_error(net_errc::peer_down, "this node has given its incarnation up"));
  }
  if (!lets_use) return;
  link.let_use();
  answer_dials(link);
  tell(who, peer_change::up, {});
}

bool node_core::has_living_rival(const peer_identity& who) const {
  for (auto at = peers_.lower_bound({who.node, 0});
       at != peers_.end() && at->first.node == who.node; ++at)
    if (at->first != who && at->second.answers) return true;
  return false;
}

bool node_core::has_living_rival_now(const peer_identity& who) const {
  const std::lock_guard lock(mutex_);
  return has_living_rival(who);
}

bool node_core::takes_over(const link_port& link, std::vector<connection>& others) const {
  const peer_identity& who = link.peer();
  if (link.dialled().empty() && has_living_rival(who)) return false;
  for (auto at = peers_.lower_bound({who.node, 0});
       at != peers_.end() && at->first.node == who.node; ++at)
    if (at->first != who) others.push_back(at->second.link);
  return true;
}

connection node_core::add_newcomer(const connection& link, const node_id& id, const void* by) {
  std::vector<std::size_t> same;
  for (std::size_t i = 0; i != newcomers_.size(); ++i)
    if (newcomers_[i].id == id && newcomers_[i].by == by) same.push_back(i);
  newcomers_.push_back({link, id, by});
  if (same.size() < most_newcomers) return {};
  newcomer& drawn = newcomers_[same[draws_.below(static_cast<std::uint32_t>(same.size()))]];
  const connection displaced = drawn.link;
  drawn = std::move(newcomers_.back());
  newcomers_.pop_back();
  return displaced;
}

void node_core::forget_newcomer(const connection& link) noexcept {
  std::erase_if(newcomers_, [&](const newcomer& one) { return one.link == link; });
}

void node_core::end_lives(const std::vector<connection>& links) {
  for (const connection& old : links)
    old.insist([](hosted& h) {
      static_cast<link_port&>(h).shut(
          base::make_error(net_errc::node_down, "its node came back as another one"));
    });
}

void node_core::usable(link_port& link) {
  const peer_identity who = link.peer();
  bool is_unwanted = false;
  std::vector<connection> others;
  connection earlier;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = peers_.find(who); at != peers_.end()) {
      // The peer's end of that link is over, and this end does not know it yet.
      earlier = at->second.link;
      GARRICK_ASSERT(earlier != link.self(), "that a link may be used is said once");
      peers_.erase(at);
      if (settings_.after_down == peer_return::new_life_only) quarantined_.add(who);
    }
    // Other lives may have come into use since this link opened.
    is_unwanted = quarantined_.contains(who) || is_stopping_ || !takes_over(link, others);
    if (!is_unwanted) peers_.emplace(who, peer_link{link.self()});
    forget_newcomer(link.self());
  }
  if (!is_unwanted) end_lives(others);
  if (earlier != connection()) {
    const base::error why =
        base::make_error(net_errc::node_down, who.to_string(), "it has begun another session");
    earlier.insist([why](hosted& h) { static_cast<link_port&>(h).shut(why); });
    tell(who, peer_change::down, why);
  }
  if (is_unwanted)
    return link.shut(base::make_error(net_errc::node_down,
                                      "it is in quarantine or has another life, or this "
                                      "one ends"));
  link.let_use();
  answer_dials(link);
  tell(who, peer_change::up, {});
}

void node_core::noticed(const link_port& link, const peer_evidence& what) {
  const peer_identity& who = link.peer();
  {
    const std::lock_guard lock(mutex_);
    const auto at = peers_.find(who);
    if (at == peers_.end() || at->second.link != link.self()) return;
    using enum peer_evidence::kind;
    if (what.what == suspected || what.what == disconnected) at->second.answers = false;
    if (what.what == trusted || what.what == resumed) at->second.answers = true;
  }
  for (const auto& one : listening()) one->noticed(who, what);
}

void node_core::closed(link_port& link, const base::error& why) noexcept {
  bool was_in_use = false;
  bool was_up = false;  // if so, its callers were answered, and later ones wait for another link
  base::result<connection> other = why ? why : base::error(net_errc::peer_down);
  {
    const std::lock_guard lock(mutex_);
    std::erase(all_, link.self());
    forget_newcomer(link.self());
    const auto at = peers_.find(link.peer());
    if (at != peers_.end() && at->second.link == link.self()) {
      peers_.erase(at);
      was_in_use = true;
      if (settings_.after_down == peer_return::new_life_only) quarantined_.add(link.peer());
    } else if (at != peers_.end()) {
      other = at->second.link;  // another link was preferred to this one
    }
    if (was_in_use)
      was_up = std::erase_if(dialled_, [&](const auto& d) {
                 return d.second.is_up && d.second.link == link.self();
               }) != 0;
  }
  const bool peer_decides = link.peer() < self_ && why == net_errc::node_down;
  if (!link.dialled().empty() && !was_up &&
      (other || was_in_use || !peer_decides || !dials_again(link, other)))
    answer_dial(link.dialled(), link.self(), other);
  if (was_in_use) tell(link.peer(), peer_change::down, why);
}

bool node_core::is_quarantined(const peer_identity& who) const {
  const std::lock_guard lock(mutex_);
  return quarantined_.contains(who);
}

std::vector<link_count> node_core::counters(const peer_identity& who) const {
  if (env_.is_copy()) return {};
  connection link;
  {
    const std::lock_guard lock(mutex_);
    const auto at = peers_.find(who);
    if (at == peers_.end()) return {};
    link = at->second.link;
  }
  std::promise<std::vector<link_count>> told;
  std::future<std::vector<link_count>> all = told.get_future();
  link.insist([told = std::move(told)](hosted& h) mutable {
    try {
      told.set_value(static_cast<link_port&>(h).counters());
    } catch (const std::bad_alloc&) {
      told.set_exception(std::current_exception());  // thrown in the caller, not in the link
    }
  });
  try {
    return all.get();
  } catch (const std::future_error&) {  // the visit was not made: the link is over
    return {};
  }
}

void node_core::quarantine(const peer_identity& who) {
  if (env_.is_copy()) return;
  std::vector<connection> links;
  {
    const std::lock_guard lock(mutex_);
    quarantined_.add(who);
    links = all_;  // including links that are not in use yet
  }
  // A visit is made when no thread is in the link, so nothing is delivered after it. If the visit
  // waits in line, this thread waits for it. A visit that is never made breaks the promise: then
  // the link is over.
  for (const connection& link : links) {
    std::promise<void> shut;
    const std::future<void> is_shut = shut.get_future();
    link.insist([&who, shut = std::move(shut)](hosted& h) mutable {
      auto& port = static_cast<link_port&>(h);
      if (port.peer() == who)
        port.shut(base::make_error(net_errc::node_down, "it is in quarantine"));
      shut.set_value();
    });
    is_shut.wait();
  }
}

base::result<connection> node_core::link_to(const peer_identity& who) const {
  if (who == self_)
    return base::make_error(net_errc::refused, who.to_string(), "that is this node itself");
  const std::lock_guard lock(mutex_);
  const auto at = peers_.find(who);
  if (at != peers_.end()) return at->second.link;
  return base::make_error(net_errc::node_down, who.to_string(), "it is no peer now");
}

std::vector<peer_identity> node_core::peers() const {
  if (env_.is_copy()) return {};
  const std::lock_guard lock(mutex_);
  std::vector<peer_identity> all;
  all.reserve(peers_.size());
  for (const auto& [who, link] : peers_) all.push_back(who);
  return all;
}

void node_core::subscribe(std::shared_ptr<peer_listener> who) {
  if (env_.is_copy()) return;
  const std::lock_guard lock(mutex_);
  subscribers_.push_back(std::move(who));
}

std::vector<std::shared_ptr<peer_listener>> node_core::listening() const {
  const std::lock_guard lock(mutex_);
  return subscribers_;
}

void node_core::tell(const peer_identity& who, peer_change what, const base::error& why) {
  for (const auto& one : listening()) one->changed(who, what, why);
}

void node_core::stop() noexcept {
  std::vector<connection> links;
  std::vector<listener> doors;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_stopping_, true)) return;
    links = all_;
    doors = std::exchange(listeners_, {});
  }
  doors.clear();
  const base::error why = base::make_error(net_errc::node_down, self_.to_string(), "it has left");
  // If a peer confirms all messages under way within half of the limit, its link ends at once.
  for (const connection& link : links)
    link.insist([why](hosted& h) { static_cast<link_port&>(h).finish(why); });
  const base::duration half = settings_.leave_limit / 2;
  source().wait_for_end(links, half);
  for (const connection& link : links)
    link.insist([why](hosted& h) { static_cast<link_port&>(h).leave(why); });
  source().wait_for_end(links, settings_.leave_limit - half);
  source().stop();
  std::map<std::string, published, std::less<>> names;
  std::map<std::string, dialled> never_made;
  {
    const std::lock_guard lock(mutex_);
    names = std::exchange(names_, {});
    never_made = std::exchange(dialled_, {});
  }
  // All links have ended and called `closed`. The callers left over wait for links never made.
  const base::error stopped = base::make_error(base::errc::shutting_down, "node", "it is stopping");
  for (const auto& [key, d] : never_made)
    for (const dial_handler& one : d.waiting) one(stopped);
  for (const auto& [name, p] : names) core::handle_access::get(p.who)->drop_strong();
}

}  // namespace garrick::net::internal
