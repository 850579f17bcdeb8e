// The state that a node's links share: the peers, the published names, the callers that wait.
//
// Invariants
// C1 At most one link of an incarnation is in use. Of the two nodes, the one with the smaller
//    identity decides: it lets the first link that opens be used, and leaves the others before
//    anything was sent on them.
// C2 A caller that waits for a peer gets one answer: a link, or the reason why there is none.
// C3 At most one incarnation of a node is in use. While that life answers, no other one comes into
//    use by a connection that it has made itself, since any process can invent a life; the door
//    sends it away, and it tries again. If the life in use is silent or has lost its stream, or if
//    this end has dialled the other one, the latter comes into use and the former is down.
// C4 A peer is known by its identity. An endpoint of a peer whose link is in use stands for that
//    link, however many endpoints the peer has, until the link is over.
// C5 If the peer refuses a link because it prefers another one, the callers that wait for the
//    refused link wait for the preferred one. That link may not be in use here yet, or may be over
//    here already.
//
// Thread safety: any thread. `mutex_` is held for some instructions, and during no call outside.
#pragma once

#include <garrick/base/values/random.hpp>
#include <garrick/core/seam/environment.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/net/node/internal/unreached_endpoints.hpp>
#include <garrick/net/node/node_settings.hpp>
#include <garrick/net/node/peer_listener.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/node/spawnable.hpp>
#include <garrick/net/stack/any_link.hpp>
#include <garrick/net/transport/accept_policy.hpp>
#include <garrick/net/wire/known_codecs.hpp>

#include <atomic>
#include <cstdint>
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

/// Makes a link of a node; `dialled` is the endpoint that it connects to, or empty.
using link_maker = std::unique_ptr<hosted> (*)(std::shared_ptr<node_core> node,
                                               const named_stack& kind, const link_settings& s,
                                               carrier& below, const connection& self,
                                               std::string dialled);

/// The only link maker outside of tests. Defined beside the link (link.cpp): a node knows only this
/// function and `link_port`.
[[nodiscard]] std::unique_ptr<hosted> make_link(std::shared_ptr<node_core> node,
                                                const named_stack& kind, const link_settings& s,
                                                carrier& below, const connection& self,
                                                std::string dialled);

/// Takes a link in use, or the reason why there is none.
using dial_handler = std::function<void(base::result<connection>)>;

/// The core of a node, which its links share.
class node_core final : public std::enable_shared_from_this<node_core> {
 public:
  node_core(core::environment& env, node_settings s, link_maker make_link);
  ~node_core();

