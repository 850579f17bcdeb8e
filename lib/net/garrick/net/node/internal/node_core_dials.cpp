// The callers that wait for a link to an endpoint, and the outcome of the attempts to reach it.
#include <garrick/net/error.hpp>
#include <garrick/net/layer/session/handshake.hpp>
#include <garrick/net/node/internal/link_port.hpp>
#include <garrick/net/node/internal/node_core.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace garrick::net::internal {

base::error node_core::not_wanted() {
  return base::make_error(net_errc::peer_down,
                          "this node uses another link to the peer, or is stopping");
}

void node_core::dial(const endpoint& given, dial_handler done) {
  const endpoint to = given.advertised();
  if (const base::error no = may_use(to)) return done(no);
  const std::string key = to.to_string();
  std::optional<base::result<connection>> known;
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) {
      known = base::result<connection>(
          base::make_error(base::errc::shutting_down, "node", "it is stopping"));
    } else if (const auto at = dialled_.find(key); at != dialled_.end()) {
      if (!at->second.is_up) return at->second.waiting.push_back(std::move(done));
      if (!at->second.link.is_over()) known = base::result<connection>(at->second.link);
    }
    if (!known) {
      dialled wanted;
      wanted.waiting.push_back(std::move(done));
      dialled_.insert_or_assign(key, std::move(wanted));
      unreached_.forget(key);
    }
  }
  if (known) return done(std::move(*known));
  begin_link(key);
}

void node_core::begin_link(const std::string& key) {
  struct maker final : hosted_maker {
    std::shared_ptr<node_core> node;
    const named_stack* kind;
    std::string key;
    std::unique_ptr<hosted> make(carrier& below, const connection& self) override {
      std::unique_ptr<hosted> made = node->make_link_(
          node, *kind, node->settings_for(true, node->draw_secret()), below, self, key);
      const std::lock_guard lock(node->mutex_);
      if (node->is_stopping_) return nullptr;
      const auto at = node->dialled_.find(key);
      const bool is_wanted = at != node->dialled_.end();
      if (is_wanted && at->second.is_up) return nullptr;  // another link reaches the endpoint now
      node->all_.push_back(self);
      if (is_wanted) at->second.by = self;
      return made;
    }
  };
  base::error why;
  try {
    auto made = std::make_unique<maker>();
    made->node = shared_from_this();
    made->key = key;
    const endpoint to = endpoint::parse(key).value();
    made->kind = stack_for(to);
    const base::result<connection> link = source().connect(to, std::move(made));
    if (!link) why = link.error();
  } catch (const std::exception& e) {  // no memory, as a rule
    why = base::make_error(net_errc::unreachable, key, e.what());
  }
  if (why) answer_dial(key, connection(), why);
}

bool node_core::dials_again(const link_port& link, base::result<connection>& why) noexcept {
  const std::string& key = link.dialled();
  const session_settings& s = settings_.link.session;
  std::uint32_t repeat = 0;
  const base::instant now = env_.timers->now();
  base::instant due = now;
  {
    const std::lock_guard lock(mutex_);
    const auto at = dialled_.find(key);
    if (is_stopping_ || quarantined_.contains(link.peer()) || at == dialled_.end() ||
        at->second.is_up || at->second.by != link.self())
      return false;
    dialled& d = at->second;
    if (d.repeats == 0) d.until = now + s.handshake_limit;
    if (d.until <= now) {
      why = base::make_error(
          net_errc::unreachable, key,
          link.peer().to_string() + " has another link to this node, which is not in use here");
      return false;
    }
    repeat = ++d.repeats;
    if (repeat > repeats_at_once)
      d.pause = std::min(std::max(d.pause * 2, s.reopen_first), s.reopen_most);
    due = now + d.pause;
    d.by = connection();
    d.told_of = link.peer();
  }
  if (repeat <= repeats_at_once)
    begin_link(key);
  else
    begin_link_later(key, repeat, due);
  return true;
}

void node_core::begin_link_later(const std::string& key, std::uint32_t repeat, base::instant due) {
  struct later {
    std::weak_ptr<node_core> node;
    std::string key;

    static void fire(void* context, std::uint64_t repeat) {
      const std::unique_ptr<later> self(static_cast<later*>(context));
      const std::shared_ptr<node_core> node = self->node.lock();
      if (node == nullptr) return;
      {
        const std::lock_guard lock(node->mutex_);
        const auto at = node->dialled_.find(self->key);
        const bool waits = at != node->dialled_.end() && !at->second.is_up &&
                           at->second.by == connection() && at->second.repeats == repeat;
        if (!waits || node->is_stopping_) return;
      }
      node->begin_link(self->key);
    }
    static void drop(void* context, std::uint64_t) { delete static_cast<later*>(context); }
  };
  base::error why;
  try {
    auto task = std::make_unique<later>(later{weak_from_this(), key});
    static_cast<void>(env_.timers->arm(due, {&later::fire, task.get(), repeat, &later::drop}));
    static_cast<void>(task.release());
  } catch (const std::exception& e) {  // no memory
    why = base::make_error(net_errc::unreachable, key, e.what());
  }
  if (why) answer_dial(key, connection(), why);
}

std::string node_core::last_attempt(const endpoint& given, const base::error& earlier) const {
  const std::lock_guard lock(mutex_);
  return unreached_.last_attempt(given.advertised().to_string(), earlier);
}

void node_core::not_reached(const std::string& key, const base::error& why) {
  const std::lock_guard lock(mutex_);
  if (why)
    unreached_.failed(key, why);
  else
    unreached_.is_to_speak(key);
}

void node_core::reached(const std::string& key) {
  const std::lock_guard lock(mutex_);
  unreached_.forget(key);
}

/// Answers the callers that wait for this endpoint, and forgets the endpoint unless it was reached.
/// `by` is the link that was made to reach it, or none. Does nothing if another link is being made
/// by now.
void node_core::answer_dial(const std::string& key, const connection& by,
                            base::result<connection> with) {
  std::vector<dial_handler> waiting;
  {
    const std::lock_guard lock(mutex_);
    const auto at = dialled_.find(key);
    if (at == dialled_.end() || at->second.by != by) return;
    waiting = std::exchange(at->second.waiting, {});
    if (with) {
      at->second.link = *with;
      at->second.is_up = true;
      unreached_.forget(key);
    } else {
      dialled_.erase(at);
    }
  }
  for (const dial_handler& one : waiting) one(with);
}

void node_core::answer_dials(const link_port& link) {
  const peer_identity& who = link.peer();
  if (!link.dialled().empty()) answer_dial(link.dialled(), link.self(), link.self());
  std::vector<std::pair<std::string, connection>> others;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, d] : dialled_)
      if (!d.is_up && d.told_of == who && d.by != link.self()) others.emplace_back(key, d.by);
  }
  for (const auto& [key, by] : others) {
    answer_dial(key, by, link.self());
    by.insist([](hosted& h) { static_cast<link_port&>(h).leave(not_wanted()); });
  }
}

void node_core::has_session(link_port& link) {
  if (link.dialled().empty()) return;
  connection standing;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = peers_.find(link.peer()); at != peers_.end())
      standing = at->second.link;
    else if (const auto d = dialled_.find(link.dialled());
             d != dialled_.end() && d->second.by == link.self())
      d->second.told_of = link.peer();
  }
  if (standing == connection()) return;  // the link tries again, and `answer_dials` may be quicker
  answer_dial(link.dialled(), link.self(), standing);
  link.leave(not_wanted());
}

}  // namespace garrick::net::internal
