// A peer that speaks the protocol of nodes and is none: it sends frames that the test chooses, and
// keeps those that it hears. In the simulated network, 3 ms from the machine that it talks to.
#pragma once

#include <doctest/doctest.h>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/testkit/simulated_source.hpp>
#include <garrick/net/wire/codec.hpp>
#include <garrick/net/wire/orders.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace garrick::tests {

/// See above.
class stranger {
 public:
  /// A received frame.
  struct words {
    net::frame_kind kind = net::frame_kind::message;
    net::actor_id receiver;
    net::actor_id sender;
    std::uint64_t number = 0;
    base::error why;  ///< of an error
  };

  /// Makes a peer with the identity `me`, connected to `whom` at the host of this name.
  stranger(three_machines& m, listening_machine& whom, const char* name,
           net::peer_identity me = {{0, 77}, 7})
      : world_(m), whom_(whom), me_(me), at_(m.net.host("stranger")), source_(at_) {
    m.net.both(name, "stranger", {.delay = duration::milliseconds(3)});
    const auto link =
        source_.connect(net::endpoint::parse(whom.at).value(), std::make_unique<making>(*this));
    REQUIRE(link.has_value());
    link_ = *link;
    listen();
  }
  ~stranger() { source_.stop(); }
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;

  /// Sends a frame, with a payload or without one, and receives the answers.
  template <class... T>
  void say(const net::frame& f, const T&... payload) {
    link_.run([&](net::hosted& h) { static_cast<speaking&>(h).say(f, payload...); });
    listen();
  }
  /// Sends a frame this many times before it receives any, each time with the next number.
  template <class... T>
  void repeat(int times, net::frame f, const T&... payload) {
    link_.run([&](net::hosted& h) {
      for (int i = 0; i < times; ++i, ++f.number) static_cast<speaking&>(h).say(f, payload...);
    });
    listen();
  }
  /// Returns the number of the actor with this name and protocol; no actor's if it was refused.
  template <class P>
  net::actor_id resolve(const std::string& name) {
    const auto number = ++questions_;
    say({.kind = net::frame_kind::resolve, .number = number},
        net::resolve_order{name, *net::protocol_table_of<P>().described()});
    for (const words& w : heard_)
      if (w.kind == net::frame_kind::resolved && w.number == number) return w.sender;
    return {};
  }
  /// Returns true if the link is over.
  [[nodiscard]] bool is_over() const noexcept { return link_.is_over(); }
  /// Returns all received frames.
  [[nodiscard]] const std::vector<words>& heard() const noexcept { return heard_; }
  /// Returns the number of received frames of a kind; with a reason, only of errors for it.
  [[nodiscard]] std::int64_t count(net::frame_kind k, const base::error& why = {}) const {
    return std::count_if(heard_.begin(), heard_.end(),
                         [&](const words& w) { return w.kind == k && (!why || w.why == why); });
  }
  /// If false, incoming frames are neither confirmed nor kept.
  bool confirms = true;
  /// Returns the node's count of this name for this peer.
  [[nodiscard]] std::uint64_t counted(std::string_view name) const {
    for (const net::link_count& c : whom_.node.counters(me_))
      if (c.layer == "node" && c.name == name) return c.value;
    return ~std::uint64_t{0};
  }
  /// Returns the number of frames that the node has confirmed, as far as this peer knows.
  [[nodiscard]] std::uint64_t confirmed() {
    std::uint64_t n = 0;
    link_.run([&](net::hosted& h) { n = static_cast<speaking&>(h).confirmed(); });
    return n;
  }

 private:
  class speaking final : public net::hosted, net::link_owner {
   public:
    speaking(stranger& all, net::carrier& below) : all_(all) {
      net::link_settings s;
      s.session.self = all.me_;
      s.session.connects = true;
      link_ = net::standard_stacks().find("stream")->make(*this, below, s);
    }
    net::carried& stack() override { return *link_; }
    [[nodiscard]] std::uint64_t confirmed() const {
      for (const net::link_count& c : link_->counters())
        if (c.name == "confirmed") return c.value;
      return ~std::uint64_t{0};
    }
    void say(const net::frame& f) {
      say(f, net::packet::with_room(net::frame_room + link_->header_size(), 0));
    }
    template <class T>
    void say(const net::frame& f, const T& payload) {
      say(f, net::encode(payload, {.front = net::frame_room + link_->header_size()}).value());
    }

   private:
    void say(const net::frame& f, net::packet payload) {
      CHECK(!link_->send(net::to_outgoing(f, std::move(payload)), all_.at_.now()));
    }
    bool on_message(const net::incoming& m) override {
      if (m.decoded == nullptr) return true;
      if (!all_.confirms) return false;
      const net::frame& f = *m.decoded;
      const bool fails = f.kind == net::frame_kind::error;
      all_.heard_.push_back(
          {f.kind, f.receiver, f.sender, f.number, fails ? net::error_of(f) : base::error()});
      return true;
    }
    void on_event(const net::link_event&) override {}

    stranger& all_;
    std::unique_ptr<net::any_link> link_;
  };
  struct making final : net::hosted_maker {
    explicit making(stranger& s) : all(s) {}
    std::unique_ptr<net::hosted> make(net::carrier& below, const net::connection&) override {
      return std::make_unique<speaking>(all, below);
    }
    stranger& all;
  };

  void listen() { world_.a.system.run_for(duration::milliseconds(50)); }

  three_machines& world_;
  listening_machine& whom_;
  const net::peer_identity me_;
  net::testkit::simulated_host& at_;
  net::testkit::simulated_source source_;
  net::connection link_;
  std::vector<words> heard_;
  std::uint64_t questions_ = 1000;  // numbers that no test uses
};

}  // namespace garrick::tests
