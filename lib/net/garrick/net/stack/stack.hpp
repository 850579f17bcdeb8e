// A list of layers, composed at compile time, as a link (paper 004, §5 and figure 2).
//
//   using framed_stream = stack<byte_stream, framing>;
//   auto link = std::make_unique<framed_stream>(owner, carrier, framing());
//
// The first layer is the top. The compiler checks here whether the layers fit together: each layer
// tells whether it fits on the layers below (`layer::check_below`) and which guarantees it makes of
// theirs (`layer::provides`). `stack::provides` is the guarantee for the stack's owner.
//
// Each layer sees the others through a context of its own, whose calls go straight to the
// neighbour: virtual calls of some two nanoseconds. Layers are ordinary classes in .cpp files.
//
// Invariants:
//   S1  The owner never calls into a layer that is in the middle of a call: its messages are kept
//       while the stack calls it, and sent in order when the outermost call ends.
//   S2  After `down` no more event or message is passed to the owner.
//   S3  A message is refused before any layer has seen it, or taken for good. Messages that are
//       taken in a call that ends with `down` are handed to the layers before the owner gets
//       that event, so their reports and answers come.
//   S4  Once the owner has called `leave`, or `carrier::close`, no message of the peer is passed to
//       it. Messages that it sent before `leave` reach the layers before these leave.
//   S5  An exception of the owner leaves the outermost call. Messages that the call has kept go out
//       first in the next call, and a `leave` is carried out at the end of that call.
//
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/types/first_failure.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/stack/any_link.hpp"
#include "garrick/net/stack/detail/kept_messages.hpp"
#include "garrick/net/stack/fingerprint.hpp"

namespace garrick::net {

/// The guarantees of a transport of datagrams.
struct datagrams {
  static constexpr properties offers{.messages = true};  ///< nothing else
};
/// The guarantees of a stream: bytes in order, without borders, which can be lost together and
/// opened again.
struct byte_stream {
  /// No borders between messages.
  static constexpr properties offers{
      .once = true, .ordered = true, .reliable = true, .connected = true};
};

namespace detail {

/// A class that states its guarantees, as `datagrams` does.
template <class T>
concept is_transport = requires {
  { T::offers } -> std::convertible_to<properties>;
};

/// Returns the guarantees above layer `I` of the list; for `sizeof...(Ls)`, those of the transport.
template <std::size_t I, class Transport, class... Ls>
consteval properties offered() {
  if constexpr (!is_transport<Transport>)
    return {};  // `report_of_fit` reports that
  else if constexpr (I == sizeof...(Ls))
    return Transport::offers;
  else
    return std::tuple_element_t<I, std::tuple<Ls...>>::provides(offered<I + 1, Transport, Ls...>());
}

/// Returns the reason why `L` does not fit on layers with these guarantees; zero, of any
/// enumeration, if it fits.
template <class L>
consteval auto misfit_of(properties below) {
  if constexpr (requires { L::check_below(below); })
    return L::check_below(below);
  else
    return misfit::none;
}

template <class>
inline constexpr bool fits_nowhere = false;
template <class Layer, auto Why>
struct layer_does_not_fit : base::detail::failed_check {
  static_assert(fits_nowhere<Layer>,
                "a layer of this stack does not fit on the part below it: "
                "layer_does_not_fit<layer, why> names the layer and the reason");
};

template <class NoTransport>
struct stack_without_transport : base::detail::failed_check {
  static_assert(fits_nowhere<NoTransport>,
                "a stack begins with its transport: stack<datagrams, ...>, stack<byte_stream, ...> "
                "or a class with `offers` as they have");
};

/// Returns the type that names the lowest of the first `I` layers that does not fit; if all of them
/// fit, the type that says so.
template <std::size_t I, class Transport, class... Ls>
consteval auto report_of_fit() {
  if constexpr (!is_transport<Transport>) {
    return std::type_identity<stack_without_transport<Transport>>{};
  } else if constexpr (I == 0) {
    return std::type_identity<base::detail::passed_check>{};
  } else {
    using lowest = std::tuple_element_t<I - 1, std::tuple<Ls...>>;
    constexpr auto why = misfit_of<lowest>(offered<I, Transport, Ls...>());
    if constexpr (why == decltype(why){})
      return report_of_fit<I - 1, Transport, Ls...>();
    else
      return std::type_identity<layer_does_not_fit<lowest, why>>{};
  }
}

/// Returns the bytes of all headers of the layers from `I` on.
template <std::size_t I, class... Ls>
consteval std::size_t headers_from() {
  constexpr std::array<std::size_t, sizeof...(Ls)> sizes{Ls::header_size...};
  std::size_t sum = 0;
  for (std::size_t i = I; i < sizes.size(); ++i) sum += sizes[i];
  return sum;
}

}  // namespace detail

/// The layers `Ls`, top first, over a transport: `datagrams`, `byte_stream` or a class with
/// `offers` as they have.
template <class Transport, layer... Ls>
class stack final : public any_link {
  static constexpr std::size_t count = sizeof...(Ls);
  using fit = typename decltype(detail::report_of_fit<count, Transport, Ls...>())::type;
  static_assert(fit::reported);
  template <class L>
  static constexpr std::size_t how_many = (std::size_t{std::is_same_v<L, Ls>} + ... + 0);
  /// Returns the index of the layer of class `L`. If there is none, or there are several, `get`
  /// reports that.
  template <class L>
  static consteval std::size_t index_of() {
    constexpr std::array<bool, count> is_it{std::is_same_v<L, Ls>...};
    const auto found = std::find(is_it.begin(), is_it.end(), true);
    return found == is_it.end() ? 0 : static_cast<std::size_t>(found - is_it.begin());
  }

