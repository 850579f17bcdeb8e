// Messages between two ends, over a stack chosen by its name. The sender gets reports about its
// messages, and the receiver gets the messages.
//
//   57_two_ends [STACK]     stream (the default) or datagrams
#include <garrick/net/stack/accept_sessions.hpp>
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/transport/sockets.hpp>
#include <garrick/net/wire/codec.hpp>
#include <garrick/net/wire/type_id.hpp>

#include <cstdio>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "../support/usage.hpp"

using namespace garrick;

struct greeting {
  std::string text;
  int number;
};

constexpr net::actor_id client{1, 1}, server{2, 2};  // a node chooses them at random

net::link_settings settings_of(bool connects, std::uint64_t secret) {
  net::link_settings s;
  s.session.self.incarnation = std::random_device()() | 1;  // identifies this run of the program
  s.session.connects = connects;
  s.session.secret = secret;  // of this session alone; 0: it draws one
  return s;
}

// [end]
class end final : public net::hosted, net::link_owner {
 public:
  end(const net::named_stack& kind, net::carrier& below, bool connects, std::uint64_t secret,
      std::promise<void>* over)
      : link_(kind.make(*this, below, settings_of(connects, secret))), over_(over) {}
  net::carried& stack() override { return *link_; }
  bool admitted() const override { return opened_; }
  void leave() { link_->leave(base::real_clock().now()); }

 private:
  bool on_message(const net::incoming& m) override {  // the bytes are valid until it returns
    const auto g = net::decode<greeting>(m.decoded->payload);
    if (g) std::printf("server: %s, number %d\n", g->text.c_str(), g->number);
    return true;  // the message is delivered: the sender may get its report
  }
  void on_event(const net::link_event& e) override {
    using kind = net::link_event::kind;
    if (e.what == kind::opened) opened_ = true;
    if (over_ == nullptr) return;  // the server only listens
    if (e.what == kind::opened)
      for (int i = 1; i <= 3; ++i) send({"hello", i});
    if (e.what == kind::delivered && e.number == 3) over_->set_value();
    if (e.what == kind::unknown) std::printf("client: unknown whether %lu came\n", e.number);
  }
  void send(const greeting& g) {
    auto payload = net::encode(g, {.front = net::frame_room + link_->header_size()});
    net::outgoing m = net::to_outgoing({.kind = net::frame_kind::message,
                                        .receiver = server,
                                        .sender = client,
                                        .type = net::type_id<greeting>},
                                       std::move(*payload));
    m.report = static_cast<std::uint64_t>(g.number);  // asks for a report about this message
    if (const base::error e = link_->send(std::move(m), base::real_clock().now()))
      std::printf("client: %s\n", e.to_string().c_str());
  }

  std::unique_ptr<net::any_link> link_;
  std::promise<void>* over_;
  bool opened_ = false;
};
// [/end]

// [sessions]
// A client whose connection breaks opens a new one, and finds its session.
class sessions final : public net::accept_sessions {
 public:
  explicit sessions(const net::named_stack& kind) : kind_(kind) {}

 private:
  std::unique_ptr<net::hosted> make_session(const net::arrival&, const net::hello&,
                                            std::uint64_t secret, net::carrier& below,
                                            const net::connection&) override {
    return std::make_unique<end>(kind_, below, false, secret, nullptr);
  }
  const net::named_stack& kind_;
};
// [/sessions]

constexpr const char* usage =
    "57_two_ends [STACK]\n"
    "Sends three messages between two ends, over a stack that is chosen by its name:\n"
    "stream (the default) or datagrams.";

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv, usage)) return 0;
  // [stack]
  const net::stack_catalogue stacks = net::standard_stacks();
  const std::string name = argc > 1 ? argv[1] : "stream";
  const net::named_stack* kind = stacks.find(name);
  if (kind == nullptr) return std::puts(stacks.explain(name).to_string().c_str()), 1;
  // [/stack]
  if (!kind->provides.confirmed) return std::puts("a stack that confirms, please"), 1;

  // [sockets]
  net::io_threads io;
  const bool stream = kind->transport == net::carrier_kind::stream;
  const auto at = net::endpoint::parse(stream ? "tcp://127.0.0.1:0" : "udp://127.0.0.1:0").value();
  auto door = net::listen(io, at, std::make_shared<sessions>(*kind));
  std::promise<void> over;
  auto link =
      net::connect(io, door.value().local(), [&](net::carrier& below, const net::connection&) {
        return std::make_unique<end>(*kind, below, true, 0, &over);
      });
  // [/sockets]
  over.get_future().wait();
  std::puts("client: all three are in the receiver's mailbox");
  // [leave]
  link.value().run([](net::hosted& h) { static_cast<end&>(h).leave(); });
  // [/leave]
}
