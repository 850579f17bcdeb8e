// Nodes: location-transparent actors across processes (papers 001 §4.1, §5.5; 004 §4).
//
//   net::node here(system);
//   const net::endpoint at = here.listen("tcp://127.0.0.1:4040").value();
//   here.publish("prices", feed).value();
//
//   net::node there(system);                       // in another process
//   ref<prices> feed = there.remote<prices>("tcp://127.0.0.1:4040", "prices").value();
//   send(feed, subscribe{…});                      // from here on an ordinary handle
//
// A handle to an actor of another node is used as any other: send, request, delegate, link,
// monitor, exit, and as a part of messages. Only the failures differ. A node may be lost: watchers
// of its actors then learn `net_errc::node_down`, and callers that wait for an answer get
// `net_errc::perhaps_delivered`.
//
// Guarantees, over the stacks "stream" and "datagrams": messages from one actor to another arrive
// in order, each once, while both nodes and their session live; afterwards, each message of
// uncertain delivery is a dead letter. Each request has one answer, each monitor one `down`.
//
// Thread safety: any thread.
#pragma once

#include <garrick/core/adapt.hpp>
#include <garrick/core/blocking.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/net/node/handle_codec.hpp>
#include <garrick/net/node/name_answer.hpp>
#include <garrick/net/node/node_settings.hpp>
#include <garrick/net/node/peer_admission.hpp>
#include <garrick/net/node/peer_listener.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/node/spawnable.hpp>
#include <garrick/net/node/whereabouts.hpp>
#include <garrick/net/peer_identity.hpp>
#include <garrick/net/stack/any_link.hpp>
#include <garrick/system/actor_system.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace garrick::net {

namespace internal {
class node_core;
}

/// Connects an actor system with those of other processes. It must be destroyed before its system.
class node {
 public:
  /// Starts a new life of a node. Throws std::system_error if there are no threads or descriptors
  /// for it, and std::invalid_argument for a number of threads (`io_settings`) that is not allowed.
  /// Other settings that cannot work are errors of `listen` and of the calls that connect.
  explicit node(system::actor_system& system, node_settings s = {})
      : node(system.env(), std::move(s)) {}
  /// The same for another kind of system, such as the testkit's: `system.env()`.
  explicit node(core::environment& env, node_settings s = {});
  /// Leaves all peers in good order, within `node_settings::leave_limit`, and ends the node. Half
  /// of that time is for the confirmation of messages under way, so that their senders do not see
  /// them reported as perhaps lost. Must not run in an actor's handler, as it blocks the worker,
  /// nor in a callback of the node. Does nothing in a process that was forked from the node's.
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// Returns the identity of this node.
  [[nodiscard]] const peer_identity& self() const noexcept;

  /// Lets other nodes connect here: "tcp://127.0.0.1:4040", "unix:///run/x", "udp://[::1]:0".
  /// Returns the endpoint by which other nodes reach this one. It has the port that the system has
  /// chosen, or is the advertised endpoint, as in
  /// "tcp://0.0.0.0:4040?advertised=example.org:14040". Errors: those of `net::listen`;
  /// `errc::invalid_setting`, which names the setting (`net::check`); `net_errc::denied` for an
  /// address beyond this machine, unless the settings say `insecure`; `errc::shutting_down` if the
  /// node is leaving; `errc::would_block` in a process that was forked from the node's. All
  /// functions below have this error, too; functions without errors do nothing there, and return
  /// false or nothing. Looks a host name up on the calling thread, which may take seconds.
  [[nodiscard]] base::result<endpoint> listen(std::string_view at);

  /// Lets other nodes find the actor by this name, with the protocol P, and holds it until
  /// `unpublish` or the end of the node. Once the actor has ended, it is not found any more, and
  /// its name is free. An actor of another node may be published, too: that node finds its own
  /// actor; third nodes reach the actor through this node, and lose it with this node. Does not
  /// compile if a message cannot be encoded. Returns an error if the actor was not published:
  /// `registry_errc::name_taken`, `empty_handle`, `ended`; `net_errc::too_large` for a name of more
  /// than `longest_name` bytes; `not_encodable` or `incompatible` if the protocol's types cannot be
  /// named or told apart by other nodes; `errc::shutting_down` or `would_block`, as in `listen`.
  template <class P>
  [[nodiscard]] base::result<void> publish(std::string name, const core::ref<P>& who) {
    static_assert(!std::is_same_v<P, core::any_protocol>,
                  "an any_ref does not name the actor's messages: publish a ref<P>, as spawn and "
                  "request_typed<P> give it");
    const base::error no = publish_erased(std::move(name), who.address(), protocol_table_of<P>());
    if (no) return no;
    return {};
  }
  /// Makes the name unknown to other nodes; handles that were found by it stay valid. Returns false
  /// if there is no such name.
  bool unpublish(std::string_view name);

