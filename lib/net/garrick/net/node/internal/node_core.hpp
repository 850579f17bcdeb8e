// What a node's links share: who the peers are, which names are published, who waits for a peer.
//
// Invariants
// C1 At most one link of an incarnation is in use. Of two ends the one with the smaller identity
//    decides which: it lets the first that opens be used, and leaves others before anything was
//    sent on them.
// C2 Whoever waits for a peer is told once: that it can be reached, or why not.
// C3 A link of a new incarnation of a node ends those of others, which then are down.
// C4 A peer is known by its identity. An endpoint of a peer whose link is in use stands for that
//    link, however many endpoints the peer has, until the link is over.
// C5 If the peer does not want a link, since it prefers another one, the callers that wait for the
//    former wait for the latter, which may not be in use here yet.
//
// Thread safety: any thread. `mutex_` is held for some instructions, and while nothing is called.
#pragma once

#include <garrick/core/seam/environment.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/net/node/internal/unreached_endpoints.hpp>
#include <garrick/net/node/node_settings.hpp>
#include <garrick/net/node/peer_listener.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/node/spawnable.hpp>
#include <garrick/net/stack/any_link.hpp>
#include <garrick/net/transport/accept_policy.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace garrick::net {

namespace internal {

class link_port;

class node_core;

/// Makes a link of a node; `dialled`: the endpoint that it connects to, or nothing.
using link_maker = std::unique_ptr<hosted> (*)(std::shared_ptr<node_core> node,
                                               const named_stack& kind, const link_settings& s,
                                               carrier& below, const connection& self,
                                               std::string dialled);

/// The only one outside of tests. Defined beside the link (link.cpp): a node knows of it no more
/// than this and `link_port`.
[[nodiscard]] std::unique_ptr<hosted> make_link(std::shared_ptr<node_core> node,
                                                const named_stack& kind, const link_settings& s,
                                                carrier& below, const connection& self,
                                                std::string dialled);

/// Who waits for a link: it stands, or why there is none.
using dial_handler = std::function<void(base::result<connection>)>;

/// See above.
class node_core final : public std::enable_shared_from_this<node_core> {
 public:
  node_core(core::environment& env, node_settings s, link_maker make_link);
  ~node_core();

  [[nodiscard]] core::environment& env() const noexcept { return env_; }
  [[nodiscard]] const node_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] link_source& source() const noexcept { return *settings_.source; }
  [[nodiscard]] const peer_identity& self() const noexcept { return self_; }

  // ---- for the node -----------------------------------------------------------------------------

  /// `would_block` in a process that was forked from the node's: nothing can be said there.
  [[nodiscard]] base::error wrong_process() const;
  [[nodiscard]] base::result<endpoint> listen(const endpoint& at);
  /// Calls `done` when there is a link to whoever is there, perhaps at once.
  void dial(const endpoint& given, dial_handler done);
  /// What has come of the attempts to reach this endpoint, also when they have just ended; empty:
  /// it was reached, or nothing is known of it. `earlier`: why the attempt before them has failed.
  [[nodiscard]] std::string last_attempt(const endpoint& given, const base::error& earlier) const;
  [[nodiscard]] base::error publish(std::string name, core::address held, const protocol_table& as);
  [[nodiscard]] bool unpublish(std::string_view name);
  [[nodiscard]] base::error allow(std::string name, std::shared_ptr<const spawnable> what);
  [[nodiscard]] bool disallow(std::string_view name);
  /// The link to a peer that can be reached; `net_errc::node_down` if it cannot.
  [[nodiscard]] base::result<connection> link_to(const peer_identity& who) const;
  [[nodiscard]] std::vector<peer_identity> peers() const;
  void subscribe(std::shared_ptr<peer_listener> who);
  /// No frame of this incarnation is delivered any more when this returns, as long as that is
  /// remembered (quarantine_list.hpp).
  void quarantine(const peer_identity& who);
  [[nodiscard]] std::vector<link_count> counters(const peer_identity& who) const;
  /// Leaves all peers, waits for that for a while, and ends.
  void stop() noexcept;

  // ---- for links --------------------------------------------------------------------------------

