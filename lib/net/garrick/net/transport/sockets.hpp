// Real transports: TCP, UDP and Unix domain sockets, by one function that connects and one that
// listens. The endpoint names the kind.
//
// Guarantees of both, for each kind:
//   K1  A name is looked up again at each opening; each of its addresses is tried in turn. No link
//       waits while another one's name is looked up. Links that open while the same name is looked
//       up share the answer.
//   K2  Bytes of a stack are kept while a thread is in the link, and go out in one call of the
//       system when it leaves. A visitor of an idle link writes to the socket itself. If messages
//       come faster than the socket takes them, the I/O thread writes many of them by one call.
//   K3  A stream's end and a reset are reported at once. Layers find out whether a silent peer
//       lives.
//   K4  A closed stream sends the bytes that were taken before, within `close_limit`.
//
// Unix domain sockets check the user at the other end, on both sides. A socket's file is made with
// `mode`, replaces a file without a listener, and is removed with its listener.
//
// Datagrams are never cut on their way. A datagram that is too large for the path is dropped, and
// the stack is told the largest size. Datagrams are dropped, too, while the socket's buffer is
// full, and while as many bytes as the buffer holds wait for a visitor of their link to leave. The
// listener's one socket serves all its peers, which it knows by their addresses.
//
// Thread safety: any thread.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "garrick/base/values/result.hpp"
#include "garrick/net/transport/accept_policy.hpp"
#include "garrick/net/transport/endpoint.hpp"
#include "garrick/net/transport/hosted.hpp"
#include "garrick/net/transport/io_threads.hpp"
#include "garrick/net/transport/listener.hpp"
#include "garrick/net/transport/transport_settings.hpp"

namespace garrick::net {

/// Makes the object of a link that this end opens: on the link's I/O thread, once. The carrier
/// outlives the object. Null, or an exception, ends the link.
class hosted_maker {
 public:
  virtual ~hosted_maker() = default;
  /// Returns the object; see the class.
  [[nodiscard]] virtual std::unique_ptr<hosted> make(carrier& below, const connection& self) = 0;
};

/// Opens a link to an endpoint, or to the one that it advertises, and returns it: makes the object
/// and begins to connect. The stack is told the result by `connected` or `disconnected`; after
/// `disconnected` it may call `reopen`. Errors: `errc::shutting_down` if the I/O threads have
/// stopped, `errc::invalid_setting` if `make` is null or a setting is wrong, with its name,
/// `net_errc::bad_endpoint` for port 0. Throws std::bad_alloc.
[[nodiscard]] base::result<connection> connect(io_threads& io, const endpoint& to,
                                               std::unique_ptr<hosted_maker> make,
                                               const transport_settings& s = {});

/// Opens a link with an object made by `std::unique_ptr<hosted> f(carrier&, const connection&)`,
/// and returns it.
template <class F>
  requires std::is_invocable_v<F&, carrier&, const connection&>
[[nodiscard]] base::result<connection> connect(io_threads& io, const endpoint& to, F f,
                                               const transport_settings& s = {}) {
  struct makes final : hosted_maker {
    explicit makes(F g) : f_(std::move(g)) {}
    std::unique_ptr<hosted> make(carrier& below, const connection& self) override {
      return f_(below, self);
    }
    F f_;
  };
  return connect(io, to, std::unique_ptr<hosted_maker>(std::make_unique<makes>(std::move(f))), s);
}

/// Listens at an endpoint and returns the listener. Looks up a name on the calling thread, which
/// may take seconds, and takes its first usable address. `tcp://[::]:0` takes IPv6 only.
/// `listener::local` returns the address for other processes, too: the advertised endpoint of `at`,
/// with the bound port if it names none. Errors: `net_errc::unreachable` for a name without
/// address, `net_errc::address_in_use` if another socket listens there, `net_errc::io` with the
/// system's words, as for an address of another machine or a missing folder, `errc::shutting_down`
/// and `errc::invalid_setting` as `connect`; a null policy is an invalid setting. Throws
/// std::bad_alloc.
[[nodiscard]] base::result<listener> listen(io_threads& io, const endpoint& at,
                                            std::shared_ptr<accept_policy> policy,
                                            const transport_settings& s = {},
                                            const accept_limits& limits = {});

}  // namespace garrick::net
