// One or two flows of messages through the stack `datagrams` over UDP, each as fast as it may.
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/transport/sockets.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "net/common/link_end.hpp"
#include "net/common/lossy.hpp"

using namespace garrick;

namespace {

using bench::client_id, bench::server_id;

constexpr std::size_t message_size = 16000;

/// The end that sends as long as it is writable, and is told of confirmed bytes.
class sender final : public net::hosted, net::link_owner {
 public:
  sender(const net::named_stack& kind, net::carrier& below, std::atomic<std::uint64_t>* confirmed)
      : link_(kind.make(*this, below, bench::end_settings(true))), confirmed_(confirmed) {}
  net::carried& stack() override { return *link_; }

 private:
  bool on_message(const net::incoming&) override { return true; }
  void on_event(const net::link_event& e) override {
    if (e.what == net::link_event::kind::delivered)
      confirmed_->fetch_add(message_size, std::memory_order_relaxed);  // order: a statistic
    if (e.what == net::link_event::kind::opened || e.what == net::link_event::kind::writable)
      fill();
  }
  void fill() {
    for (;;) {
      net::packet p = net::packet::with_room(net::frame_room + link_->header_size(), message_size);
      std::fill_n(p.append(message_size), message_size, std::byte{1});
      net::outgoing m = net::to_outgoing(
          {.kind = net::frame_kind::message, .receiver = server_id, .sender = client_id},
          std::move(p));
      m.report = ++number_;
      if (link_->send(std::move(m), base::real_clock().now())) return;
    }
  }

  std::unique_ptr<net::any_link> link_;
  std::atomic<std::uint64_t>* confirmed_;
  std::uint64_t number_ = 0;
};

class receiver final : public net::hosted, net::link_owner {
 public:
  receiver(const net::named_stack& kind, net::carrier& below)
      : link_(kind.make(*this, below, bench::end_settings(false))) {}
  net::carried& stack() override { return *link_; }

 private:
  bool on_message(const net::incoming&) override { return true; }
  void on_event(const net::link_event&) override {}

  std::unique_ptr<net::any_link> link_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const lossy_end here = lossy_ends(args);
  const std::uint64_t ms = args.number("ms", 5000);
  const std::uint64_t flows = args.number("flows", 1, 1, 8);
  const net::stack_catalogue stacks = net::standard_stacks();
  const net::named_stack& kind = *stacks.find("datagrams");
  args.reject_unknown();
  const net::endpoint at = server_endpoint(false);
  net::io_threads io;
  if (here.is_server())
    serve_each(io, at,
               [&kind](net::carrier& below) { return std::make_unique<receiver>(kind, below); });
  std::vector<std::atomic<std::uint64_t>> confirmed(flows);
  for (auto& flow : confirmed)
    if (auto link = net::connect(io, at,
                                 [&](net::carrier& below, const net::connection&) {
                                   return std::make_unique<sender>(kind, below, &flow);
                                 });
        !link)
      arguments::fail(link.error().to_string());
  tell_goodput(out, ms, confirmed);
}