  /// The peer has said who it is.
  void opened(link_port& link);
  /// The peer has a session with this node by another link. The callers that wait for this link get
  /// the other one: at once if it is in use, else as soon as it is.
  void has_session(link_port& link);
  /// The peer lets this end send: it is the link in use. Another one of this peer is over. Once for
  /// each link.
  void usable(link_port& link);
  /// It says something of a peer, if it is the link in use.
  void noticed(const link_port& link, const peer_evidence& what);
  /// An attempt has failed to reach the endpoint that was dialled; there will be another. No error:
  /// one is under way, and has got so far that the other end is to speak.
  void not_reached(const std::string& key, const base::error& why);
  /// The link is over.
  void closed(link_port& link, const base::error& why) noexcept;
  /// Why it may not be a peer; nothing: it may.
  [[nodiscard]] std::optional<std::string> objection(const applicant& who) const;
  /// Whether frames of this incarnation may be delivered.
  [[nodiscard]] bool is_quarantined(const peer_identity& who) const;

  struct published {
    core::address who;  // held by a strong reference
    const protocol_table* as = nullptr;
  };
  /// Calls `use` with who has the name, who cannot end meanwhile; or with nothing.
  void with_published(std::string_view name,
                      const std::function<void(core::cell*, const protocol_table*)>& use) const;
  /// What peers may spawn by this name; null: nothing.
  [[nodiscard]] std::shared_ptr<const spawnable> allowed(std::string_view name) const;

 private:
  struct dialled {
    connection link;  // the link that stands, if it is up
    std::vector<dial_handler> waiting;
    bool is_up = false;
    connection by;              // the link that was made to reach the endpoint
    peer_identity told_of{};    // the peer that has refused `by`, since it has a session
    std::uint32_t repeats = 0;  // links that were over before they were used
  };
  class policy;
  /// An endpoint is dialled again so often at most, if its peer prefers another link. Each time
  /// takes a round trip, in which this end as a rule hears which link that is.
  static constexpr std::uint32_t most_repeats = 16;

  [[nodiscard]] const std::string& stack_name_for(const endpoint& e) const;
  [[nodiscard]] const named_stack* stack_for(const endpoint& e) const;
  [[nodiscard]] link_settings settings_for(bool connects) const;
  [[nodiscard]] base::error may_use(const endpoint& e) const;
  /// Why a link ends that is not the one in use.
  [[nodiscard]] static base::error not_wanted();
  /// Makes a link to the endpoint that has this text. Those who wait for it get the link's answer,
  /// or hear why none can be made, such as for want of memory.
  void begin_link(const std::string& key);
  /// This link is over, and was open and never in use. If the peer decides which of several links
  /// is used, it may have another one in use by now, of which this end has yet to hear. Then the
  /// callers that wait for this link wait for that one, or for a further link to the same endpoint.
  /// Returns false if they do not.
  [[nodiscard]] bool dials_again(const link_port& link);
  void answer_dial(const std::string& key, const connection& by, base::result<connection> with);
  /// The link to this peer is in use from now on.
  void answer_dials(const link_port& link);
  [[nodiscard]] std::vector<std::shared_ptr<peer_listener>> listening() const;
  void tell(const peer_identity& who, peer_change what, const base::error& why);

  core::environment& env_;  // held
  const link_maker make_link_;
  node_settings settings_;
  peer_identity self_;

  mutable std::mutex mutex_;
  std::map<peer_identity, connection> peers_;            // under mutex_: the links in use
  std::map<std::string, dialled> dialled_;               // under mutex_: by the endpoint's text
  unreached_endpoints unreached_;                        // under mutex_
  std::map<std::string, published, std::less<>> names_;  // under mutex_
  /// Under mutex_.
  std::map<std::string, std::shared_ptr<const spawnable>, std::less<>> allowed_;
  quarantine_list quarantined_;      // under mutex_
  std::vector<connection> all_;      // under mutex_: every link that has not ended
  std::vector<listener> listeners_;  // under mutex_
  std::vector<std::shared_ptr<peer_listener>> subscribers_;  // under mutex_
  bool is_stopping_ = false;                                 // under mutex_
};

}  // namespace internal
}  // namespace garrick::net
