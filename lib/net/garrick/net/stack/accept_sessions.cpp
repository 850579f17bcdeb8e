#include "garrick/net/stack/accept_sessions.hpp"

#include <algorithm>
#include <cstdint>

#include "garrick/net/layer/framing.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {
namespace {

packet words_for(const arrival& from, const refusal_notice& why) {
  packet words = packet::with_room(framing::header_size, largest_hello);
  encode_refusal(why, words);
  // A datagram's source address may be forged, and the answer goes to that host. For this reason
  // the answer is not longer than the datagram.
  if (from.local.kind() == transport_kind::udp && words.size() > from.bytes.size()) {
    words = packet::with_room(framing::header_size, largest_hello);
    encode_refusal({why.why, why.versions, why.to, {}, why.self}, words);
  }
  const auto size = static_cast<std::uint32_t>(words.size());
  if (from.local.kind() != transport_kind::udp) store_le(words.prepend(framing::header_size), size);
  return words;
}

}  // namespace

peeked accept_sessions::peek(const arrival& from) {
  return from.local.kind() == transport_kind::udp ? peek_datagram(from.bytes)
                                                  : peek_stream(from.bytes);
}

std::size_t accept_sessions::wants() const { return framing::header_size + largest_hello; }

verdict accept_sessions::look(const arrival& from) {
  const peeked first = peek(from);
  switch (first.what) {
    case peeked::kind::incomplete: return verdict::more();
    case peeked::kind::foreign: return verdict::refuse();
    case peeked::kind::found: break;
  }
  std::optional<denial> why = objection(from, first.says);
  const std::lock_guard lock(mutex_);
  if (!why && may_not_return(first.says.self)) why = refusal::given_up;
  if (why)
    return verdict::refuse(
        words_for(from, {why->why, {}, first.says.self.incarnation, std::move(why->words)}));
  return decide(from, first.says);
}

bool accept_sessions::may_not_return(const peer_identity& who) const {
  if (quarantined_.contains(who)) return true;
  if (after_down_ != peer_return::new_life_only) return false;
  const auto found = known_.find(who);
  return found != known_.end() && found->second.link.is_over() && found->second.link.was_admitted();
}

verdict accept_sessions::decide(const arrival& from, const hello& says) const {
  const auto found = known_.find(says.self);
  if (found == known_.end()) return verdict::start();
  const connection& link = found->second.link;
  if (link.is_over()) {
    // A peer whose link was never admitted may still be sending its hello from this address.
    const bool is_late = from.local.kind() == transport_kind::udp &&
                         found->second.from == from.remote && link.was_admitted();
    return is_late ? verdict::refuse() : verdict::start();
  }
  const std::optional<peer_identity> me = named_to(says);
  const auto refused = [&] {
    if (!me) return verdict::refuse();
    return verdict::refuse(
        words_for(from, {refusal::has_session, {}, says.self.incarnation, {}, *me}));
  };
  // Datagrams from a link's address go to the link, so this one comes from another address.
  if (from.local.kind() == transport_kind::udp) return refused();
  if (says.resumes) return verdict::join(link);
  // A peer that has lost the stream asks to resume the session. A peer that begins a session has
  // not lost the stream, or this end has not noticed the loss yet; then the peer tries again.
  if (link.is_connected()) return refused();
  // The peer may have this session, and have connected to another address of this process.
  if (me && !says.begins_anew) return refused();
  return verdict::join(link);
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
  remember(first.says.self, fresh, from.remote);
  return fresh;
}

std::unique_ptr<hosted> accept_sessions::make(const arrival& from, carrier& below,
                                              const connection& self) {
  const peeked first = peek(from);
  if (first.what != peeked::kind::found) return nullptr;
  return make_session(from, first.says, below, self);
}

void accept_sessions::remember(const peer_identity& who, const connection& link,
                               const endpoint& from) {
  known_[who] = {link, from};
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