  [[nodiscard]] core::environment& env() const noexcept { return env_; }
  [[nodiscard]] const node_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] link_source& source() const noexcept { return *settings_.source; }
  [[nodiscard]] const peer_identity& self() const noexcept { return self_; }

  // ---- for the node -----------------------------------------------------------------------------

  /// Returns `would_block` in a process that was forked from the node's, which cannot use its
  /// links. It must not take `mutex_` either, which a thread of the parent may have held during the
  /// fork.
  [[nodiscard]] base::error wrong_process() const;
  [[nodiscard]] base::result<endpoint> listen(const endpoint& at);
  /// Calls `done` with a link in use to the node at this endpoint, or with the reason why there is
  /// none; perhaps at once.
  void dial(const endpoint& given, dial_handler done);
  /// Returns the outcome of the attempts to reach this endpoint, also of those that have just
  /// ended; empty if it was reached, or if nothing is known. `earlier` is the reason why the
  /// attempt before them failed.
  [[nodiscard]] std::string last_attempt(const endpoint& given, const base::error& earlier) const;
  [[nodiscard]] base::error publish(std::string name, core::address held, const protocol_table& as);
  [[nodiscard]] bool unpublish(std::string_view name);
  [[nodiscard]] base::error allow(std::string name, std::shared_ptr<const spawnable> what);
  [[nodiscard]] bool disallow(std::string_view name);
  /// Returns the link to a peer that can be reached; else `net_errc::node_down`, or `refused` for
  /// this node itself.
  [[nodiscard]] base::result<connection> link_to(const peer_identity& who) const;
  [[nodiscard]] std::vector<peer_identity> peers() const;
  void subscribe(std::shared_ptr<peer_listener> who);
  /// Shuts an incarnation out: after this call returns, none of the incarnation's frames is
  /// delivered while the list remembers it (quarantine_list.hpp).
  void quarantine(const peer_identity& who);
  [[nodiscard]] std::vector<link_count> counters(const peer_identity& who) const;
  /// Leaves all peers, waits for the end of their links up to `leave_limit`, and ends.
  void stop() noexcept;

  // ---- for links --------------------------------------------------------------------------------

  /// Reports that the peer has identified itself.
  void opened(link_port& link);
  /// Reports that the peer has a session with this node by another link. The callers that wait for
  /// this link get the other one: at once if it is in use, else as soon as it is.
  void has_session(link_port& link);
  /// Reports that the peer, which decides, has chosen this link: the link is in use, and any other
  /// link of this peer, or of its node's other lives, is over (C3). Called once for each link.
  void usable(link_port& link);
  /// Reports evidence about a peer; ignored unless the link is in use.
  void noticed(const link_port& link, const peer_evidence& what);
  /// Reports that an attempt to reach the dialled endpoint has failed; another one will follow. If
  /// `why` is no error, an attempt is under way, and waits for the other end's first bytes.
  void not_reached(const std::string& key, const base::error& why);
  /// Reports that the session to this endpoint goes on.
  void reached(const std::string& key);
  /// Reports that the link is over.
  void closed(link_port& link, const base::error& why) noexcept;
  /// Returns the reason why the applicant may not be a peer, or nothing if it may.
  [[nodiscard]] std::optional<std::string> objection(const applicant& who) const;
  /// Returns the names of error categories that this node's links have read from a peer. The peer's
  /// lives share it; the id is the peer's own claim.
  [[nodiscard]] std::shared_ptr<foreign_names> names_of(const node_id& peer);
  /// Returns true if frames of this incarnation must not be delivered.
  [[nodiscard]] bool is_quarantined(const peer_identity& who) const;

  struct published {
    core::address who;  // held by a strong reference
    const protocol_table* as = nullptr;
  };
  /// Calls `use` with the actor of this name, which cannot end meanwhile, or with null.
  void with_published(std::string_view name,
                      const std::function<void(core::cell*, const protocol_table*)>& use) const;
  /// Returns the type of actors that peers may spawn by this name, or null.
  [[nodiscard]] std::shared_ptr<const spawnable> allowed(std::string_view name) const;

 private:
  struct dialled {
    connection link;  // the link that stands, if it is up
    std::vector<dial_handler> waiting;
    bool is_up = false;
    connection by;              // the link that was made to reach the endpoint
    peer_identity told_of{};    // the peer that has refused `by`, since it has a session
    std::uint32_t repeats = 0;  // links that were over before they were used
    base::instant until{};      // the end of the repeats, from the first one on
    base::duration pause{};     // before the newest repeat
  };
  class policy;
  /// The number of dials that are repeated without a pause, to an endpoint whose peer prefers
  /// another link. Each takes a round trip, in which this end usually learns of the preferred link.
  static constexpr std::uint32_t repeats_at_once = 4;
  /// The number of links of a node id that wait at one door to come into use.
  static constexpr std::size_t most_newcomers = 2;

  [[nodiscard]] const std::string& stack_name_for(const endpoint& e) const;
  [[nodiscard]] const named_stack* stack_for(const endpoint& e) const;
  [[nodiscard]] link_settings settings_for(bool connects, std::uint64_t secret) const;
  /// Returns the secret of a session that this node begins.
  [[nodiscard]] std::uint64_t draw_secret();
  [[nodiscard]] base::error may_use(const endpoint& e) const;
  /// A link in use.
  struct peer_link {
    connection link;
    bool answers = true;  ///< it has its connection, and is not suspected
  };
  /// Returns true if another life of this node is in use and answers. Requires the lock.
  [[nodiscard]] bool has_living_rival(const peer_identity& who) const;
  /// The same, without the lock.
  [[nodiscard]] bool has_living_rival_now(const peer_identity& who) const;
  /// Returns true if this life may come into use by `link`, as far as other lives are concerned;
  /// then `others` gets their links, which are to be ended. Requires the lock.
  [[nodiscard]] bool takes_over(const link_port& link, std::vector<connection>& others) const;
  /// Shuts links to other lives. They are peers until then; `closed` reports them as down.
  static void end_lives(const std::vector<connection>& links);
  /// Counts a link that a node with this id has made by the door `by`, until it is in use or over.
  /// Returns the link that has to end for it, if there are too many of that id.
  [[nodiscard]] connection add_newcomer(const connection& link, const node_id& id, const void* by);
  /// Requires the lock, as does `add_newcomer`.
  void forget_newcomer(const connection& link) noexcept;
  /// Returns the reason for ending a link that is not the one in use.
  [[nodiscard]] static base::error not_wanted();
  /// Makes a link to the endpoint that has this text. Its waiting callers get the link's answer, or
  /// the reason why none can be made, such as a lack of memory.
  void begin_link(const std::string& key);
  /// Handles the end of a link that was open and never in use. If the peer decides which of several
  /// links is used, it may use another one by now, which this end does not know yet. Then the
  /// callers that wait for this link wait for the other one, or for a further link to the same
  /// endpoint. The peer's other link may also be an old one that is over here, unnoticed by the
  /// peer. So the endpoint is dialled again, with growing pauses, until the time of a handshake is
  /// over. Returns false if the callers do not wait; then `why` is the reason.
  [[nodiscard]] bool dials_again(const link_port& link, base::result<connection>& why) noexcept;
  /// Makes the link to an endpoint when `due` is reached, as the repeat with this number.
  void begin_link_later(const std::string& key, std::uint32_t repeat, base::instant due);
  void answer_dial(const std::string& key, const connection& by, base::result<connection> with);
  /// Answers the callers that wait for this link's peer: the link is in use from now on.
  void answer_dials(const link_port& link);
  [[nodiscard]] std::vector<std::shared_ptr<peer_listener>> listening() const;
  void tell(const peer_identity& who, peer_change what, const base::error& why);

  core::environment& env_;  // held
  const link_maker make_link_;
  node_settings settings_;
  peer_identity self_;

  std::atomic<std::uint64_t> secrets_drawn_{0};
  mutable std::mutex mutex_;
  std::map<peer_identity, peer_link> peers_;             // under mutex_: the links in use
  std::map<std::string, dialled> dialled_;               // under mutex_: by the endpoint's text
  unreached_endpoints unreached_;                        // under mutex_
  std::map<std::string, published, std::less<>> names_;  // under mutex_
  /// Under mutex_.
  std::map<std::string, std::shared_ptr<const spawnable>, std::less<>> allowed_;
  /// Under mutex_. An entry stays while a link has it, and for good once it is not empty.
  std::map<node_id, std::shared_ptr<foreign_names>> names_of_categories_;
  quarantine_list quarantined_;  // under mutex_
  std::vector<connection> all_;  // under mutex_: every link that has not ended
  /// A link that a peer has made and that is not in use yet.
  struct newcomer {
    connection link;
    node_id id;                // its own claim
    const void* by = nullptr;  // its door
  };
  std::vector<newcomer> newcomers_;                          // under mutex_
  base::random_source draws_{1};                             // under mutex_
  std::vector<listener> listeners_;                          // under mutex_
  std::vector<std::shared_ptr<peer_listener>> subscribers_;  // under mutex_
  bool is_stopping_ = false;                                 // under mutex_
};

}  // namespace internal
}  // namespace garrick::net