 public:
  /// The guarantees for the owner.
  static constexpr properties provides = detail::offered<0, Transport, Ls...>();
  /// The number by which both ends know that they have the same layers.
  static constexpr std::uint32_t fingerprint = fingerprint_of<Ls...>();
  static_assert(count > 0, "a stack has at least one layer");
  static_assert(provides.messages || !base::detail::passes<fit>,
                "a byte stream needs `framing` as its lowest layer, or messages have no borders");

  /// Makes the link. Owner and carrier must outlive the stack. The layers are moved in, top first.
  stack(link_owner& owner, carrier& below, Ls... layers)
      : owner_(&owner), carrier_(&below), layers_(std::move(layers)...) {
    bind(std::index_sequence_for<Ls...>());
  }

  /// Returns the layer of class `L`, for its settings and its counters. Requires exactly one such
  /// layer.
  template <class L>
  [[nodiscard]] auto& get() noexcept {
    static_assert(how_many<L> == 1, "the stack has no layer of this class, or several");
    return std::get<index_of<L>()>(layers_);
  }
  /// Returns the layer of a constant stack.
  template <class L>
  [[nodiscard]] const auto& get() const noexcept {
    static_assert(how_many<L> == 1, "the stack has no layer of this class, or several");
    return std::get<index_of<L>()>(layers_);
  }

  [[nodiscard]] base::error send(outgoing&& m, base::instant now) override {
    if (down_ || leaves_) return net_errc::peer_down;
    if (m.bytes.size() > largest_message()) return too_large(m.bytes.size());
    if (m.lane != system_lane && !writable()) return net_errc::overload;
    if (m.bytes.room_in_front() < header_size())
      m.bytes = packet::copy_of(m.bytes.bytes(), header_size());
    if (depth_ != 0) return keep(std::move(m));
    within(now, [&] { std::get<0>(layers_).send(std::move(m), std::get<0>(contexts_)); });
    return {};
  }
  [[nodiscard]] bool writable() const override {
    return !down_ && !leaves_ && kept_.has_room() &&
           std::get<0>(layers_).writable(std::get<0>(contexts_));
  }
  void delivered(lane_number lane, base::instant now) override {
    within(now, [&] { each([&](auto& l, auto& c) { l.delivered(lane, c); }); });
  }
  [[nodiscard]] std::size_t header_size() const override {
    return detail::headers_from<0, Ls...>();
  }
  /// Returns the most bytes of a message at present.
  [[nodiscard]] std::size_t largest_message() const {
    return std::get<0>(contexts_).largest_of_own();
  }
  [[nodiscard]] const hello* peer() const noexcept override {
    const hello* found = nullptr;
    std::apply(
        [&](const Ls&... l) {
          const auto ask = [&](const auto& one) {
            if constexpr (requires {
                            { one.peer() } -> std::same_as<const hello*>;
                          })
              found = one.peer();
          };
          (ask(l), ...);
        },
        layers_);
    return found;
  }
  [[nodiscard]] std::vector<link_count> counters() const override {
    std::vector<link_count> all;
    const auto ask = [&]<class L>(const L& one) {
      std::string_view name;
      if constexpr (requires { L::wire_name; }) name = L::wire_name;
      if constexpr (requires { one.counters().named(); })
        for (const layer_count& c : one.counters().named()) all.push_back({name, c.name, c.value});
    };
    std::apply([&](const Ls&... l) { (ask(l), ...); }, layers_);
    return all;
  }
  void leave(base::instant now) override {
    leaves_ = true;
    if (!down_ && depth_ == 0) within(now, [] {});
  }