  /// Connects to the node at this endpoint and returns its identity. If a link to that node exists
  /// already, by this endpoint or another one, it stays the only link. Waits up to `limit` for a
  /// node that is not there yet. Must not run on a worker (`errc::would_block`): actors use the
  /// other form. The link stays until one of the two nodes ends or is lost. Errors:
  /// `errc::timeout`, with the outcome of the last attempt; `net_errc::bad_endpoint`, also for port
  /// 0; `errc::invalid_setting`, as in `listen`; `net_errc::denied` beyond this machine, unless the
  /// settings say `insecure`; the reason why there is no connection, such as `not_garrick`,
  /// `incompatible` with a node of another version, `refused` if the endpoint is this node's own,
  /// or `peer_down` if one of the two nodes has given up the present life of the other.
  [[nodiscard]] base::result<peer_identity> connect(
      std::string_view at, base::duration limit = base::duration::seconds(10));
  /// The same for the actor `self`: returns a response to be awaited. The time-out is the actor's
  /// own (`within`), and carries no reason. Tries to reach an absent node for
  /// `net.failure_detection_handshake_limit`; then the answer is `net_errc::unreachable`, with the
  /// reason.
  ///
  ///     auto asked = node.connect(*this, "tcp://there:4040");
  ///     result<net::peer_identity> who = co_await std::move(asked);
  [[nodiscard]] core::pending_response<peer_identity> connect(core::actor_base& self,
                                                              std::string_view at);

  /// Returns a handle to the actor that the node at `at` has published under this name; connects
  /// first if need be. Returns the local handle if the name stands for an actor of this node that
  /// the other node has a handle to. Requires that the actor understands P: the signatures are
  /// compared one by one. If it is an actor of this node, the other node must have been given a
  /// handle with all of P's signatures. Waits up to `limit`, also for a node that is not there yet.
  /// Must not run on a worker (`errc::would_block`): actors use the other form. Errors:
  /// `errc::timeout`, as in `connect`; the reason why there is no connection, such as `refused` if
  /// `at` is this node itself; `net_errc::node_down` if `at` is a peer that cannot be reached now;
  /// `registry_errc::not_found`, also for an actor of this node that has ended;
  /// `net_errc::incompatible`, naming the signature; `too_large` for a name of more than
  /// `longest_name` bytes; `decode_failed` if the answer makes no sense, such as the number of an
  /// actor that this node has not given away.
  template <class P>
  [[nodiscard]] base::result<core::ref<P>> remote(
      const whereabouts& at, std::string_view name,
      base::duration limit = base::duration::seconds(10)) {
    core::scoped_actor me(env());
    return persisting(me, at, limit, [&] { return remote<P>(*me, at, name); });
  }
  /// The same for the actor `self`: returns a response to be awaited.
  ///
  ///     auto asked = node.remote<prices>(*this, "tcp://there:4040", "prices");
  ///     result<ref<prices>> feed = co_await std::move(asked);
  template <class P>
  [[nodiscard]] auto remote(core::actor_base& self, const whereabouts& at, std::string_view name) {
    return core::adapt<core::ref<P>>(self, [&](core::completion<core::ref<P>> done) {
      resolve_erased(at, name, protocol_table_of<P>(), answer_to<P>(std::move(done)));
    });
  }
  /// Does not compile: `remote` needs a protocol, not an actor's class.
  template <core::detail::actor_for_protocol P, class... Args>
  base::result<core::any_ref> remote(Args&&... /*args*/) {
    static_assert(core::detail::this_is_no_protocol<P>::reported);
    return base::error();
  }

