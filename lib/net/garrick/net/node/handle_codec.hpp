// Actors' handles in messages, as the codec writes and reads them.
//
//   struct one {
//     ref<guest_type> who;   // the receiver sends to it from its own node
//   };
//
// A handle has a meaning only in a node, which knows the actor's number and the proxy or local
// actor that belongs to it. So the codec turns to the node that is encoding or decoding, which it
// finds in the context of its writer or reader (wire/codec_context.hpp). Without a node a handle is
// `net_errc::not_encodable`.
//
// Thread safety: that of the writer and the reader.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/wire/encodable.hpp>

namespace garrick::net {

/// Writes and reads handles for one link of a node.
class handle_porter {
 public:
  /// Appends a handle to `who`, or an empty one for null, to be used with this protocol. Records a
  /// failure in `out`.
  virtual void write(byte_writer& out, core::cell* who, const protocol_table& as) = 0;
  /// Reads a handle that the other end's `write` has written. Returns a strong reference, which
  /// the caller owns, or null for an empty handle. Records a failure in `in`, and returns null.
  [[nodiscard]] virtual core::cell* read(byte_reader& in, const protocol_table& as) = 0;

 protected:
  handle_porter() = default;
  ~handle_porter() = default;
  handle_porter(const handle_porter&) = default;
  handle_porter& operator=(const handle_porter&) = default;
};

/// Weak handles and addresses keep no actor alive, so the other node could find no actor by them:
/// send a strong handle, from which the receiver may make a weak one.
template <class P>
inline constexpr bool is_only_meaningful_here<core::weak_ref<P>> = true;
template <>
inline constexpr bool is_only_meaningful_here<core::address> = true;

/// The codec of strong handles: the actor is held until the other node has released it.
template <class P>
struct codec<core::ref<P>> {
  /// Appends the handle.
  static void encode(byte_writer& out, const core::ref<P>& r) {
    auto* const porter = out.context().template as<handle_porter>();
    if (porter == nullptr)
      return out.fail(base::make_error(net_errc::not_encodable, "an actor's handle",
                                       "only nodes know its meaning"));
    porter->write(out, core::handle_access::get(r), protocol_table_of<P>());
  }
  /// Reads a handle.
  static void decode(byte_reader& in, core::ref<P>& r) {
    auto* const porter = in.context().template as<handle_porter>();
    if (porter == nullptr) return in.fail("an actor's handle, where no node reads");
    r = core::handle_access::adopt<P>(porter->read(in, protocol_table_of<P>()));
  }
};

}  // namespace garrick::net
