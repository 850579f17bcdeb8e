// Sessions over real TCP connections that a proxy resets again and again, in mid-message.
#include <garrick/net/stack/accept_sessions.hpp>
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/wire/codec.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <support/transports.hpp>

#include "net/resetting_proxy.hpp"

namespace resets_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::tests;

namespace {

constexpr actor_id client_id{1, 1}, server_id{2, 2};

/// The counts of both ends, for the test's thread.
struct counts {
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> delivered{0};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> resumed{0};
  std::atomic<std::uint64_t> downs{0};
  std::atomic<bool> enough{false};
};

/// An owner that sends numbers as long as it may, and checks incoming ones.
class numbers final : public hosted, link_owner {
 public:
  numbers(carrier& below, bool connects, counts& c, std::uint64_t secret = 0)
      : counts_(c), connects_(connects) {
    link_settings s;
    s.session.secret = secret;
    s.session.self = {.node = {0, connects ? 1u : 2u}, .incarnation = connects ? 11u : 22u};
    s.session.connects = connects;
    s.session.reopen_first = base::duration::milliseconds(1);
    s.session.reopen_most = base::duration::milliseconds(4);
    s.session.hello_first = base::duration::milliseconds(20);
    s.mailbox.messages = 64;
    link_ = standard_stacks().find("stream")->make(*this, below, s);
  }
  carried& stack() override { return *link_; }

 private:
  bool on_message(const incoming& m) override {
    const base::result<std::uint64_t> number = decode<std::uint64_t>(m.decoded->payload);
    if (!number || *number != counts_.received + 1) ++counts_.wrong;
    ++counts_.received;
    return true;
  }
  void on_event(const link_event& e) override {
    using kind = link_event::kind;
    if (e.what == kind::delivered) {
      ++counts_.delivered;
      if (e.number != counts_.delivered) ++counts_.wrong;
    }
    if (e.what == kind::resumed) ++counts_.resumed;
    if (e.what == kind::down) ++counts_.downs;
    fill();
  }
  void fill() {
    while (!counts_.enough && link_->writable()) {
      base::result<packet> p = encode(counts_.sent + 1, {.front = frame_room + 64});
      outgoing m = to_outgoing({.kind = frame_kind::message,
                                .receiver = connects_ ? server_id : client_id,
                                .sender = connects_ ? client_id : server_id},
                               std::move(*p));
      m.report = counts_.sent + 1;
      if (link_->send(std::move(m), base::real_clock().now())) return;
      ++counts_.sent;
    }
  }

  counts& counts_;
  bool connects_;
  std::unique_ptr<any_link> link_;
};

struct policy final : accept_sessions {
  explicit policy(counts& c) : counts_(c) {}
  std::unique_ptr<hosted> make_session(const arrival&, const hello& who, std::uint64_t secret,
                                       carrier& below, const connection&) override {
    ++sessions;
    if (who.self.incarnation != 11) return nullptr;
    return std::make_unique<numbers>(below, false, counts_, secret);
  }
  std::atomic<int> sessions{0};
  counts& counts_;
};

}  // namespace

TEST_CASE("1000 forced resets of real connections: each message arrives once, in order") {
  counts here, there;
  const auto sessions = std::make_shared<policy>(there);
  io_threads io({.threads = 2});
  auto door = listen(io, at("tcp://127.0.0.1:0"), sessions, {.thread = 0});
  REQUIRE(door);
  resetting_proxy proxy(door->local().port());
  const auto link = connect(io, at("tcp://127.0.0.1:" + std::to_string(proxy.port())),
                            [&](carrier& below, const connection&) -> std::unique_ptr<hosted> {
                              return std::make_unique<numbers>(below, true, here);
                            },
                            {.thread = 1});
  REQUIRE(link);
  wait_until([&] { return proxy.resets() >= 1000 || here.downs + there.downs != 0; });
  here.enough = there.enough = true;
  proxy.be_kind();
  wait_until([&] {
    return (here.delivered == here.sent && there.delivered == there.sent) ||
           here.downs + there.downs != 0;
  });
  CHECK(here.downs + there.downs == 0);
  CHECK(there.received == here.sent);
  CHECK(here.received == there.sent);
  CHECK(here.wrong == 0);
  CHECK(there.wrong == 0);
  CHECK(here.resumed > 500);
  CHECK(sessions->sessions == 1);
  MESSAGE("resets " << proxy.resets() << ", resumed " << here.resumed.load() << ", messages "
                    << here.sent.load() << " and " << there.sent.load());
  io.stop();
}

}  // namespace resets_test
