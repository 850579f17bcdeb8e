// Where one end can be reached, as a text: what configuration says and what peers tell each other.
//
//   tcp://127.0.0.1:4040    tcp://localhost:80    udp://[::1]:0    unix:///run/garrick.sock
//   tcp://0.0.0.0:4040?advertised=example.org:14040
//
// The last one binds all addresses of the machine, and others reach it elsewhere, as behind a
// router or in a container. So one text of a configuration does for both ends: who listens binds
// what is in front of the `?`, and who connects goes to what is behind it.
//
// A text comes from people and from peers. So parsing refuses what is not exactly one of these
// forms, says which column is wrong and why, and believes no length.
//
// Invariants:
//   E1  An endpoint prints as a text that parses to an equal one.
//   E2  Equal addresses are equal endpoints: names are kept in lower case, IPv6 addresses in the
//       shortest form, and one that stands for an IPv4 address (::ffff:127.0.0.1) as that.
//
// Thread safety: a value.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "garrick/base/values/result.hpp"
#include "garrick/net/error.hpp"

namespace garrick::net {

/// How bytes get to an endpoint.
enum class transport_kind : std::uint8_t {
  tcp,          ///< a stream, `tcp://host:port`
  udp,          ///< datagrams, `udp://host:port`
  unix_stream,  ///< a Unix domain socket, `unix:///path`
};

/// An address, or a name that will be looked up, with a port; or a path.
///
///     result<endpoint> there = endpoint::parse("tcp://localhost:4040");
///     if (there) listen(there->port());
class endpoint {
 public:
  /// Bytes of a path, at most: what the system's address has room for.
  static constexpr std::size_t longest_path = 107;
  /// Characters of a text, at most.
  static constexpr std::size_t longest_text = 1024;

  /// `tcp://0.0.0.0:0`: any address of this machine, and any port.
  endpoint() = default;

  /// Understands a text; otherwise `net_errc::bad_endpoint`, whose text says what is wrong at which
  /// column. Refused are unknown schemes, hosts that are neither addresses nor names, addresses
  /// with a zone, whose meaning ends with the machine, ports above 65535, paths that are relative
  /// or longer than `longest_path`, and characters that do not print. Throws std::bad_alloc.
  [[nodiscard]] static base::result<endpoint> parse(std::string_view text);
  /// The endpoint of this host and port. As `parse`; an IPv6 address stands without brackets.
  [[nodiscard]] static base::result<endpoint> of(transport_kind kind, std::string_view host,
                                                 std::uint16_t port);

  /// How bytes get there.
  [[nodiscard]] transport_kind kind() const noexcept { return kind_; }
  /// An address without brackets, or a name; empty for a path.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  /// The port; 0 for one that the system chooses, and for a path.
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The path of a Unix domain socket; otherwise empty.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// True if the host is an address, so that nothing has to be looked up.
  [[nodiscard]] bool is_numeric() const noexcept { return form_ != form::name; }
  /// True for an IPv6 address.
  [[nodiscard]] bool is_ipv6() const noexcept { return form_ == form::ipv6; }

  /// Where others reach it: what `?advertised=` says, or the endpoint itself. An advertised port 0
  /// stands for the port that is bound.
  [[nodiscard]] endpoint advertised() const;
  /// The same with another port: what the system has chosen.
  [[nodiscard]] endpoint with_port(std::uint16_t port) const;

  /// The text from which `parse` makes an equal endpoint.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] friend bool operator==(const endpoint&, const endpoint&) = default;
  [[nodiscard]] friend auto operator<=>(const endpoint&, const endpoint&) = default;

 private:
  enum class form : std::uint8_t { ipv4, ipv6, name };
  struct reader;

  transport_kind kind_ = transport_kind::tcp;
  form form_ = form::ipv4;
  form advertised_form_ = form::name;
  std::uint16_t port_ = 0;
  std::uint16_t advertised_port_ = 0;
  std::string host_ = "0.0.0.0";
  std::string path_;
  std::string advertised_host_;  ///< empty: nothing else is advertised
};

}  // namespace garrick::net
