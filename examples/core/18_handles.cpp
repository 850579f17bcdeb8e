// Handles: typed by protocol, convertible to smaller protocols, weak handles, and addresses;
// delegation lets another actor answer.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <string>

struct get {
  std::string key;
};
struct put {
  std::string key;
  std::string value;
};

// [subset]
using readable = garrick::protocol<garrick::result<std::string>(get)>;
using writable = garrick::protocol<void(put)>;
// a set: the order does not matter
using store = garrick::protocol<void(put), garrick::result<std::string>(get)>;
// [/subset]

class store_actor : public garrick::actor<store> {
 public:
  void on(put p) {
    key_ = std::move(p.key);
    value_ = std::move(p.value);
  }
  garrick::result<std::string> on(const get& g) {
    if (g.key == key_) return value_;
    return garrick::make_error(garrick::errc::user, g.key, "is not in the store");
  }

 private:
  std::string key_, value_;
};

// [delegate]
// A front that answers the keys that it knows and delegates all other requests. Their answers go
// straight to the requester.
class front : public garrick::actor<readable> {
 public:
  explicit front(garrick::ref<readable> behind) : behind_(std::move(behind)) {}
  garrick::result<std::string> on(const get& g) {
    if (g.key == "name") return std::string("front");
    return delegate(behind_, g);
  }

 private:
  garrick::ref<readable> behind_;
};
// [/delegate]

int main() {
  garrick::actor_system system;
  // [convert]
  const garrick::ref<store> all = system.spawn<store_actor>();
  const garrick::ref<writable> input = all;   // a handle that can only put
  const garrick::ref<readable> output = all;  // and one that can only get
  send(input, put{"colour", "blue"});
  // [/convert]
  const auto desk = system.spawn<front>(output);
  std::printf("%s\n", system.request(desk, get{"name"}).get().value().c_str());
  std::printf("%s\n", system.request(desk, get{"colour"}).get().value().c_str());
  std::printf("%s\n", system.request(desk, get{"size"}).get().error().to_string().c_str());

  // [identity]
  std::printf("same actor: %s\n", input == output ? "yes" : "no");
  garrick::ref<readable> last = system.spawn<front>(output);
  const garrick::weak_ref<readable> weak(last);
  last = {};  // no actor can reach it any more
  std::printf("weak handle finds it: %s\n", weak.lock() ? "yes" : "no");
  // [/identity]

  // [typed]
  // `request_typed` asks the actor behind a wildcard handle once whether it understands a protocol.
  const auto answers_get = [](garrick::dynamic_actor&) -> garrick::behavior {
    return {[](const get& g) -> garrick::result<std::string> { return "plugin: " + g.key; }};
  };
  const garrick::any_ref plugin =
      system.spawn(garrick::spawn_options{.name = "plugin"}, answers_get);
  const auto typed = system.request_typed<readable>(plugin).get();
  std::printf("%s\n", system.request(typed.value(), get{"size"}).get().value().c_str());
  const auto refused = system.request_typed<writable>(plugin).get();
  std::printf("%s\n", refused.error().to_string().c_str());
  // [/typed]
}
