#include "garrick/net/transport/endpoint.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace endpoint_test {

using namespace garrick;
using namespace garrick::net;

namespace {

endpoint parsed(std::string_view text) {
  base::result<endpoint> e = endpoint::parse(text);
  REQUIRE_MESSAGE(e, e.error().to_string());
  return *e;
}
std::string wrong_with(std::string_view text) {
  const base::result<endpoint> e = endpoint::parse(text);
  REQUIRE_MESSAGE(!e, std::string(text));
  CHECK(e.error() == net_errc::bad_endpoint);
  return std::string(e.error().detail());
}

}  // namespace

TEST_CASE("endpoint: each form is understood, and prints as it was written") {
  for (const char* text :
       {"tcp://127.0.0.1:4040", "udp://[::1]:0", "unix:///run/x.sock", "tcp://localhost:80",
        "udp://a-b.example_1.org:65535", "tcp://0.0.0.0:1?advertised=example.org:2",
        "tcp://[::]:1?advertised=[2001:db8::1]:0", "unix:///a?advertised=b c"})
    CHECK(parsed(text).to_string() == text);
  const endpoint e = parsed("tcp://[::1]:4040");
  CHECK(e.kind() == transport_kind::tcp);
  CHECK(e.host() == "::1");
  CHECK(e.port() == 4040);
  CHECK(e.is_numeric());
  CHECK(e.is_ipv6());
  CHECK(!parsed("udp://localhost:1").is_numeric());
  CHECK(parsed("unix:///run/x.sock").path() == "/run/x.sock");
  CHECK(endpoint() == parsed("tcp://0.0.0.0:0"));
}

TEST_CASE("endpoint: different texts of one place are equal endpoints") {
  CHECK(parsed("tcp://LocalHost:1") == parsed("tcp://localhost:1"));
  CHECK(parsed("tcp://[0:0:0:0:0:0:0:1]:1") == parsed("tcp://[::1]:1"));
  CHECK(parsed("tcp://[2001:DB8::A]:1") == parsed("tcp://[2001:db8:0::a]:1"));
  CHECK(parsed("tcp://[::ffff:127.0.0.1]:1") == parsed("tcp://127.0.0.1:1"));
  CHECK(!parsed("tcp://[::FFFF:7f00:1]:1").is_ipv6());
  CHECK(*endpoint::of(transport_kind::tcp, "::ffff:10.0.0.1", 1) == parsed("tcp://10.0.0.1:1"));
  CHECK(parsed("tcp://127.0.0.1:1") != parsed("udp://127.0.0.1:1"));
  CHECK(parsed("tcp://127.0.0.1:1") != parsed("tcp://127.0.0.1:2"));
  CHECK(parsed("tcp://127.0.0.1:1") < parsed("tcp://127.0.0.1:2"));
}

TEST_CASE("endpoint: a fault is named with its column") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"", "column 1: an endpoint begins with tcp://, udp:// or unix://"},
      {"http://x:1", "column 1: an endpoint begins with tcp://, udp:// or unix://"},
      {"TCP://x:1", "column 1: an endpoint begins with tcp://, udp:// or unix://"},
      {"tcp://:80", "column 7: the host is missing, as in tcp://localhost:4040"},
      {"tcp://x", "column 8: the port is missing, as in tcp://localhost:4040"},
      {"tcp://x:", "column 9: the port is no number"},
      {"tcp://x:-1", "column 9: the port is no number"},
      {"tcp://x:080", "column 9: the port begins with 0"},
      {"tcp://x:65536", "column 9: the port is above 65535"},
      {"tcp://x:99999999999999999999", "column 9: the port is above 65535"},
      {"tcp://x:80/", "column 11: nothing but ?advertised= may follow the port"},
      {"tcp://user@x:80", "column 11: a ':' and the port are expected here"},
      {"tcp://::1:80", "column 7: an IPv6 address stands in brackets, as in tcp://[::1]:4040"},
      {"udp://fe80::1:80?advertised=x:1",
       "column 7: an IPv6 address stands in brackets, as in tcp://[::1]:4040"},
      {"tcp://a:80:90", "column 11: nothing but ?advertised= may follow the port"},
      {"tcp://[::1:80", "column 8: the address has no ']'"},
      {"tcp://[::g]:80", "column 8: this is no IPv6 address"},
      {"tcp://[fe80::1%eth0]:80",
       "column 15: an address with a zone means something on one machine only"},
      {"tcp://[::1]80", "column 12: a ':' and the port are expected here"},
      {"tcp://127.1:80", "column 7: this is neither an address, as 127.0.0.1, nor a name"},
      {"tcp://256.0.0.1:80", "column 7: this is neither an address, as 127.0.0.1, nor a name"},
      {"tcp://a..b:80", "column 7: a part of the name is empty"},
      {"tcp://-a:80", "column 7: a part of the name has '-' at an end"},
      {"tcp://" + std::string(64, 'a') + ":80",
       "column 7: a part of the name is longer than 63 characters"},
      {"tcp://a:80?advertised=", "column 23: the host is missing, as in tcp://localhost:4040"},
      {"tcp://a:80?advertised=b:99999", "column 25: the port is above 65535"},
      {"tcp://a\n:80", "column 8: a character that does not print"},
      {"unix://run/x", "column 8: the path must be absolute, as in unix:///run/x"},
      {"unix:///", "column 8: the path is a folder"},
      {"unix:///" + std::string(107, 'x'), "column 8: the path is longer than 107 bytes"},
      {std::string("unix:///a\0b", 11), "column 10: a character that does not print"},
      {std::string(1025, 't'), "column 1: the text is longer than 1024 characters"}};
  for (const auto& [text, why] : table) CHECK(wrong_with(text) == why);
  CHECK(endpoint::parse("unix:///" + std::string(106, 'x')).has_value());
}

TEST_CASE("endpoint: an advertised place is where others go, with the bound port if it has none") {
  const endpoint e = parsed("tcp://0.0.0.0:0?advertised=example.org:0").with_port(77);
  CHECK(e.port() == 77);
  CHECK(e.advertised() == parsed("tcp://example.org:77"));
  CHECK(parsed("tcp://0.0.0.0:1?advertised=[::2]:3").advertised() == parsed("tcp://[::2]:3"));
  CHECK(parsed("udp://0.0.0.0:1").advertised() == parsed("udp://0.0.0.0:1"));
}

TEST_CASE("endpoint: a host and a port are an endpoint if a text of them would be") {
  CHECK(*endpoint::of(transport_kind::udp, "::1", 9) == parsed("udp://[::1]:9"));
  CHECK(*endpoint::of(transport_kind::tcp, "Example.org", 9) == parsed("tcp://example.org:9"));
  CHECK(!endpoint::of(transport_kind::tcp, "a b", 9));
  CHECK(!endpoint::of(transport_kind::tcp, "1::x", 9));
  CHECK(!endpoint::of(transport_kind::tcp, "", 9));
  CHECK(!endpoint::of(transport_kind::unix_stream, "x", 9));
}

}  // namespace endpoint_test
