// Bugs beside the layers: between a stack and its owner, and in a `session` that ignores a
// datagram's tag.
//
// Thread safety: none; a layer belongs to its stack, and a link to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/session.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/any_link.hpp"
#include "garrick/net/testkit/exchange.hpp"

namespace garrick::net::testkit::internal {

/// False statements of a link to its owner.
enum class falsehood : std::uint8_t {
  none,
  speaks_after_down,  ///< passes a message up after `down`
  hears_after_down,   ///< passes an event up after `down`
  reports_twice,      ///< reports the delivery of a message two times
  reports_nothing,    ///< reports the delivery of a message that does not exist
  invents,            ///< passes up a message that was never sent
  renumbers,          ///< alters the number of a message
  refuses,            ///< refuses a message by `denied`
  is_full,            ///< refuses a message by `overload`, although there is room
  pads,               ///< adds a byte to each message
};

/// A link with right layers and one false statement.
template <falsehood F>
class planted_link final : public any_link, link_owner {
 public:
  planted_link(link_owner& owner, carrier& below, const stack_place& place, const stack_kind& of)
      : owner_(owner), real_(of.make(*this, below, place)) {}

  [[nodiscard]] base::error send(outgoing&& m, base::instant now) override {
    if (F == falsehood::refuses && ++sent_ == 9) return net_errc::denied;
    if (F == falsehood::is_full && ++sent_ == 9) return net_errc::overload;
    return real_->send(std::move(m), now);
  }
  [[nodiscard]] bool writable() const override { return real_->writable(); }
  void delivered(lane_number lane, base::instant now) override { real_->delivered(lane, now); }
  [[nodiscard]] std::size_t header_size() const override { return real_->header_size(); }
  void leave(base::instant now) override { real_->leave(now); }
  void connected(base::instant now) override { real_->connected(now); }
  void disconnected(const base::error& why, base::instant now) override {
    real_->disconnected(why, now);
  }
  packet greeting(base::instant now) override { return real_->greeting(now); }
  beside answered(std::span<const std::byte> bytes, base::instant now) override {
    return real_->answered(bytes, now);
  }
  void receive(std::span<const std::byte> bytes, base::instant now) override {
    real_->receive(bytes, now);
  }
  void carrier_writable(base::instant now) override { real_->carrier_writable(now); }
  void path_changed(std::size_t largest, base::instant now) override {
    real_->path_changed(largest, now);
  }
  void over(const base::error& why, base::instant now) override { real_->over(why, now); }
  [[nodiscard]] base::instant deadline() const override { return real_->deadline(); }
  void advance(base::instant now) override { real_->advance(now); }

 private:
  bool on_message(const incoming& m) override {
    last_.assign(m.bytes.begin(), m.bytes.end());
    if (F == falsehood::pads) {
      last_.push_back(std::byte{0});
      return owner_.on_message(m.with(last_));
    }
    if (F == falsehood::renumbers && ++came_ == 9) {
      last_[6] = std::byte{0xff};
      return owner_.on_message(m.with(last_));
    }
    if (F == falsehood::invents && ++came_ == 9) return owner_.on_message(m.with(m.bytes.first(3)));
    return owner_.on_message(m);
  }
  void on_event(const link_event& e) override {
    using kind = link_event::kind;
    owner_.on_event(e);
    if (F == falsehood::reports_twice && e.what == kind::delivered) owner_.on_event(e);
    if (F == falsehood::reports_nothing && e.what == kind::delivered)
      owner_.on_event({kind::delivered, 1u << 30});
    if (e.what != kind::down) return;
    if (F == falsehood::speaks_after_down) std::ignore = owner_.on_message({last_});
    if (F == falsehood::hears_after_down) owner_.on_event({kind::writable});
  }

  link_owner& owner_;
  std::vector<std::byte> last_;
  std::uint32_t sent_ = 0;
  std::uint32_t came_ = 0;
  std::unique_ptr<any_link> real_;
};

/// Returns stacks of this kind with that bug.
template <falsehood F>
[[nodiscard]] stack_kind with_falsehood(stack_kind kind) {
  kind.make = [of = kind](link_owner& owner, carrier& below,
                          const stack_place& place) -> std::unique_ptr<any_link> {
    return std::make_unique<planted_link<F>>(owner, below, place, of);
  };
  return kind;
}

/// Takes the datagrams of every session for those of its own.
class careless_detection : public session {
 public:
  using session::session;
  void receive(const incoming& m, layer_context& c) {
    const bool has_tag =
        m.bytes.size() >= header_size && m.bytes[0] == static_cast<std::byte>(session_packet::data);
    if (!has_tag || peer() == nullptr) return session::receive(m, c);
    std::vector<std::byte> marked(m.bytes.begin(), m.bytes.end());
    store_le(marked.data() + 1, tag_of_peer());
    session::receive(m.with(marked), c);
  }
};

}  // namespace garrick::net::testkit::internal
