// A name with several addresses, a name that changes its address, and names without an answer for a
// while. The resolver is the test's own, so that these names exist everywhere.
#include <netdb.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <support/transports.hpp>

#include "garrick/net/transport/internal/name_lookups.hpp"
#include "garrick/net/transport/internal/stream_attempt.hpp"
#include "net/gated_names.hpp"

namespace names_test {

using namespace garrick;
using namespace garrick::tests;

namespace {
/// The address of "moves.invalid".
std::atomic<const char*> moved_to{"127.0.0.2"};
}  // namespace

/// Replaces the system's function, which answers all other names.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  if (gated_names::knows(name)) {
    gated_names::gate().pass(name);
    return systems_getaddrinfo("127.0.0.1", service, hints, found);
  }
  if (name != nullptr && std::strcmp(name, "moves.invalid") == 0)
    return systems_getaddrinfo(moved_to, service, hints, found);
  if (name == nullptr || std::strcmp(name, "two.invalid") != 0)
    return systems_getaddrinfo(name, service, hints, found);
  // No socket listens at the first of its addresses.
  if (const int failed = systems_getaddrinfo("127.0.0.2", service, hints, found); failed != 0)
    return failed;
  addrinfo* last = *found;
  while (last->ai_next != nullptr) last = last->ai_next;
  return systems_getaddrinfo("127.0.0.1", service, hints, &last->ai_next);
}

TEST_CASE("names: if one address does not answer, the next one is tried") {
  io_threads io;
  const auto here = std::make_shared<notes>();
  const auto there = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(there));
  auto peer =
      connect(io, at("tcp://two.invalid:" + std::to_string(door->local().port())), opening(here));
  REQUIRE(here->wait_for(link_event::kind::connected));
  CHECK(here->look([](const notes::all& a) { return a.events.size(); }) == 1);
  send(*peer, "by name");
  CHECK(there->wait_for_messages(1));
}

/// Opens again whenever it is disconnected.
auto persistent(const std::shared_ptr<notes>& to) {
  return [to](carrier& below, const connection& self) -> std::unique_ptr<hosted> {
    auto s = std::make_unique<stream_session>(below, self, to);
    s->on_event_ = [](stream_session& v, const link_event& e) {
      if (e.what == link_event::kind::disconnected) v.below().reopen();
    };
    return s;
  };
}

TEST_CASE("names: a link that opens again looks its name up again") {
  io_threads io;
  const auto here = std::make_shared<notes>();
  const auto first = std::make_shared<notes>();
  const auto second = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.2:0"), accepting(first));
  REQUIRE(door);
  const std::string port = std::to_string(door->local().port());
  auto other_door = listen(io, at("tcp://127.0.0.3:" + port), accepting(second));
  REQUIRE(other_door);
  auto peer = connect(io, at("tcp://moves.invalid:" + port), persistent(here));
  REQUIRE(first->wait_for(link_event::kind::connected));
  moved_to = "127.0.0.3";
  first->self().run([](hosted& h) { static_cast<stream_session&>(h).below().close(); });
  REQUIRE(second->wait_for(link_event::kind::connected));
  REQUIRE(here->wait_for(link_event::kind::connected, 2));
  send(*peer, "to where it is now");
  CHECK(second->wait_for_messages(1));
}

TEST_CASE("names: a look-up that hangs keeps back no other link, and no end") {
  const closed_gate closed;
  const auto waits = std::make_shared<notes>();
  const auto waits_too = std::make_shared<notes>();
  {
    io_threads io;  // one loop for all of them
    const auto here = std::make_shared<notes>();
    const auto there = std::make_shared<notes>();
    auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(there));
    const std::string port = ":" + std::to_string(door->local().port());
    auto slow = connect(io, at("tcp://slow-end.invalid" + port), opening(waits));
    auto slow_datagrams = connect(io, at("udp://slow-end2.invalid" + port), opening(waits_too));
    gated_names::gate().wait_for("slow-end.invalid");
    gated_names::gate().wait_for("slow-end2.invalid");
    auto named = connect(io, at("tcp://two.invalid" + port), opening(here));
    REQUIRE(here->wait_for(link_event::kind::connected));
    auto numeric = connect(io, at("tcp://127.0.0.1" + port), opening(here));
    REQUIRE(here->wait_for(link_event::kind::connected, 2));
    CHECK(waits->look([](const notes::all& a) { return a.events.size() + a.ended; }) == 0);
  }  // ends while both names are being looked up
  CHECK(waits->look([](const notes::all& a) { return a.ended; }) == 1);
  CHECK(waits_too->look([](const notes::all& a) { return a.ended; }) == 1);
}

namespace {

/// Waits for a name.
struct asker final : net::internal::resolution {
  void resolved(std::uint64_t, std::vector<net::internal::socket_address>, std::string) override {}
};

}  // namespace

