// The calls that a link gets for reads that follow each other.
#include <garrick/net/transport/hosted.hpp>

#include <future>
#include <string>

#include <support/held_thread.hpp>
#include <support/transports.hpp>

namespace bursts_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

/// A link that notes its bursts, and the calls in them: "B r r b".
struct burst_recorder final : hosted, carried {
  explicit burst_recorder(carrier& below) : below_(below) {}
  carried& stack() override { return *this; }
  void burst(bool is) override { calls += is ? 'B' : 'b'; }
  void connected(base::instant) override { below_.transmit(packet::copy_of(bytes_of("h"))); }
  void disconnected(const base::error&, base::instant) override { calls += 'd'; }
  void receive(std::span<const std::byte> all, base::instant) override {
    calls += 'r';
    bytes += all.size();
  }
  void carrier_writable(base::instant) override {}
  void path_changed(std::size_t, base::instant) override {}
  [[nodiscard]] base::instant deadline() const override { return base::instant::never(); }
  void advance(base::instant) override {}
  std::string calls;
  std::size_t bytes = 0;

 private:
  carrier& below_;
};

/// Returns the calls of a burst recorder when it has received this many bytes and, if `with_end`,
/// has lost its connection.
std::string calls_with(const connection& to, std::size_t bytes, bool with_end = false) {
  std::string calls;
  wait_until([&] {
    std::promise<bool> over;
    const auto look = [&](hosted& h) {
      const auto& r = static_cast<burst_recorder&>(h);
      calls = r.calls;
      over.set_value(r.bytes >= bytes && calls.ends_with('d') == with_end);
    };
    if (to.run(look) == visit_result::over) FAIL("it has ended");
    return over.get_future().get();
  });
  return calls;
}

}  // namespace

TEST_CASE("bursts: messages of several reads are one burst, which is over before the next thing") {
  std::promise<connection> made;
  const auto policy = accept_each([&](const arrival&, carrier& below, const connection& self) {
    made.set_value(self);
    return std::make_unique<burst_recorder>(below);
  });
  io_threads io;
  SUBCASE("of a stream") {
    transport_settings s;
    s.read_size = 3000;
    const auto door = listen(io, at("tcp://127.0.0.1:0"), policy, s);
    bare_socket there = bare_socket::connected(door->local().port());
    const connection peer = made.get_future().get();
    REQUIRE(there.read(1) == "h");
    // A few bytes make no burst.
    there.write("little");
    CHECK(calls_with(peer, 6) == "r");
    // A burst takes 64 KiB, or 22 reads; then it is the turn of others.
    {
      const held_thread held(io);
      held.wait();
      there.write(std::string(70'000, 'x'));
      there.close();
    }
    const std::string first = "rB" + std::string(22, 'r') + 'b';
    CHECK(calls_with(peer, 70'006, true) == first + "Brrbd");
  }
  SUBCASE("of datagrams") {
    const auto door = listen(io, at("udp://127.0.0.1:0"), policy);
    const bare_socket there = bare_socket::connected(door->local().port(), SOCK_DGRAM);
    there.write("1");
    const connection peer = made.get_future().get();
    CHECK(calls_with(peer, 1) == "r");
    {
      const held_thread held(io);
      held.wait();
      for (const char* text : {"2", "3", "4"}) there.write(text);
    }
    CHECK(calls_with(peer, 4) == "rBrrrb");
  }
}

}  // namespace bursts_test
