#include <garrick/net/node/link/internal/handles.hpp>

#include <garrick/core/send.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/link/internal/decoding.hpp>

#include <exception>
#include <utility>

namespace garrick::net::internal {

namespace {

void write_id(byte_writer& out, const actor_id& id) {
  out.fixed(id.low);
  out.fixed(id.high);
}

}  // namespace

base::result<packet> handles::encode(const content_codec& how, const void* value, frame& f,
                                     std::size_t front, std::size_t largest) {
  byte_writer out({.front = front,
                   .largest = largest,
                   .context = codec_context(static_cast<handle_porter&>(*this))});
  sent_.clear();
  brings_home_ = false;
  const core::no_wait_scope scope;  // a codec may send, and this link is held meanwhile
  struct taking_back {              // also if this function throws (X1)
    ~taking_back() {
      if (!is_sent)
        for (const actor_id& id : sent) static_cast<void>(from.release(id, 1));
    }
    exports& from;
    const std::vector<actor_id>& sent;
    bool is_sent = false;
  };
  taking_back at_end{exports_, sent_};
  base::result<packet> p = [&]() -> base::result<packet> {
    try {
      how.write(out, value);
    } catch (const std::exception& e) {  // a user's codec
      return base::make_error(net_errc::not_encodable, e.what());
    } catch (...) { return base::make_error(net_errc::not_encodable, "its codec has thrown"); }
    append_numbers(out, sent_);
    return std::move(out).finish();
  }();
  f.handles = static_cast<std::uint32_t>(sent_.size());
  at_end.is_sent = p.has_value();
  return p;
}

void handles::take_back() noexcept {
  for (const actor_id& id : sent_) static_cast<void>(exports_.release(id, 1));
  sent_.clear();
}

std::optional<actor_id> handles::next_unread() noexcept {
  for (; unread_ < in_.handles; ++unread_)
    if (!was_read_[unread_]) return number_behind(in_, unread_++);
  in_ = {};
  return {};
}

void handles::write(byte_writer& out, core::cell* who, const protocol_table& as) {
  if (who == nullptr) return out.fixed(static_cast<std::uint8_t>(handle_kind::empty));
  if (const remote_cell* const theirs = proxies_.as_peers(*who)) {
    out.fixed(static_cast<std::uint8_t>(handle_kind::receivers));
    brings_home_ = true;
    return write_id(out, theirs->id());
  }
  if (!exports_.has_room_for(*who, most_))
    return out.fail(base::make_error(net_errc::overload, "a node", "too many exported actors"));
  sent_.emplace_back();  // first, since there may be no memory for it
  sent_.back() = exports_.hold(*who, as);
  out.fixed(static_cast<std::uint8_t>(handle_kind::senders));
  out.varint(sent_.size() - 1);
}

core::cell* handles::read(byte_reader& in, const protocol_table& as) {
  const auto kind = static_cast<handle_kind>(in.fixed<std::uint8_t>());
  if (kind == handle_kind::empty) return nullptr;
  if (kind == handle_kind::senders) {
    const std::uint64_t place = in.varint();
    if (in.failed()) return nullptr;
    if (place >= in_.handles || was_read_[place])
      return in.fail("a handle without a number", place), nullptr;
    const actor_id id = number_behind(in_, static_cast<std::uint32_t>(place));
    if (!id) return in.fail("an empty handle"), nullptr;
    remote_cell* const proxy = proxies_.receive(id, as);
    was_read_[place] = true;  // not without memory: then it is unread
    return proxy;
  }
  actor_id id;
  id.low = in.fixed<std::uint64_t>();
  id.high = in.fixed<std::uint64_t>();
  if (in.failed()) return nullptr;
  const exports::entry* const x =
      kind == handle_kind::receivers ? exports_.find_given(id) : nullptr;
  if (x == nullptr) return in.fail("a handle that this node has not given away"), nullptr;
  core::cell* const who = core::handle_access::get(x->who);
  who->add_strong();
  return who;
}

}  // namespace garrick::net::internal
