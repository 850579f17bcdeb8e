// A name with several addresses, and one whose address changes. The resolver is the test's own, so
// that it has them everywhere.
#include <dlfcn.h>
#include <netdb.h>

#include <atomic>
#include <cstring>

#include <support/transports.hpp>

namespace names_test {

using namespace garrick;
using namespace garrick::tests;

namespace {
/// Where "moves.invalid" is.
std::atomic<const char*> moved_to{"127.0.0.2"};
}  // namespace

/// In place of the system's, which answers all else.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  using function = int(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto systems = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name != nullptr && std::strcmp(name, "moves.invalid") == 0)
    return systems(moved_to, service, hints, found);
  if (name == nullptr || std::strcmp(name, "two.invalid") != 0)
    return systems(name, service, hints, found);
  // Nobody listens at the first of them.
  if (const int failed = systems("127.0.0.2", service, hints, found); failed != 0) return failed;
  addrinfo* last = *found;
  while (last->ai_next != nullptr) last = last->ai_next;
  return systems("127.0.0.1", service, hints, &last->ai_next);
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
  auto peer = connect(io, at("tcp://moves.invalid:" + port),
                      [here](carrier& below, const connection& self) -> std::unique_ptr<hosted> {
                        auto s = std::make_unique<stream_session>(below, self, here);
                        s->on_event_ = [](stream_session& v, const link_event& e) {
                          if (e.what == link_event::kind::disconnected) v.below().reopen();
                        };
                        return s;
                      });
  REQUIRE(first->wait_for(link_event::kind::connected));
  moved_to = "127.0.0.3";
  first->self().run([](hosted& h) { static_cast<stream_session&>(h).below().close(); });
  REQUIRE(second->wait_for(link_event::kind::connected));
  REQUIRE(here->wait_for(link_event::kind::connected, 2));
  send(*peer, "to where it is now");
  CHECK(second->wait_for_messages(1));
}

}  // namespace names_test
