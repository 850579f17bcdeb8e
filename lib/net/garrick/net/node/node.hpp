// Nodes: actors that do not care where the other one lives (papers 001 §4.1, §5.5; 004 §4).
//
//   net::node here(system);
//   here.listen("tcp://127.0.0.1:4040").value();
//   here.publish("prices", feed).value();
//
//   net::node there(system);                       // in another process
//   ref<prices> feed = there.remote<prices>("tcp://127.0.0.1:4040", "prices").value();
//   send(feed, subscribe{…});                      // from here on an ordinary handle
//
// A handle to an actor of another node is used as any other: send, request, delegate, link,
// monitor, exit, and as a part of messages. What is different is only what may happen. A node may
// be lost, and then whoever watches one of its actors is told so with `net_errc::node_down`, and
// who waits for an answer gets `net_errc::perhaps_delivered`.
//
// Guarantees, over the stacks "stream" and "datagrams": what one actor sends to another arrives in
// order, each once, while both nodes and their session live; afterwards, what was perhaps not
// delivered is a dead letter. Each request has one answer, each monitor one `down`.
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
  /// A new life of a node. Throws std::system_error if there are no threads or descriptors for it.
  explicit node(system::actor_system& system, node_settings s = {})
      : node(system.env(), std::move(s)) {}
  /// The same for another kind of system, such as the testkit's: `system.env()`.
  explicit node(core::environment& env, node_settings s = {});
  /// Leaves all peers in good order, for which they have `node_settings::leave_limit`; then ends.
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// Who this is.
  [[nodiscard]] const peer_identity& self() const noexcept;

  /// Lets other nodes connect here: "tcp://127.0.0.1:4040", "unix:///run/x", "udp://[::1]:0". The
  /// endpoint is where others reach this node: it has the port that the system has chosen, or is
  /// what was advertised, as by "tcp://0.0.0.0:4040?advertised=example.org:14040". Errors: those of
  /// `net::listen`; `net_errc::denied` beyond this machine, unless the settings say `insecure`.
  [[nodiscard]] base::result<endpoint> listen(std::string_view at);

  /// Lets other nodes find the actor by this name, with the protocol P, and holds it until
  /// `unpublish` or the end of the node. When the actor has ended, nobody finds it any more, and
  /// its name is free. Errors: `registry_errc::name_taken`, `empty_handle`;
  /// `net_errc::not_encodable` or `incompatible` if the protocol's types cannot be named or told
  /// apart by others. Does not compile if a message cannot be encoded.
  template <class P>
  [[nodiscard]] base::result<void> publish(std::string name, const core::ref<P>& who) {
    const base::error no = publish_erased(std::move(name), who.address(), protocol_table_of<P>());
    if (no) return no;
    return {};
  }
  /// Nobody finds the actor by this name any more; who has found it keeps it. False: there is no
  /// such name.
  bool unpublish(std::string_view name);

  /// Connects to the node at this endpoint, unless that was done, and says who it is. Waits for one
  /// that is not there yet, up to `limit`. Not on a worker (`errc::would_block`): actors use the
  /// other form. The connection stays until one of the two nodes ends or is lost. Errors:
  /// `errc::timeout`; `net_errc::bad_endpoint`; `denied` beyond this machine, unless the settings
  /// say `insecure`; why there is no connection, such as `not_garrick`, or `refused` by oneself.
  [[nodiscard]] base::result<peer_identity> connect(
      std::string_view at, base::duration limit = base::duration::seconds(10));
  /// The same for an actor, which is the first argument: a response, to be awaited.
  ///
  ///     auto asked = node.connect(*this, "tcp://there:4040");
  ///     result<net::peer_identity> who = co_await std::move(asked);
  [[nodiscard]] core::pending_response<peer_identity> connect(core::actor_base& self,
                                                              std::string_view at);

  /// The actor that the node at this endpoint has published under this name: connects first if need
  /// be. It has to understand P; that is compared signature by signature. Waits for all that, and
  /// for a node that is not there yet, up to `limit`. Not on a worker (`errc::would_block`): actors
  /// use the other form. Errors: `errc::timeout`; why there is no connection;
  /// `registry_errc::not_found`; `net_errc::incompatible`, naming the signature.
  template <class P>
  [[nodiscard]] base::result<core::ref<P>> remote(
      std::string_view at, std::string_view name,
      base::duration limit = base::duration::seconds(10)) {
    core::scoped_actor me(env());
    return me->get(remote<P>(*me, at, name).within(limit));
  }
  /// The same for an actor, which is the first argument: a response, to be awaited.
  ///
  ///     auto asked = node.remote<prices>(*this, "tcp://there:4040", "prices");
  ///     result<ref<prices>> feed = co_await std::move(asked);
  template <class P>
  [[nodiscard]] auto remote(core::actor_base& self, std::string_view at, std::string_view name) {
    return core::adapt<core::ref<P>>(self, [&](core::completion<core::ref<P>> done) {
      class answer final : public name_answer {
       public:
        explicit answer(core::completion<core::ref<P>> d) : done_(std::move(d)) {}
        void found(core::cell* who) override { done_(core::handle_access::adopt<P>(who)); }
        void failed(const base::error& why) override { done_.fail(why); }

       private:
        core::completion<core::ref<P>> done_;
      };
      resolve_erased(at, name, protocol_table_of<P>(), std::make_unique<answer>(std::move(done)));
    });
  }

  /// The peers that can be reached now.
  [[nodiscard]] std::vector<peer_identity> peers() const;
  /// What the layers of the link to a peer have counted, by layer and name: what was sent again,
  /// gaps, suspicions. Empty if it can not be reached now. Waits for who is at work on the link, so
  /// not on a thread of the node.
  [[nodiscard]] std::vector<link_count> counters(const peer_identity& who) const;
  /// From now on `who` is told of each change and of what was noticed, as long as the node lives.
  void subscribe(std::shared_ptr<peer_listener> who);
  /// No message of this life of a node gets into a mailbox any more, from the return of this call
  /// on and for ever; all its actors count as lost. The last `quarantine_list::most` are refused as
  /// peers. Waits for a delivery that is under way, so not
  /// on a thread of the node, as in a `peer_listener`.
  void quarantine(const peer_identity& who);

 private:
  [[nodiscard]] core::environment& env() const noexcept;
  [[nodiscard]] base::error publish_erased(std::string name, const core::address& who,
                                           const protocol_table& as);
  void resolve_erased(std::string_view at, std::string_view name, const protocol_table& as,
                      std::unique_ptr<name_answer> done);

  std::shared_ptr<internal::node_core> core_;
};

}  // namespace garrick::net
