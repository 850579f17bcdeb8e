#include "garrick/net/stack/accept_sessions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "garrick/base/platform/platform.hpp"
#include "garrick/base/time/clock.hpp"
#include "garrick/net/layer/framing.hpp"
#include "garrick/net/layer/session/secrets.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {
namespace {

constexpr auto cookie_step = base::duration::seconds(10);

/// Returns a key made from the seed, or a key of the system's randomness if the seed is 0.
siphash_key key_of(std::uint64_t seed, std::uint64_t use) {
  if (seed != 0) return {seed, use};
  std::array<std::uint64_t, 2> drawn{};
  base::platform::draw_unguessable(std::as_writable_bytes(std::span(drawn)));
  return {drawn[0], drawn[1]};
}

bool is_datagram(const arrival& from) { return from.local.kind() == transport_kind::udp; }

packet words_for(const arrival& from, const refusal_notice& why) {
  packet words = packet::with_room(framing::header_size, largest_hello);
  encode_refusal(why, words);
  const auto size = static_cast<std::uint32_t>(words.size());
  if (!is_datagram(from)) store_le(words.prepend(framing::header_size), size);
  return words;
}

refusal_notice notice_of(refusal why, const hello& to) {
  return {why, {}, to.self.incarnation, {}, {}, to.resumes ? 0 : to.number};
}

}  // namespace

accept_sessions::accept_sessions(peer_return after_down, std::uint64_t seed)
    : after_down_(after_down), secrets_(key_of(seed, 1)), cookies_(key_of(seed, 2)) {}

peeked accept_sessions::peek(const arrival& from) {
  return is_datagram(from) ? peek_datagram(from.bytes) : peek_stream(from.bytes);
}

std::size_t accept_sessions::wants() const { return framing::header_size + largest_hello; }

bool accept_sessions::may_begin(std::span<const std::byte> datagram) const noexcept {
  return has_mark(datagram) && static_cast<session_packet>(datagram[0]) == session_packet::hello;
}

std::uint64_t accept_sessions::cookie_for(const arrival& from, const hello& says,
                                          std::int64_t steps_before) const {
  const std::int64_t step = (from.now - base::instant()).count() / cookie_step.count();
  const std::string address = from.remote.to_string();
  const std::uint64_t place = siphash(cookies_, std::as_bytes(std::span(address)));
  return cookie_of({cookies_.low + static_cast<std::uint64_t>(step - steps_before), cookies_.high},
                   says, place);
}

verdict accept_sessions::challenge(const arrival& from, const hello& says) const {
  hello h;
  h.versions = says.versions;  // a policy has no versions and no layers of its own
  h.self = self().value_or(peer_identity{{}, 1});
  h.to = says.self.incarnation;
  h.layers = says.layers;
  h.number = cookie_for(from, says, 0);
  h.proof = says.number;
  packet words = packet::with_room(0, largest_hello);
  encode_hello(session_packet::challenge, h, words);
  return verdict::more(std::move(words));
}

verdict accept_sessions::look(const arrival& from) {
  const peeked first = peek(from);
  switch (first.what) {
    case peeked::kind::incomplete: return verdict::more();
    case peeked::kind::foreign: return verdict::refuse();
    case peeked::kind::found: break;
  }
  if (is_datagram(from)) {
    if (first.says.resumes) return verdict::refuse();
    if (first.says.proof != cookie_for(from, first.says, 0) &&
        first.says.proof != cookie_for(from, first.says, 1)) {
      const std::lock_guard lock(mutex_);
      return challenge(from, first.says);
    }
  }
  std::optional<denial> why = objection(from, first.says);
  const std::lock_guard lock(mutex_);
  if (!why && may_not_return(first.says.self)) why = refusal::given_up;
  if (why) {
    refusal_notice notice = notice_of(why->why, first.says);
    notice.words = std::move(why->words);
    return verdict::refuse(words_for(from, notice));
  }
  return decide(from, first.says);
}

bool accept_sessions::may_not_return(const peer_identity& who) const {
  if (quarantined_.contains(who)) return true;
  if (after_down_ != peer_return::new_life_only) return false;
  const auto found = known_.find(who);
  return found != known_.end() && found->second.link.is_over() && found->second.link.was_admitted();
}