  void connected(base::instant now) override {
    from_below(link_event{link_event::kind::connected}, now);
  }
  void disconnected(const base::error& why, base::instant now) override {
    from_below(link_event{link_event::kind::disconnected, 0, why}, now);
  }
  [[nodiscard]] packet greeting(base::instant now) override {
    packet first;
    if (!down_ && !leaves_)
      within(now, [&] {
        each([&](auto& l, auto& c) {
          if constexpr (requires { l.greeting(c); }) first = l.greeting(c);
        });
      });
    return first;
  }
  [[nodiscard]] beside answered(std::span<const std::byte> bytes, base::instant now) override {
    beside what = beside::drops;
    if (!down_ && !leaves_)
      within(now, [&] {
        each([&](auto& l, auto& c) {
          if constexpr (requires { l.answered(bytes, c); }) what = l.answered(bytes, c);
        });
      });
    return what;
  }
  void receive(std::span<const std::byte> bytes, base::instant now) override {
    if (down_) return;
    within(now, [&] {
      std::get<count - 1>(layers_).receive(incoming{bytes}, std::get<count - 1>(contexts_));
    });
  }
  void carrier_writable(base::instant now) override {
    from_below(link_event{link_event::kind::writable}, now);
  }
  void path_changed(std::size_t largest, base::instant now) override {
    from_below(link_event{link_event::kind::path, largest}, now);
  }
  void over(const base::error& why, base::instant now) override {
    from_below(link_event{link_event::kind::down, 0, why}, now);
  }
  [[nodiscard]] base::instant deadline() const override {
    if (down_) return base::instant::never();
    base::instant first = base::instant::never();
    std::apply([&](const Ls&... l) { ((first = std::min(first, l.deadline())), ...); }, layers_);
    return first;
  }
  void advance(base::instant now) override {
    within(now, [&] {
      // Bottom first: a message that a lower layer passes up changes the deadlines of the upper
      // ones.
      backwards([&](auto& l, auto& c) {
        if (!down_ && l.deadline() <= now) l.advance(c);
      });
    });
  }

 private:
  template <std::size_t I>
  class context final : public layer_context {
   public:
    static constexpr std::size_t place = I;
    void down(outgoing&& m) override {
      if constexpr (I + 1 == count)
        whole->carrier_->transmit(std::move(m.bytes));
      else
        std::get<I + 1>(whole->layers_).send(std::move(m), std::get<I + 1>(whole->contexts_));
    }
    bool up(const incoming& m) override {
      if constexpr (I == 0) {
        // Messages after the end are dropped, and must not be acknowledged.
        const bool there = whole->passes_up(m) && whole->owner_->on_message(m);
        if (!there) whole->taken_ = false;
        return there;
      } else {
        // A layer's `receive` returns nothing: `taken_` carries the owner's result for all messages
        // made from `m`. It also counts for the message below of which `m` is a part.
        const bool before = std::exchange(whole->taken_, true);
        std::get<I - 1>(whole->layers_).receive(m, std::get<I - 1>(whole->contexts_));
        const bool there = whole->taken_;
        whole->taken_ = before && there;
        return there;
      }
    }
    void notify(const link_event& e) override {
      // Messages that the owner sent in this call were taken: the layers report their fate.
      if (I <= 1 && e.what == link_event::kind::down) whole->hand_over_kept();
      if constexpr (I == 0)
        whole->tell(e);
      else
        std::get<I - 1>(whole->layers_).notice(e, std::get<I - 1>(whole->contexts_));
    }
    [[nodiscard]] bool below_is_writable() const override {
      if constexpr (I + 1 == count)
        return whole->carrier_->writable();
      else
        return std::get<I + 1>(whole->layers_).writable(std::get<I + 1>(whole->contexts_));
    }
    [[nodiscard]] std::size_t headers_below() const override {
      return detail::headers_from<I + 1, Ls...>();
    }
    [[nodiscard]] std::uint32_t fingerprint() const noexcept override { return stack::fingerprint; }
    [[nodiscard]] std::size_t largest_below() const override {
      if constexpr (I + 1 == count)
        return whole->carrier_->largest();
      else
        return std::get<I + 1>(whole->contexts_).largest_of_own();
    }
    [[nodiscard]] const properties& provided() const noexcept override { return stack::provides; }
    void reopen() override { whole->carrier_->reopen(); }
    void reopen_beside() override { whole->carrier_->reopen_beside(); }
    void close() override {
      whole->closed_here_ = true;
      whole->carrier_->close();
    }
    void expect_at_most(std::size_t n) override {
      if constexpr (I + 1 != count)
        detail::expect_at_most(std::get<I + 1>(whole->layers_), n,
                               std::get<I + 1>(whole->contexts_));
    }
    void tell_below(const base::error& why) override {
      whole->each([&]<class C>(auto& l, C& c) {
        if constexpr (C::place > I && requires { l.ends(why, c); }) l.ends(why, c);
      });
    }