  /// Lets other nodes spawn an A here, by this name, with arguments of these types, which are
  /// values that can be encoded. Other nodes can spawn only actors that were allowed. The spawning
  /// node holds the actor only by the handle that it gets: when that is released, and no handle is
  /// left here, the actor ends as any actor without handles. The actor's constructor and `on_start`
  /// run on a worker. Does not compile if an A cannot be made of these types, or if an argument or
  /// a message cannot be encoded. Returns an error if nothing was allowed:
  /// `registry_errc::name_taken` if the name is allowed already; `net_errc::too_large`,
  /// `not_encodable`, `incompatible`, `errc::shutting_down` or `would_block`, as in `publish`.
  ///
  ///     node.allow<renderer, std::string, std::uint32_t>("renderer").value();
  template <class A, class... Args>
  [[nodiscard]] base::result<void> allow(std::string name) {
    return allow_as<core::detail::protocol_of<A>, A, Args...>(std::move(name));
  }
  /// The same for an A of which other nodes see only the protocol P, such as an actor that also
  /// takes `down`.
  ///
  ///     node.allow_as<protocol<picture(scene)>, renderer, std::string>("renderer").value();
  template <class P, class A, class... Args>
  [[nodiscard]] base::result<void> allow_as(std::string name) {
    static_assert(core::detail::spawn_check<A, Args...>::reported);
    static_assert(std::is_convertible_v<core::ref<core::detail::protocol_of<A>>, core::ref<P>>,
                  "garrick: the actor does not understand all of this protocol");
    static_assert((std::is_same_v<Args, std::decay_t<Args>> && ...),
                  "garrick: the arguments come as values: std::string, not const std::string&");
    const base::error no = allow_erased(
        std::move(name), std::make_shared<const detail::spawnable_as<P, A, Args...>>());
    if (no) return no;
    return {};
  }
  /// Ends the permission to spawn by this name; spawned actors stay. Returns false if there is no
  /// such name.
  bool disallow(std::string_view name);

  /// Spawns an actor in the node at `at`, of the type that the node has allowed by this name, with
  /// these arguments; connects first if need be. Returns the actor's first handle; the actor lives
  /// as long as it has one. Requires that the actor understands P. Waits up to 10 s in all, and
  /// tries to reach an absent node as long as the `connect` of actors does. Actors, and callers
  /// with another limit, use the other form. Must not run on a worker (`errc::would_block`). Texts
  /// travel as std::string; numbers must have the width that the other node expects. Errors:
  /// `errc::timeout`; the reason why there is no connection; `net_errc::node_down` if `at` is a
  /// peer that cannot be reached now; `net_errc::denied` if there is no such name; `too_large` for
  /// the name or the arguments, which may also be `not_encodable`; `net_errc::incompatible`,
  /// naming the signature, the argument by its number from 0, or the expected number of arguments;
  /// `net_errc::overload` if this node has too many actors there; `errc::spawn_failed` if the
  /// constructor or `on_start` failed. After `timeout`, `perhaps_delivered` or `incompatible` the
  /// actor may have been spawned; then it has ended.
  ///
  ///     ref<pictures> far = node.spawn<pictures>("tcp://there:4040", "renderer", "sky").value();
  template <class P, class... Args>
  [[nodiscard]] base::result<core::ref<P>> spawn(const whereabouts& at, std::string_view name,
                                                 Args&&... args) {
    core::scoped_actor me(env());
    auto asked = spawn<P>(*me, at, name, std::forward<Args>(args)...);
    return with_reason(at, me->get(std::move(asked).within(base::duration::seconds(10))));
  }
  /// The same for the actor `self`: returns a response to be awaited.
  ///
  ///     auto asked = node.spawn<pictures>(*this, where, "renderer", "sky", 3u);
  ///     result<ref<pictures>> far = co_await std::move(asked);
  template <class P, class... Args>
  [[nodiscard]] auto spawn(core::actor_base& self, const whereabouts& at, std::string_view name,
                           Args&&... args) {
    return core::adapt<core::ref<P>>(self, [&](core::completion<core::ref<P>> done) {
      spawn_erased(at, name, detail::make_spawn_arguments(std::forward<Args>(args)...),
                   protocol_table_of<P>(), answer_to<P>(std::move(done)));
    });
  }
  /// Does not compile: `spawn` needs a protocol, not an actor's class.
  template <core::detail::actor_for_protocol P, class... Args>
  base::result<core::any_ref> spawn(Args&&... /*args*/) {
    static_assert(core::detail::this_is_no_protocol<P>::reported);
    return base::error();
  }