verdict accept_sessions::known_peer::resumed_by(const arrival& now, const hello& says) {
  const siphash_key session = session_key(secret, secret_of_peer);
  // The session of that hello is another one, which is over.
  if (says.proof != resume_proof(session, session_packet::hello, says))
    return verdict::refuse(words_for(now, notice_of(refusal::no_session, says)));
  // It is late: the peer uses the stream of a later attempt by now.
  if (says.number <= last_attempt) return verdict::refuse();
  last_attempt = says.number;
  knocks_anew.reset();
  return verdict::join(link);
}

bool accept_sessions::known_peer::is_given_up(base::instant now, const hello& says) {
  if (link.is_connected()) knocks_anew.reset();
  if (link.is_connected() || !says.begins_anew) return false;
  if (!knocks_anew) knocks_anew = now;
  return now - *knocks_anew >= time_to_resume;
}

verdict accept_sessions::decide(const arrival& from, const hello& says) {
  const auto found = known_.find(says.self);
  if (found == known_.end()) return verdict::start();
  known_peer& known = found->second;
  if (known.link.is_over()) {
    // A peer whose link was never admitted may still be sending its hello from this address.
    const bool is_late =
        is_datagram(from) && known.from == from.remote && known.link.was_admitted();
    return is_late ? verdict::refuse() : verdict::start();
  }
  if (!is_datagram(from) && says.resumes) return known.resumed_by(from, says);
  // The peer has never got the answer to its hello, and sends it again. Otherwise it has not lost
  // the stream, or this end has not noticed the loss yet: then the peer tries again.
  if (!is_datagram(from) && !known.link.is_connected() && says.number == known.secret_of_peer)
    return verdict::join(known.link);
  if (!is_datagram(from) && known.is_given_up(from.now, says)) return verdict::join(known.link);
  // Datagrams from a link's address go to the link, so such a one comes from another address. A
  // peer that begins another session may have connected to another address of this process.
  const std::optional<peer_identity> me = named_to(says);
  if (!me) return verdict::refuse();
  refusal_notice notice = notice_of(refusal::has_session, says);
  notice.self = *me;
  return verdict::refuse(words_for(from, notice));
}

std::optional<peer_identity> accept_sessions::named_to(const hello& says) const {
  if (!says.capabilities.has(hears_of_sessions)) return {};
  return self();
}

connection accept_sessions::claim(const arrival& from, const connection& fresh) {
  const peeked first = peek(from);
  if (first.what != peeked::kind::found) return {};
  const std::lock_guard lock(mutex_);
  if (may_not_return(first.says.self)) return {};  // since `look`
  const verdict v = decide(from, first.says);
  if (v.what() != verdict::kind::start) return v.to();
  remember(first.says, fresh, from.remote);
  return fresh;
}

std::unique_ptr<hosted> accept_sessions::make(const arrival& from, carrier& below,
                                              const connection& self) {
  const peeked first = peek(from);
  if (first.what != peeked::kind::found) return nullptr;
  std::uint64_t secret = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(first.says.self);
    if (found == known_.end() || found->second.link != self) return nullptr;  // it is over by now
    secret = found->second.secret;
  }
  return make_session(from, first.says, secret, below, self);
}

void accept_sessions::remember(const hello& says, const connection& link, const endpoint& from) {
  known_[says.self] = {.link = link,
                       .from = from,
                       .secret = not_zero(siphash(secrets_, {++drawn_})),
                       .secret_of_peer = says.resumes ? 0 : says.number};
  if (known_.size() < swept_at_) return;
  for (auto at = known_.begin(); at != known_.end();) {
    if (!at->second.link.is_over()) {
      ++at;
      continue;
    }
    if (may_not_return(at->first)) quarantined_.add(at->first);
    at = known_.erase(at);
  }
  swept_at_ = std::max<std::size_t>(64, known_.size() * 2);
}

void accept_sessions::quarantine(const peer_identity& who) {
  const std::lock_guard lock(mutex_);
  quarantined_.add(who);
}

bool accept_sessions::is_quarantined(const peer_identity& who) const {
  const std::lock_guard lock(mutex_);
  return may_not_return(who);
}

std::size_t accept_sessions::remembered() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

}  // namespace garrick::net
