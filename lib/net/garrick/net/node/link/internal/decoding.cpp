#include <garrick/net/node/link/internal/decoding.hpp>

#include <garrick/core/send.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/printable.hpp>

#include <exception>
#include <utility>

namespace garrick::net::internal {

namespace {

/// Reads empty handles, which need no tables of the link. Fails at any other, and notes it.
class tells_of_handles final : public handle_porter {
 public:
  void write(byte_writer& out, core::cell*, const protocol_table&) override {
    out.fail(base::make_error(net_errc::not_encodable, "an actor's handle"));
  }
  core::cell* read(byte_reader& in, const protocol_table&) override {
    if (static_cast<handle_kind>(in.fixed<std::uint8_t>()) != handle_kind::empty) {
      found = true;
      in.fail("an actor's handle, which only the link knows");
    }
    return nullptr;
  }
  bool found = false;
};

/// Returns the error for a codec that has thrown `e`, without a text if there is no memory for it.
base::error codec_failed(const content_codec& how, const std::exception& e) noexcept {
  try {
    return base::make_error(net_errc::decode_failed, how.content->name, printable(e.what()));
  } catch (const std::exception&) { return net_errc::decode_failed; }
}

}  // namespace

base::result<core::envelope*> read_payload(const content_codec& how,
                                           std::span<const std::byte> payload,
                                           handle_porter& handles, foreign_names* names,
                                           std::size_t* cost) noexcept {
  byte_reader in(payload, {.names = names}, codec_context(handles));
  struct at_end {
    const byte_reader& in;
    const content_codec& how;
    std::size_t* cost;
    ~at_end() {
      if (cost != nullptr) *cost = in.expanded() + how.content->size;
    }
  };
  const at_end tells{in, how, cost};
  const core::no_wait_scope scope;  // a codec may send, and must not hold up this thread
  try {
    if (core::envelope* const made = how.read(in)) return made;
    return in.failure();
  } catch (const std::exception& e) { return codec_failed(how, e); } catch (...) {
    return base::make_error(net_errc::decode_failed, how.content->name, "its codec has thrown");
  }
}

void decoding::run() noexcept {
  stage now = stage::waits;
  // order: relaxed; the bytes came here with the actor.
  if (!stage_.compare_exchange_strong(now, stage::runs, std::memory_order_relaxed)) return;
  tells_of_handles handles;
  base::result<core::envelope*> made = read_payload(how_, payload_, handles, names_.get(), &cost_);
  needs_link_ = handles.found;
  if (made)
    value_.reset(*made);
  else
    why_ = made.error();
  if (needs_link_)
    value_.reset();
  else
    bytes_ = growing_bytes();
  stage_.store(stage::done, std::memory_order_release);  // order: pairs with is_done
}

base::result<core::envelope*> decoding::result(const content_codec& as) {
  if (why_) return why_;
  if (as.content == how_.content) return value_.release();
  return base::make_error(net_errc::decode_failed, as.content->name,
                          "its receiver has become another one while it was decoded");
}

}  // namespace garrick::net::internal