  /// Returns the peers that can be reached now.
  [[nodiscard]] std::vector<peer_identity> peers() const;
  /// Returns the counters of the link to a peer, by layer and name, such as packets sent again,
  /// gaps and suspicions; empty if the peer cannot be reached now.
  ///
  /// Layer "node" has the node's present figures about the peer: `exports`, local actors of which
  /// the peer has a number; `spawned`, the exports that were made for it; `proxies`, its actors to
  /// which this node has a handle; `questions`, the open questions of this node to the peer;
  /// `asked`, the open requests of the peer to actors here; `unanswered`, the same together with
  /// answers that have not left yet; `wanted`, those of `asked` with a limit, and withdrawn
  /// requests without an answer so far; `monitors` and `links` between the actors of both;
  /// `under_way`, messages that are not confirmed; `held_lanes`, lanes that wait while a worker
  /// decodes a large message, or because the peer's messages expand to more than its budget. Its
  /// counts since the beginning of the link:
  /// `to_nobody`, messages and requests to a receiver that had ended or was never known here;
  /// `not_decoded`, messages, requests and answers that could not be decoded; `not_encoded`,
  /// answers from here that could not be written or were too large for the link, so that the
  /// requester got an error; `ends_refused`, exits and kills that `node_settings::let_peers_end`
  /// forbids.
  ///
  /// Waits for the thread that works on the link. A `peer_listener` or a `peer_admission` runs on
  /// that thread, and must not call this.
  [[nodiscard]] std::vector<link_count> counters(const peer_identity& who) const;
  /// Reports each further change of a peer, and each piece of evidence, to `who` for the life of
  /// the node; a subscription cannot be ended. Peers that are up already are not reported: ask
  /// `peers` afterwards. Ignores null. Throws std::bad_alloc.
  void subscribe(std::shared_ptr<peer_listener> who);
  /// Shuts out this life of a node: after this call returns, none of its messages gets into a
  /// mailbox, all its actors count as lost, and it is refused as a peer, as long as its life is
  /// remembered (`quarantine_list`: the last 64 lives of each node). Waits for a delivery that is
  /// under way, so a `peer_listener` or a `peer_admission`, which the delivering thread calls, must
  /// not call this.
  void quarantine(const peer_identity& who);

 private:
  [[nodiscard]] core::environment& env() const noexcept;
  [[nodiscard]] base::error publish_erased(std::string name, const core::address& who,
                                           const protocol_table& as);
  [[nodiscard]] base::error allow_erased(std::string name, std::shared_ptr<const spawnable> what);
  void resolve_erased(const whereabouts& at, std::string_view name, const protocol_table& as,
                      std::unique_ptr<name_answer> done);
  void spawn_erased(const whereabouts& at, std::string_view name,
                    std::unique_ptr<spawn_arguments> with, const protocol_table& as,
                    std::unique_ptr<name_answer> done);
  /// Adds to a time-out the reason that kept this node from reaching the endpoint, if that is
  /// known; returns other errors unchanged. `earlier` is the reason why the attempt before the
  /// present one failed.
  [[nodiscard]] base::error explained(const whereabouts& at, const base::error& why,
                                      const base::error& earlier) const;
  template <class T>
  [[nodiscard]] base::result<T> with_reason(const whereabouts& at, base::result<T> answer,
                                            const base::error& earlier = {}) const {
    if (!answer) return explained(at, answer.error(), earlier);
    return answer;
  }
  /// Returns how long one attempt tries to reach an absent node.
  [[nodiscard]] base::duration longest_attempt() const;
  /// Returns the answer of `ask`, which is repeated after `unreachable` while there is time left.
  /// After the first repetition, only an attempt that took at least half of `longest_attempt()` is
  /// repeated: a shorter one has failed at once. Half is enough, since an attempt may join the
  /// earlier attempt of another caller.
  template <class Ask>
  [[nodiscard]] auto persisting(core::scoped_actor& me, const whereabouts& at, base::duration limit,
                                Ask ask) const {
    const base::clock& clock = *env().clock;
    const base::instant end = clock.now() + limit;
    base::error earlier;
    for (;;) {
      const base::instant start = clock.now();
      auto answer = me->get(ask().within(end - start));
      const bool is_absent = !answer && answer.error() == net_errc::unreachable &&
                             (!earlier || clock.now() - start >= longest_attempt() / 2);
      if (!is_absent || clock.now() >= end) return with_reason(at, std::move(answer), earlier);
      earlier = answer.error();
    }
  }
  template <class P>
  [[nodiscard]] static std::unique_ptr<name_answer> answer_to(core::completion<core::ref<P>> done) {
    class answer final : public name_answer {
     public:
      explicit answer(core::completion<core::ref<P>> d) : done_(std::move(d)) {}
      void found(core::cell* who) override { done_(core::handle_access::adopt<P>(who)); }
      void failed(const base::error& why) override { done_.fail(why); }

     private:
      core::completion<core::ref<P>> done_;
    };
    return std::make_unique<answer>(std::move(done));
  }

  std::shared_ptr<internal::node_core> core_;
};

}  // namespace garrick::net
