// The processes of rolling_upgrade.test.cpp: a node with a desk, in three builds of one program.
//
//   node_peer_older ENDPOINT     SHOP_BUILD=1
//   node_peer_newer ENDPOINT     SHOP_BUILD=2: fields were appended, and a signature was added
//   node_peer_changed ENDPOINT   SHOP_BUILD=3: as the first, but a field's type is another one
//
// Says where it listens and which incarnation it is, in a line of standard output. Then it obeys
// lines of standard input until that ends: "ask ENDPOINT" is answered with the order as the desk
// there has read it, and its answers as read here; "whole ENDPOINT" with whether it understands all
// that the desk of this build does.
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <support/quiet.hpp>

#include "net/node/peer/service.hpp"

using namespace garrick;
using namespace garrick::tests;

namespace shop {

#if SHOP_BUILD == 3
using street_name = std::uint64_t;
#else
using street_name = std::string;
#endif

struct notice {
  std::string text;
#if SHOP_BUILD == 2
  std::uint32_t urgency = 3;
#endif
};
using listener_type = protocol<void(notice)>;

struct address {
  street_name street{};
#if SHOP_BUILD == 2
  std::string country = "at home";
#endif
};
struct order {
  std::uint64_t n = 0;
  address to;
  std::vector<address> by_way_of;
#if SHOP_BUILD == 2
  std::optional<address> bill;
  std::string wishes = "none";
  ref<listener_type> from;
#endif
};
struct receipt {
  std::string read;  ///< of the order
#if SHOP_BUILD == 2
  std::uint64_t cents = 7;
#endif
};
struct subscribe {
  ref<listener_type> who;
};
struct last_notice {};
struct withdraw {
  std::uint64_t n = 0;
};
/// The common protocol of the desks of all builds, if only the types are the same.
using desk_of_all =
    protocol<receipt(order), void(notice), std::string(last_notice), void(subscribe)>;
#if SHOP_BUILD == 2
using desk_type = protocol<receipt(order), void(notice), std::string(last_notice), void(subscribe),
                           bool(withdraw)>;
#else
using desk_type = desk_of_all;
#endif

// ---- messages as text, as a build knows them ----------------------------------------------------

std::string text_of(const std::string& street) { return street; }
std::string text_of(std::uint64_t street) { return std::to_string(street); }
std::string text_of(const address& a) {
  std::string text = text_of(a.street);
#if SHOP_BUILD == 2
  text += " (" + a.country + ')';
#endif
  return text;
}
std::string text_of(const order& o) {
  std::string text = "order " + std::to_string(o.n) + " to " + text_of(o.to);
  for (const address& a : o.by_way_of) text += " by way of " + text_of(a);
#if SHOP_BUILD == 2
  text += " bill " + (o.bill ? text_of(*o.bill) : "nobody") + " wishes " + o.wishes + " from " +
          (o.from ? "somebody" : "nobody");
#endif
  return text;
}
std::string text_of(const notice& n) {
  std::string text = n.text;
#if SHOP_BUILD == 2
  text += " urgency " + std::to_string(n.urgency);
#endif
  return text;
}
std::string text_of(const receipt& r) {
  std::string text = r.read;
#if SHOP_BUILD == 2
  text += " cents " + std::to_string(r.cents);
#endif
  return text;
}

// ---- the messages of a build --------------------------------------------------------------------

address made_address(const std::string& street) {
  address a;
#if SHOP_BUILD == 3
  a.street = street.size();
#else
  a.street = street;
#endif
#if SHOP_BUILD == 2
  a.country = "abroad";
#endif
  return a;
}
order made_order([[maybe_unused]] const ref<listener_type>& who) {
  order o;
  o.n = 5;
  o.to = made_address("Long Lane");
  o.by_way_of = {made_address("Short Cut"), made_address("High Street")};
#if SHOP_BUILD == 2
  o.bill = made_address("Bank");
  o.wishes = "soon";
  o.from = who;
#endif
  return o;
}
notice made_notice(const std::string& text) {
  notice n;
  n.text = text;
#if SHOP_BUILD == 2
  n.urgency = 9;
#endif
  return n;
}

class desk : public actor<desk_type> {
 public:
  receipt on(const order& o) {
    if (subscriber_) send(subscriber_, made_notice("it is done"));
    receipt r;
    r.read = text_of(o);
#if SHOP_BUILD == 2
    r.cents = 99;
#endif
    return r;
  }
  void on(const notice& n) { last_ = text_of(n); }
  std::string on(last_notice) { return last_; }
  void on(const subscribe& s) { subscriber_ = s.who; }
#if SHOP_BUILD == 2
  bool on(withdraw) { return true; }
#endif

