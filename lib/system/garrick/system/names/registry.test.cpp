// Actors by name: protocols checked at run time, and names that end with their actors.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/system/names/registry.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace registry_test {

namespace {

using namespace garrick;
using system::registry_errc;

struct query {
  int x;
};
struct stop_now {};
using full = protocol<int(query), void(stop_now)>;
using part = protocol<int(query)>;
using other = protocol<long(query)>;

class named : public actor<full> {
 public:
  int on(query q) { return q.x + 1; }
  void on(stop_now) { quit(); }
};

TEST_CASE("registry finds an actor by name, as its own protocol or as a subset") {
  actor_system system;
  const auto a = system.spawn<named>();
  REQUIRE(system.registry().put("prices", a).has_value());
  const auto whole = system.registry().get<full>("prices");
  REQUIRE(whole.has_value());
  CHECK(*whole == a);
  const auto some = system.registry().get<part>("prices");
  REQUIRE(some.has_value());
  CHECK(system.request(*some, query{4}).get().value() == 5);
  CHECK(system.registry().get<core::any_protocol>("prices").value() == a);
  CHECK(system.registry().names() == std::vector<std::string>{"prices"});
}

TEST_CASE("registry checks the protocol at run time") {
  actor_system system;
  const auto a = system.spawn<named>();
  const ref<part> narrowed = a;
  CHECK(system.registry().put("narrowed", narrowed).has_value());
  const error lacks = system.registry().get<full>("narrowed").error();
  CHECK(lacks == registry_errc::wrong_protocol);
  CHECK(lacks.detail().find("was registered without void(") != std::string::npos);
  CHECK(lacks.detail().ends_with("stop_now)"));
  const error pair = system.registry().get<protocol<long(int, char)>>("narrowed").error();
  CHECK(pair.detail().ends_with("was registered without long(int, char)"));
  CHECK(system.registry().get<other>("narrowed").error() == registry_errc::wrong_protocol);
  CHECK(system.registry().put("wild", any_ref(a)).has_value());
  const error wild = system.registry().get<part>("wild").error();
  CHECK(wild == registry_errc::wrong_protocol);
  CHECK(wild.detail().find("was registered as any_ref") != std::string::npos);
  CHECK(system.registry().get<core::any_protocol>("wild").has_value());
}

TEST_CASE(
    "registry refuses a name that is taken, an empty handle, and unknown names, and says which") {
  actor_system system;
  const auto a = system.spawn<named>();
  CHECK(system.registry().put("one", a).has_value());
  const auto taken = system.registry().put("one", system.spawn<named>());
  CHECK(taken.error() == registry_errc::name_taken);
  CHECK(taken.error().to_string() == "the name is taken: one: " + a.to_string() + " has it");
  CHECK(system.registry().put("one", a).error().to_string() ==
        "the name is taken: one: " + a.to_string() + " has it already");
  CHECK(system.registry().put("two", ref<full>()).error() == registry_errc::empty_handle);
  CHECK(system.registry().get<full>("two").error() == registry_errc::not_found);
  CHECK(system.registry().remove("one"));
  CHECK(!system.registry().remove("one"));
  CHECK(system.registry().put("one", a).has_value());
}

TEST_CASE("registry forgets an actor that ends") {
  actor_system system;
  auto a = system.spawn<named>();
  const weak_ref<full> weak = a;
  CHECK(system.registry().put("brief", a).has_value());
  send(a, stop_now{});
  while (!core::handle_access::get(a)->has_ended()) std::this_thread::yield();
  CHECK(system.registry().get<full>("brief").error() == registry_errc::not_found);
  CHECK(system.registry().names().empty());
  // the name is free at once, whether the registry has noticed the end or not
  CHECK(system.registry().put("brief", system.spawn<named>()).has_value());
  a = {};
  while (weak.lock()) std::this_thread::yield();  // the registry lets go of the old one
  CHECK(system.registry().get<full>("brief").has_value());
}

TEST_CASE("registry refuses an actor that has ended") {
  actor_system system;
  const auto a = system.spawn<named>();
  system.kill(a);
  while (!core::handle_access::get(a)->has_ended()) std::this_thread::yield();
  const auto refused = system.registry().put("late", a);
  CHECK(refused.error() == registry_errc::ended);
  CHECK(refused.error().detail().find("late: ") != std::string_view::npos);
  CHECK(system.registry().put("late", system.spawn<named>()).has_value());
}

TEST_CASE("registry keeps a named actor alive until it is removed") {
  actor_system system;
  CHECK(system.registry().put("kept", system.spawn<named>()).has_value());
  CHECK(system.request(system.registry().get<full>("kept").value(), query{1}).get().value() == 2);
  CHECK(system.actor_count() == 1);
  CHECK(system.registry().remove("kept"));
  CHECK(system.await_all().has_value());
}

TEST_CASE("registry is closed when its system ends") {
  ref<full> a;
  {
    actor_system system;
    a = system.spawn<named>();
    CHECK(system.registry().put("last", a).has_value());
    static_cast<void>(system.shutdown(duration::seconds(10)));
    CHECK(system.registry().put("late", a).error() == registry_errc::closed);
  }
  send(a, query{1});
}

TEST_CASE("registry is used by many threads at once") {
  actor_system system;
  std::vector<std::thread> threads;
  std::atomic<int> put_count{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const std::string name = "name " + std::to_string(i % 7);
        const auto a = system.spawn<named>();
        if (system.registry().put(name, a).has_value()) ++put_count;
        const auto found = system.registry().get<part>(name);
        if (found) send(any_ref(*found), stop_now{});
        if (i % 5 == 0) static_cast<void>(system.registry().remove(name));
      }
    });
  for (auto& t : threads) t.join();
  CHECK(put_count > 7);
  for (const std::string& n : system.registry().names()) CHECK(n.starts_with("name "));
}

}  // namespace

}  // namespace registry_test