TEST_CASE("names: an asker that withdraws is forgotten at once, and no other is") {
  const closed_gate closed;
  const auto names = std::make_shared<net::internal::name_lookups>(2);
  net::internal::io_loop loop(0, names);
  const auto one = std::make_shared<asker>();
  const auto other = std::make_shared<asker>();
  for (const auto& who : {one, other}) names->begin(loop, "slow-left.invalid", 1, who, 0);
  names->withdraw("slow-left.invalid", *one);
  CHECK(one.use_count() == 1);
  CHECK(other.use_count() == 2);
  names->withdraw("slow-left.invalid", *other);
  CHECK(other.use_count() == 1);
}

TEST_CASE("names: an attempt that is given up is not known to its look-up any more") {
  const closed_gate closed;
  net::internal::io_loop loop(0, std::make_shared<net::internal::name_lookups>(2));
  const auto who = std::make_shared<asker>();
  const transport_settings how;
  const endpoint to = at("tcp://slow-gone.invalid:1");
  std::uint64_t numbers = 0;
  {
    net::internal::stream_attempt attempt(loop, how, to, numbers);
    using outcome = net::internal::stream_attempt::outcome;
    CHECK(attempt.begin({nullptr, who}) == outcome::pending);
    CHECK(who.use_count() == 2);
  }
  CHECK(who.use_count() == 1);
}

TEST_CASE("names: a look-up has the limit of an attempt") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    const closed_gate closed;
    io_threads io;
    const auto here = std::make_shared<notes>();
    auto peer = connect(io, at(scheme + "://slow.invalid:1"), opening(here),
                        {.attempt_limit = base::duration::milliseconds(1)});
    REQUIRE(here->wait_for(link_event::kind::disconnected));
    const base::error why = here->look([](const notes::all& a) { return a.last_why(); });
    CHECK(why == net_errc::unreachable);
    CHECK_MESSAGE(why.to_string().find("not looked up in time") != std::string::npos,
                  why.to_string());
  }
}

TEST_CASE("names: attempts share the look-up of a name that is under way, and its answer") {
  const auto there = std::make_shared<notes>();
  io_threads io;
  auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(there));
  auto other_door = listen(io, at("tcp://127.0.0.1:0"), accepting(there));
  const auto first = std::make_shared<notes>();
  const auto second = std::make_shared<notes>();
  std::optional<closed_gate> closed(std::in_place);
  const auto to = [](const listener& l) {
    return at("tcp://slow-shared.invalid:" + std::to_string(l.local().port()));
  };
  auto a =
      connect(io, to(*door), persistent(first), {.attempt_limit = base::duration::milliseconds(1)});
  auto b = connect(io, to(*other_door), opening(second),
                   {.attempt_limit = base::duration::seconds(600)});
  REQUIRE(first->wait_for(link_event::kind::disconnected, 3));
  gated_names::gate().wait_for("slow-shared.invalid");
  CHECK(gated_names::gate().begun("slow-shared.invalid") == 1);
  closed.reset();
  CHECK(first->wait_for(link_event::kind::connected));
  CHECK(second->wait_for(link_event::kind::connected));
}

TEST_CASE("names: beyond the limit of look-ups an attempt fails at once, and says so") {
  const auto here = std::make_shared<notes>();
  const auto there = std::make_shared<notes>();
  std::optional<closed_gate> closed(std::in_place);
  io_threads io({.lookups = 1});
  auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(there));
  const std::string port = ":" + std::to_string(door->local().port());
  auto slow = connect(io, at("tcp://slow.invalid" + port), opening(here),
                      {.attempt_limit = base::duration::seconds(600)});
  const auto other = std::make_shared<notes>();
  auto more = connect(io, at("tcp://two.invalid" + port), persistent(other));
  REQUIRE(other->wait_for(link_event::kind::disconnected));
  const base::error why = other->look([](const notes::all& a) { return a.last_why(); });
  CHECK_MESSAGE(why.to_string().find("io_settings::lookups") != std::string::npos, why.to_string());
  closed.reset();
  CHECK(here->wait_for(link_event::kind::connected));
  CHECK(other->wait_for(link_event::kind::connected));
  CHECK_THROWS_AS(io_threads({.lookups = 0}), std::invalid_argument);
  CHECK_THROWS_AS(io_threads({.lookups = 1025}), std::invalid_argument);
}

TEST_CASE("names: answers may come while all ends") {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::shared_ptr<notes>> all;
    std::optional<closed_gate> closed(std::in_place);
    std::thread answers;
    {
      io_threads io({.threads = 2});
      for (int i = 0; i < 8; ++i) {
        all.push_back(std::make_shared<notes>());
        const std::string scheme = i % 2 == 0 ? "tcp" : "udp";
        auto peer = connect(io, at(scheme + "://slow" + std::to_string(i % 4) + ".invalid:1"),
                            opening(all.back()));
      }
      answers = std::thread([&] { closed.reset(); });
    }
    answers.join();
    for (const auto& each : all)
      CHECK(each->look([](const notes::all& a) { return a.ended; }) == 1);
  }
}

}  // namespace names_test
