// A message above the limit of the node that gets it: both nodes hear why their link has ended, and
// meet anew.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>

#include <memory>
#include <string>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace larger_than_there_test {

using namespace garrick;
using tests::three_machines;

using length_type = protocol<std::uint64_t(std::string)>;
class length : public actor<length_type> {
 public:
  std::uint64_t on(const std::string& s) { return s.size(); }
};

/// Keeps the reasons for which peers are down.
class ears final : public net::peer_listener {
 public:
  std::vector<std::string> downs;

 private:
  void changed(const net::peer_identity&, net::peer_change what, const error& why) override {
    if (what == net::peer_change::down) downs.push_back(why.to_string());
  }
  void noticed(const net::peer_identity&, const net::peer_evidence&) override {}
};

bool names_the_limit(const std::string& text) {
  return text.find("where net.slicing_largest allows 1000") != std::string::npos;
}

TEST_CASE("larger than there: both nodes are told of the limit, and meet anew") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    net::node_settings small;
    small.link.slicing.largest = 1000;
    three_machines m({}, small);
    const auto at_a = std::make_shared<ears>(), at_b = std::make_shared<ears>();
    m.a.node.subscribe(at_a);
    m.b.node.subscribe(at_b);
    const std::string at = m.b.node.listen(scheme + "://b:9").value().to_string();
    REQUIRE(m.b.node.publish("length", m.b.system.spawn<length>()).has_value());
    const auto there = m.a.node.remote<length_type>(at, "length").value();
    CHECK(m.a.system.request(there, std::string(500, 's')).get().value() == 500);
    const auto answer = m.a.system.request(there, std::string(5000, 's')).get();
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error() == net::net_errc::perhaps_delivered);
    CHECK_MESSAGE(names_the_limit(answer.error().to_string()), answer.error().to_string());
    m.a.system.run_for(duration::seconds(1));
    REQUIRE(at_a->downs.size() == 1);
    CHECK_MESSAGE(names_the_limit(at_a->downs[0]), at_a->downs[0]);
    REQUIRE(at_b->downs.size() == 1);
    CHECK_MESSAGE(names_the_limit(at_b->downs[0]), at_b->downs[0]);
    const auto again = m.a.node.remote<length_type>(at, "length");
    REQUIRE_MESSAGE(again.has_value(), again.error().to_string());
    CHECK(m.a.system.request(*again, std::string(600, 's')).get().value() == 600);
  }
}

}  // namespace larger_than_there_test
