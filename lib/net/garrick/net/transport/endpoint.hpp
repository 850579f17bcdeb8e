// The address of one end, as a text for configurations and for peers.
//
//   tcp://127.0.0.1:4040    tcp://localhost:80    udp://[::1]:0    unix:///run/garrick.sock
//   tcp://0.0.0.0:4040?advertised=example.org:14040
//
// The last one binds all addresses of the machine, and is reached at another address, as behind a
// router or in a container. One text in a configuration serves both ends: the listener binds the
// part in front of the `?`, and a connecting end uses the part behind it.
//
// Texts come from people and from peers. For this reason `parse` refuses any text that is not
// exactly of one of these forms, names the wrong column and the reason, and trusts no length.
//
// Invariants:
//   E1  An endpoint prints as a text that parses to an equal one.
//   E2  Equal addresses are equal endpoints: names are kept in lower case, IPv6 addresses in the
//       shortest form, and an address that stands for an IPv4 address (::ffff:127.0.0.1) as the
//       IPv4 address.
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

/// The kind of transport that carries bytes to an endpoint.
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
  /// The most bytes of a path: the room in the system's address.
  static constexpr std::size_t longest_path = 107;
  /// The most characters of a text.
  static constexpr std::size_t longest_text = 1024;

  /// `tcp://0.0.0.0:0`: any address of this machine, and any port.
  endpoint() = default;

  /// Parses a text. Returns the endpoint, or `net_errc::bad_endpoint` with the wrong column and the
  /// reason. Refuses unknown schemes, hosts that are neither addresses nor names, addresses with a
  /// zone, which means nothing to another machine, ports above 65535, paths that are relative or
  /// longer than `longest_path`, and characters that do not print. Throws std::bad_alloc.
  [[nodiscard]] static base::result<endpoint> parse(std::string_view text);
  /// Returns the endpoint of this host and port. Errors as `parse`; an IPv6 address has no
  /// brackets.
  [[nodiscard]] static base::result<endpoint> of(transport_kind kind, std::string_view host,
                                                 std::uint16_t port);

  /// Returns the kind of transport.
  [[nodiscard]] transport_kind kind() const noexcept { return kind_; }
  /// Returns an address without brackets, or a name; empty for a path.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  /// Returns the port; 0 for a port that the system chooses, and for a path.
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Returns the path of a Unix domain socket; otherwise an empty text.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns true if the host is an address, so no name is looked up.
  [[nodiscard]] bool is_numeric() const noexcept { return form_ != form::name; }
  /// Returns true for an IPv6 address.
  [[nodiscard]] bool is_ipv6() const noexcept { return form_ == form::ipv6; }

  /// Returns the endpoint for other processes: the one behind `?advertised=`, or the endpoint
  /// itself. An advertised port 0 stands for the port that is bound.
  [[nodiscard]] endpoint advertised() const;
  /// Returns the same endpoint with another port: the one that the system has chosen.
  [[nodiscard]] endpoint with_port(std::uint16_t port) const;

  /// Returns the text from which `parse` makes an equal endpoint.
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