 private:
  std::string last_;
  ref<listener_type> subscriber_;
};

/// The messages from the desk to the asker, for its thread.
struct heard {
  std::mutex mutex;
  std::string text;  // under mutex
  std::string get() {
    const std::lock_guard lock(mutex);
    return text;
  }
};
class listener : public actor<listener_type> {
 public:
  explicit listener(heard& h) : heard_(h) {}
  void on(const notice& n) {
    const std::lock_guard lock(heard_.mutex);
    heard_.text = text_of(n);
  }

 private:
  heard& heard_;
};

}  // namespace shop

namespace {

constexpr const char* desk_name = "desk";

/// Returns false after far too long a wait.
template <class P>
bool wait_until(P p) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!p()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Returns the number of handles to actors here that peers have.
std::uint64_t exports_of(const net::node& node) {
  std::uint64_t sum = 0;
  for (const net::peer_identity& p : node.peers())
    for (const net::link_count& c : node.counters(p))
      if (c.layer == "node" && c.name == "exports") sum += c.value;
  return sum;
}

/// Returns a conversation of this build with the desk there, or the reason why there is none.
std::string ask(actor_system& system, net::node& node, const std::string& at) {
  shop::heard h;
  ref<shop::listener_type> me = system.spawn<shop::listener>(lent(h));
  result<ref<shop::desk_of_all>> found = make_error(errc::timeout, "nobody was asked yet");
  result<shop::receipt> got = make_error(errc::timeout, "nothing was ordered yet");
  // A desk that was replaced just now may be taken for the earlier one.
  wait_until([&] {
    found = node.remote<shop::desk_of_all>(at, desk_name, duration::seconds(30));
    if (!found) return found.error() == net::net_errc::incompatible;
    send(*found, shop::subscribe{me});
    got = system.request(*found, shop::made_order(me)).get();
    return got.has_value();
  });
  if (!found) return found.error().to_string();
  if (!got) return got.error().to_string();
  send(*found, shop::made_notice("thank you"));
  const std::string last = system.request(*found, shop::last_notice{}).get().value_or("nothing");
  if (!wait_until([&] { return !h.get().empty(); })) return "nothing was heard";
  std::string said = text_of(*got) + "; it has noticed: " + last + "; heard: " + h.get();
  // The desk has released the handles that it did not know, and gives back now the one it knew.
  send(*found, shop::subscribe{});
  found = ref<shop::desk_of_all>();
  if (!wait_until([&] { return exports_of(node) == 0; })) return "it keeps a handle";
  return said;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  actor_system system(quiet());
  net::node node(system, node_with(600));
  const auto at = node.listen(argv[1]);
  if (!at || !node.publish(desk_name, system.spawn<shop::desk>())) return 1;
  std::cout << at->to_string() << ' ' << node.self().incarnation << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const auto space = line.find(' ');
    const std::string order = line.substr(0, space), where = line.substr(space + 1);
    if (order == "ask") {
      std::cout << ask(system, node, where) << std::endl;
    } else if (order == "whole") {
      const auto found = node.remote<shop::desk_type>(where, desk_name, duration::seconds(30));
      std::cout << (found ? "all of it" : found.error().to_string()) << std::endl;
    } else {
      return 1;
    }
  }
  return 0;
}
