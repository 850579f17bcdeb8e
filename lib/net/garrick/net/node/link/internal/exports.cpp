#include <garrick/net/node/link/internal/exports.hpp>

#include <garrick/core/ref.hpp>

#include <algorithm>
#include <utility>

namespace garrick::net::internal {

namespace {

/// The largest window of an actor that keeps up; a power of two times `first_credit`.
constexpr std::uint32_t most_credit = 8192;
/// The most bytes in a window, estimated by the messages since the last grant.
constexpr std::uint64_t most_bytes_ahead = 1u << 20;
/// The messages granted at each look to an actor that no worker can run.
constexpr std::uint32_t granted_to_stuck = 64;

/// Returns true if the window may double. Messages beyond a hard limit, and beyond the bound of
/// most policies, are lost, and other senders that wait below a bound need room, too. So the window
/// of a bounded mailbox does not grow, and a peer takes at most a quarter of a hard limit.
bool has_room_for_twice(const core::cell& who, std::uint32_t window) noexcept {
  return window < most_credit && who.limits().policy == core::mailbox_policy::unbounded &&
         window <= who.hard_limit() / 8;
}

}  // namespace

const signature_codec* exports::entry::look_up(std::uint64_t type) const noexcept {
  for (const protocol_table* t : tables)
    if (const signature_codec* const s = t->by_type(type)) return s;
  return nullptr;
}

const content_codec* exports::entry::answer_by_type(std::uint64_t type) const noexcept {
  for (const protocol_table* t : tables)
    if (const content_codec* const c = t->answer_by_type(type)) return c;
  return nullptr;
}

const signature_codec* exports::entry::lacks(const protocol_table& as) const noexcept {
  for (const signature_codec& s : as.all()) {
    const auto has_it = [&](const protocol_table* t) {
      const signature_codec* const one = t->by_content(s.message.content);
      return one != nullptr && one->answer.content == s.answer.content;
    };
    if (std::none_of(tables.begin(), tables.end(), has_it)) return &s;
  }
  return nullptr;
}

exports::exports(std::uint64_t seed) {
  if (seed != 0) seeded_.emplace(seed);
}

std::uint64_t exports::draw() { return seeded_ ? (*seeded_)() : unguessable_(); }

exports::entries::iterator exports::find_or_add(const core::address& who) {
  if (const auto known = by_actor_.find(who); known != by_actor_.end())
    return by_id_.find(known->second);
  for (;;) {
    const actor_id id{draw(), draw()};
    if (!id) continue;
    const auto [at, is_new] = by_id_.try_emplace(id);
    if (!is_new) continue;
    try {
      by_actor_.emplace(who, id);
    } catch (...) {
      by_id_.erase(at);
      throw;
    }
    at->second.who = who;
    return at;
  }
}

actor_id exports::hold(core::cell& who, const protocol_table& as) {
  const auto at = find_or_add(core::handle_access::make_address(&who));
  entry& e = at->second;
  try {
    if (std::find(e.tables.begin(), e.tables.end(), &as) == e.tables.end()) e.tables.push_back(&as);
  } catch (...) {
    erase_if_unused(at);
    throw;
  }
  if (!std::exchange(e.held, true)) who.add_strong();
  ++e.sent;
  return at->first;
}

actor_id exports::hold_spawned(core::cell& who, const protocol_table& as) {
  const actor_id id = hold(who, as);
  if (!std::exchange(find(id)->is_spawned, true)) ++spawned_;
  return id;
}

actor_id exports::name(const core::address& who) {
  const auto at = find_or_add(who);
  ++at->second.uses;
  return at->first;
}

void exports::forget(const actor_id& id) noexcept {
  const auto at = by_id_.find(id);
  if (at == by_id_.end() || at->second.uses == 0) return;
  --at->second.uses;
  erase_if_unused(at);
}

std::optional<actor_id> exports::number_of(const core::address& who) const {
  const auto at = by_actor_.find(who);
  return at != by_actor_.end() ? std::optional(at->second) : std::nullopt;
}

bool exports::release(const actor_id& id, std::uint64_t n) noexcept {
  const auto at = by_id_.find(id);
  if (at == by_id_.end() || at->second.sent < n) return false;
  entry& e = at->second;
  e.sent -= n;
  if (e.sent != 0 || !e.held) return true;
  e.held = false;
  if (std::exchange(e.is_spawned, false)) --spawned_;
  const core::address who = e.who;
  erase_if_unused(at);
  core::handle_access::get(who)->drop_strong();
  return true;
}

void exports::erase_if_unused(entries::iterator at) noexcept {
  if (at->second.sent != 0 || at->second.uses != 0) return;
  by_actor_.erase(at->second.who);
  if (last_ == &at->second) last_ = nullptr;
  by_id_.erase(at);
}

exports::entry* exports::released_by_peer(const actor_id& id, std::uint64_t n) noexcept {
  if (n == 0 || !release(id, n)) return nullptr;
  entry* const x = find(id);
  if (x != nullptr) x->due = first_credit / 2;
  if (x != nullptr && x->large != nullptr) x->large->begins_again();
  return x;
}

/// Returns the length below which a mailbox is short. With the policy `wait` it is at most the
/// bound, so that local senders that wait below it get room, too.
std::uint32_t exports::short_mailbox(const core::cell& who, std::uint32_t window) noexcept {
  const bool lets_wait = who.limits().policy == core::mailbox_policy::wait;
  return lets_wait ? std::min(who.soft_limit(), window / 2) : window / 2;
}

std::uint32_t exports::grant(const actor_id& id, entry& x, bool keeps_up) {
  if (keeps_up) {
    std::uint32_t number = std::exchange(x.taken, 0);
    const std::uint64_t ahead = 2 * std::uint64_t{x.window} * x.taken_bytes / number;
    if (ahead <= most_bytes_ahead &&
        has_room_for_twice(*core::handle_access::get(x.who), x.window)) {
      number += x.window;
      x.due = x.window;
      x.window *= 2;
    }
    x.taken_bytes = 0;
    return number;
  }
  // After `released_by_peer` the peer may have less credit than the window. Then the window is not
  // halved: the peer would wait without end for the messages that the halving takes away.
  if (x.window > first_credit && x.due == x.window / 2) {
    x.window = x.due;  // the half that was taken is not granted again
    x.taken -= x.window;
    x.due = x.window / 2;
  }
  owe(id, x);
  x.is_owed = true;
  return 0;
}

/// Notes the actor of a grant that is owed, unless another one is owed to it.
void exports::owe(const actor_id& id, const entry& x) {
  if (!x.is_owed && (x.large == nullptr || !x.large->is_owed)) owed_.push_back(id);
}

bool exports::took_large(entry& x, std::size_t bytes) {
  if (x.large == nullptr) x.large = std::make_unique<large_mail>();
  if (x.large->exceeds()) return false;
  x.large->took(bytes);
  return true;
}

std::uint64_t exports::grant_bytes(const actor_id& id, entry& x, std::size_t fresh) {
  const core::cell* const who = core::handle_access::get(x.who);
  large_mail& large = *x.large;
  std::uint64_t bytes = 0;
  if (who->is_elsewhere())
    bytes = large.grant_passed_on(static_cast<const core::proxy_cell*>(who)->credit() >= 0);
  else
    bytes = large.grant(who->has_ended() ? 0 : who->mailbox_length() + fresh);
  if (std::exchange(large.is_owed, false)) {
    owe(id, x);
    large.is_owed = true;
  }
  return bytes;
}

/// Returns true if no worker can run the actor, and more messages may wait for it.
bool exports::is_stuck(const core::cell& who) noexcept {
  return !who.is_elsewhere() && who.waits_for_waiting_workers() &&
         who.limits().policy == core::mailbox_policy::unbounded &&
         who.mailbox_length() < who.hard_limit() / 2;
}

std::uint64_t exports::grant_bytes_to_stuck(entry& x) noexcept {
  const core::cell* const who = core::handle_access::get(x.who);
  if (x.large == nullptr || !x.large->is_due() || !is_stuck(*who)) return 0;
  return x.large->grant_to_stuck(who->mailbox_length());
}

std::uint32_t exports::grant_to_stuck(entry& x, bool keeps_up) noexcept {
  const core::cell* const who = core::handle_access::get(x.who);
  if (x.taken == 0 || keeps_up || !is_stuck(*who)) return 0;
  const std::uint32_t number = std::min(x.taken, granted_to_stuck);
  x.taken_bytes -= x.taken_bytes / x.taken * number;
  x.taken -= number;
  return number;
}

std::vector<actor_id> exports::take_owed() {
  std::vector<actor_id> all = std::exchange(owed_, {});
  for (const actor_id& id : all)
    if (entry* const x = find(id)) {
      x->is_owed = false;
      if (x->large != nullptr) x->large->is_owed = false;
    }
  return all;
}

void exports::clear() noexcept {
  last_ = nullptr;
  const entries all = std::exchange(by_id_, {});
  by_actor_.clear();
  spawned_ = 0;
  for (const auto& [id, e] : all)
    if (e.held) core::handle_access::get(e.who)->drop_strong();
}

}  // namespace garrick::net::internal