    /// Returns the limit of layer `I`: its own, or the limit below less the layer's header.
    [[nodiscard]] std::size_t largest_of_own() const {
      using own = std::tuple_element_t<I, std::tuple<Ls...>>;
      if constexpr (requires(const own& l) {
                      { l.largest() } -> std::same_as<std::size_t>;
                    })
        return std::get<I>(whole->layers_).largest();
      else if constexpr (requires(const own& l, const layer_context& c) {
                           { l.largest(c) } -> std::same_as<std::size_t>;
                         })
        return std::get<I>(whole->layers_).largest(*this);
      const std::size_t all = largest_below();
      return all - std::min(all, std::size_t{own::header_size});
    }

    void bind(stack& s) noexcept {
      static constexpr properties offered = detail::offered<I + 1, Transport, Ls...>();
      whole = &s;
      below_ = &offered;
    }
    void at(base::instant now) noexcept { now_ = now; }
    stack* whole = nullptr;
  };

  /// Makes a call from outside: sets the time, calls `f`, and sends the messages that the owner has
  /// sent meanwhile (S1, S5).
  template <class F>
  void within(base::instant now, F f) {
    struct one_less {
      std::uint32_t& depth;
      ~one_less() { --depth; }
    };
    ++depth_;
    const one_less at_end{depth_};
    if (depth_ == 1) {
      std::apply([&](auto&... c) { (c.at(now), ...); }, contexts_);
      send_kept();  // messages of a call that has thrown
    }
    f();
    if (depth_ != 1) return;
    send_kept();
    if (leaves_) leave_now();
  }

  template <std::size_t... I>
  void bind(std::index_sequence<I...>) {
    (std::get<I>(contexts_).bind(*this), ...);
  }
  template <class F, std::size_t... I>
  void each_of(F& f, std::index_sequence<I...>) {
    (f(std::get<I>(layers_), std::get<I>(contexts_)), ...);
  }
  template <class F>
  void each(F f) {
    each_of(f, std::index_sequence_for<Ls...>());
  }
  template <class F, std::size_t... I>
  void backwards_of(F& f, std::index_sequence<I...>) {
    (f(std::get<count - 1 - I>(layers_), std::get<count - 1 - I>(contexts_)), ...);
  }
  template <class F>
  void backwards(F f) {
    backwards_of(f, std::index_sequence_for<Ls...>());
  }
  void from_below(const link_event& e, base::instant now) {
    if (down_) return;
    within(now, [&] { std::get<count - 1>(layers_).notice(e, std::get<count - 1>(contexts_)); });
  }
  [[nodiscard]] bool passes_up(const incoming& m) const {
    // A layer that closes the carrier has given the reason: the layers above may still do their
    // last work.
    return !down_ && ((!leaves_ && (closed_here_ || !carrier_->is_closed())) || m.made_here);
  }
  void leave_now() {
    if (down_) return;
    each([&](auto& l, auto& c) {
      if constexpr (requires { l.leave(c); }) l.leave(c);
    });
    if (down_) return;
    carrier_->close();
    end({});
  }
  [[gnu::cold]] base::error too_large(std::size_t size) const {
    return base::make_error(net_errc::too_large, std::to_string(size) + " bytes, where " +
                                                     std::to_string(largest_message()) +
                                                     " are allowed");
  }
  [[nodiscard]] base::error keep(outgoing&& m) {
    if (kept_.keep(std::move(m))) return {};
    return base::make_error(net_errc::overload, "a link", "so much was sent within one call");
  }
  void hand_over_kept() {
    // Sending here may make the owner send again, which extends the list.
    while (kept_.has_next()) {
      outgoing m = kept_.take_next();
      std::get<0>(layers_).send(std::move(m), std::get<0>(contexts_));
    }
  }
  void send_kept() {
    while (!kept_.empty()) {
      hand_over_kept();
      const bool was_full = !kept_.has_room();
      kept_.clear();
      // The full list has refused messages of the owner, and no layer knows of the list.
      if (was_full && writable()) tell(link_event{link_event::kind::writable});
    }
  }
  void tell(const link_event& e) {
    if (down_) return;
    if (e.what == link_event::kind::down) return end(e.why);
    owner_->on_event(e);
  }
  void end(const base::error& why) {
    if (std::exchange(down_, true)) return;
    owner_->on_event(link_event{link_event::kind::down, 0, why});
  }

  template <std::size_t... I>
  static auto contexts_for(std::index_sequence<I...>) -> std::tuple<context<I>...>;

  link_owner* owner_;
  carrier* carrier_;
  std::tuple<Ls...> layers_;
  decltype(contexts_for(std::index_sequence_for<Ls...>())) contexts_;
  detail::kept_messages kept_;  ///< S1
  std::uint32_t depth_ = 0;
  bool down_ = false;
  bool closed_here_ = false;  ///< by a layer
  bool leaves_ = false;       ///< the owner has called `leave`; done when the outermost call ends
  bool taken_ = true;
};

}  // namespace garrick::net
