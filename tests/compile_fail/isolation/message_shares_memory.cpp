// each: timer published asked routed
// expect: cannot_be_sent<
// expect: "message"
// expect: const char
// Every carrier of a message checks its content.
#include <garrick/garrick.hpp>
#include <garrick/system/names/groups.hpp>

#include <string>
#include <vector>

using anything = garrick::core::any_protocol;

#ifdef GARRICK_WITHOUT_timer
void test(garrick::dynamic_actor& self, const garrick::any_ref& to) {
  self.send_after(garrick::duration::seconds(1), to, "text");
}
#elif defined(GARRICK_WITHOUT_published)
void test(const garrick::system::group<anything>& topic) { topic.publish("text"); }
#elif defined(GARRICK_WITHOUT_asked)
void test(garrick::dynamic_actor& self, const garrick::any_ref& to) {
  self.request_as<int>(to, "text").then([](int) {});
}
#elif defined(GARRICK_WITHOUT_routed)
void test(const garrick::router<anything>& to) { send(to, "text"); }
#else
void test(const garrick::any_ref& to) { garrick::send_urgent(to, std::string("text")); }
#endif
