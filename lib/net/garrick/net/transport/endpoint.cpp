#include "garrick/net/transport/endpoint.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace garrick::net {
namespace {

constexpr std::string_view tcp_scheme = "tcp://";
constexpr std::string_view udp_scheme = "udp://";
constexpr std::string_view unix_scheme = "unix://";
constexpr std::string_view advertised_option = "?advertised=";
constexpr std::size_t longest_label = 63;
constexpr std::size_t longest_name = 253;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
/// Returns true for characters that a log shows as they are; a path may have those of other
/// languages.
bool prints(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

/// Returns the address in its one form; empty if the text is no address.
std::string canonical(int family, std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> out{};
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (text.size() >= out.size()) return {};
  const std::string terminated(text);
  if (::inet_pton(family, terminated.c_str(), bytes.data()) != 1) return {};
  if (::inet_ntop(family, bytes.data(), out.data(), out.size()) == nullptr) return {};
  return out.data();
}

/// Returns the address in its one form. An address that stands for an IPv4 address becomes the IPv4
/// address.
std::string canonical_ipv6(std::string_view text, bool& is_ipv4) {
  constexpr std::string_view mapped = "::ffff:";
  std::string host = canonical(AF_INET6, text);
  is_ipv4 = host.starts_with(mapped) && host.find('.') != std::string::npos;
  return is_ipv4 ? host.substr(mapped.size()) : host;
}

/// Returns true for a text that looks like an IPv6 address without brackets, up to an option.
bool lacks_brackets(std::string_view rest) {
  rest = rest.substr(0, rest.find('?'));
  const bool has_groups =
      rest.find("::") != std::string_view::npos || std::count(rest.begin(), rest.end(), ':') > 2;
  return has_groups && rest.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

/// Returns the reason why a text is not a host name; null if it is a host name.
const char* wrong_with_name(std::string_view name) {
  if (name.size() > longest_name) return "the name is longer than 253 characters";
  std::string_view last;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    last = name.substr(at, dot - at);
    if (last.empty()) return "a part of the name is empty";
    if (last.size() > longest_label) return "a part of the name is longer than 63 characters";
    if (last.front() == '-' || last.back() == '-') return "a part of the name has '-' at an end";
    at = dot + 1;
  }
  // Some resolvers read 127.1 and 0x7f.0.0.1 as addresses, and people read them as others.
  if (is_digit(last.front())) return "this is neither an address, as 127.0.0.1, nor a name";
  return nullptr;
}

}  // namespace

/// Reads a text from the left and keeps the column.
struct endpoint::reader {
  std::string_view all;
  std::size_t at = 0;

  [[nodiscard]] std::string_view rest() const { return all.substr(at); }
  bool skip(std::string_view expected) {
    if (!rest().starts_with(expected)) return false;
    at += expected.size();
    return true;
  }
  [[nodiscard]] base::error wrong(std::string_view why) const {
    return base::make_error(net_errc::bad_endpoint, "column " + std::to_string(at + 1), why);
  }

  base::error host(std::string& host, form& what) {
    if (skip("[")) {
      const std::size_t end = rest().find(']');
      if (end == std::string_view::npos) return wrong("the address has no ']'");
      const std::string_view text = rest().substr(0, end);
      if (const std::size_t zone = text.find('%'); zone != std::string_view::npos) {
        at += zone;
        return wrong("an address with a zone means something on one machine only");
      }
      bool is_ipv4 = false;
      host = canonical_ipv6(text, is_ipv4);
      if (host.empty()) return wrong("this is no IPv6 address");
      what = is_ipv4 ? form::ipv4 : form::ipv6;
      at += end + 1;
      return {};
    }
    if (lacks_brackets(rest()))
      return wrong("an IPv6 address stands in brackets, as in tcp://[::1]:4040");
    std::size_t size = 0;
    const auto belongs = [](char c) {
      return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
    };
    while (size < rest().size() && belongs(rest()[size])) ++size;
    if (size == 0) return wrong("the host is missing, as in tcp://localhost:4040");
    const std::string_view text = rest().substr(0, size);
    host = canonical(AF_INET, text);
    what = form::ipv4;
    if (host.empty()) {
      if (const char* why = wrong_with_name(text)) return wrong(why);
      std::transform(text.begin(), text.end(), std::back_inserter(host), lower);
      what = form::name;
    }
    at += size;
    return {};
  }

