// A message goes back and forth through the stack `datagrams` over UDP: order, reliability,
// sessions, acknowledgements into the mailbox.
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/transport/sockets.hpp>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "net/common/link_end.hpp"
#include "net/common/lossy.hpp"

using namespace garrick;

namespace {

using bench::client_id, bench::server_id;

constexpr std::size_t message_size = 64;

/// One end, which sends each message back with the first byte counted up, or counts the bounces.
class end final : public net::hosted, net::link_owner {
 public:
  end(const net::named_stack& kind, net::carrier& below, bool connects, std::uint64_t bounces,
      std::promise<std::vector<std::int64_t>>* done)
      : link_(kind.make(*this, below, bench::end_settings(connects))),
        connects_(connects),
        bounces_(bounces),
        done_(done) {}
  net::carried& stack() override { return *link_; }

 private:
  bool on_message(const net::incoming& m) override {
    const net::frame* f = m.decoded;
    if (!f || f->payload.size() != message_size) return true;
    const auto value = static_cast<unsigned char>(f->payload[0]);
    if (!connects_) {
      send(static_cast<unsigned char>(value + 1));
    } else {
      const std::int64_t now = bench::now_ns();
      if (value == static_cast<unsigned char>(last_ + 1)) rounds_.push_back(now - begun_);
      last_ = value;
      begun_ = now;
      if (++done_bounces_ == bounces_)
        done_->set_value(rounds_);
      else
        send(last_);
    }
    return true;
  }
  void on_event(const net::link_event& e) override {
    if (e.what == net::link_event::kind::opened && connects_) {
      begun_ = bench::now_ns();
      send(0);
    }
    if (e.what == net::link_event::kind::down && connects_ && done_bounces_ < bounces_)
      done_->set_value(rounds_);
  }
  void send(unsigned char value) {
    net::packet p = net::packet::with_room(net::frame_room + link_->header_size(), message_size);
    std::byte* bytes = p.append(message_size);
    for (std::size_t i = 0; i < message_size; ++i) bytes[i] = std::byte{value};
    static_cast<void>(link_->send(net::to_outgoing({.kind = net::frame_kind::message,
                                                    .receiver = connects_ ? server_id : client_id,
                                                    .sender = connects_ ? client_id : server_id},
                                                   std::move(p)),
                                  base::real_clock().now()));
  }

  std::unique_ptr<net::any_link> link_;
  bool connects_;
  std::uint64_t bounces_;
  std::promise<std::vector<std::int64_t>>* done_;
  std::vector<std::int64_t> rounds_;  // of those that were right
  std::int64_t begun_ = 0;
  std::uint64_t done_bounces_ = 0;
  unsigned char last_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const lossy_end here = lossy_ends(args);
  const std::uint64_t bounces = args.number("bounces", 2000);
  const double loss = std::stod(args.text("loss", "0"));
  const std::string name = args.text("stack", "datagrams");
  args.number("rto_min_ms", 0);
  args.reject_unknown();
  const net::stack_catalogue stacks = net::standard_stacks();
  const net::named_stack* kind = stacks.find(name);
  if (kind == nullptr) arguments::fail(stacks.explain(name).to_string());
  const net::endpoint at = server_endpoint(kind->transport == net::carrier_kind::stream);
  net::io_threads io;
  if (here.is_server())
    serve_each(io, at, [kind](net::carrier& below) {
      return std::make_unique<end>(*kind, below, false, 0, nullptr);
    });
  std::promise<std::vector<std::int64_t>> done;
  auto link = net::connect(io, at, [&](net::carrier& below, const net::connection&) {
    return std::make_unique<end>(*kind, below, true, bounces, &done);
  });
  if (!link) arguments::fail(link.error().to_string());
  std::vector<std::int64_t> rounds = done.get_future().get();
  for (const std::int64_t ns : rounds) out.seconds += static_cast<double>(ns) * 1e-9;
  out.items = bounces;
  out.expect("bounces", bounces, rounds.size());
  tell_cost_of_loss(out, std::move(rounds), loss);
}