  base::error port(std::uint16_t& port) {
    if (rest().empty()) return wrong("the port is missing, as in tcp://localhost:4040");
    if (!skip(":")) return wrong("a ':' and the port are expected here");
    std::size_t size = 0;
    while (size < rest().size() && is_digit(rest()[size])) ++size;
    const std::string_view digits = rest().substr(0, size);
    if (digits.empty()) return wrong("the port is no number");
    if (digits.size() > 1 && digits.front() == '0') return wrong("the port begins with 0");
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + size, port);
    static_cast<void>(end);
    if (failed != std::errc()) return wrong("the port is above 65535");
    at += size;
    return {};
  }

  base::error path(std::string& path) {
    if (!rest().starts_with('/')) return wrong("the path must be absolute, as in unix:///run/x");
    if (rest().size() > longest_path) return wrong("the path is longer than 107 bytes");
    if (rest().size() == 1) return wrong("the path is a folder");
    path = rest();
    return {};
  }
};

base::result<endpoint> endpoint::parse(std::string_view text) {
  reader in{text};
  if (text.size() > longest_text) return in.wrong("the text is longer than 1024 characters");
  in.at =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), prints) - text.begin());
  if (in.at != text.size()) return in.wrong("a character that does not print");
  in.at = 0;
  endpoint e;
  if (in.skip(unix_scheme)) {
    e.kind_ = transport_kind::unix_stream;
    e.host_.clear();
    if (base::error wrong = in.path(e.path_)) return wrong;
    return e;
  }
  if (in.skip(udp_scheme))
    e.kind_ = transport_kind::udp;
  else if (!in.skip(tcp_scheme))
    return in.wrong("an endpoint begins with tcp://, udp:// or unix://");
  if (base::error wrong = in.host(e.host_, e.form_)) return wrong;
  if (base::error wrong = in.port(e.port_)) return wrong;
  if (in.skip(advertised_option)) {
    if (base::error wrong = in.host(e.advertised_host_, e.advertised_form_)) return wrong;
    if (base::error wrong = in.port(e.advertised_port_)) return wrong;
  }
  if (!in.rest().empty()) return in.wrong("nothing but ?advertised= may follow the port");
  return e;
}

base::result<endpoint> endpoint::of(transport_kind kind, std::string_view host,
                                    std::uint16_t port) {
  reader in{host};
  if (kind == transport_kind::unix_stream) return in.wrong("a Unix domain socket has no host");
  endpoint e;
  e.kind_ = kind;
  e.port_ = port;
  if (host.find(':') != std::string_view::npos) {
    bool is_ipv4 = false;
    e.host_ = canonical_ipv6(host, is_ipv4);
    e.form_ = is_ipv4 ? form::ipv4 : form::ipv6;
    if (e.host_.empty()) return in.wrong("this is no IPv6 address");
    return e;
  }
  if (base::error wrong = in.host(e.host_, e.form_)) return wrong;
  if (!in.rest().empty()) return in.wrong("this character does not belong to a host");
  return e;
}

endpoint endpoint::advertised() const {
  if (advertised_host_.empty()) return *this;
  endpoint other;
  other.kind_ = kind_;
  other.host_ = advertised_host_;
  other.form_ = advertised_form_;
  other.port_ = advertised_port_ == 0 ? port_ : advertised_port_;
  return other;
}

endpoint endpoint::with_port(std::uint16_t port) const {
  endpoint other = *this;
  other.port_ = port;
  return other;
}

std::string endpoint::to_string() const {
  if (kind_ == transport_kind::unix_stream) return std::string(unix_scheme) + path_;
  const auto place = [](form what, const std::string& host, std::uint16_t port) {
    return (what == form::ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
  };
  std::string text(kind_ == transport_kind::tcp ? tcp_scheme : udp_scheme);
  text += place(form_, host_, port_);
  if (!advertised_host_.empty()) {
    text += advertised_option;
    text += place(advertised_form_, advertised_host_, advertised_port_);
  }
  return text;
}

}  // namespace garrick::net
