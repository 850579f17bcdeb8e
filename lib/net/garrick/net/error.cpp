#include "garrick/net/error.hpp"

#include <string>
#include <string_view>

namespace garrick::net {
namespace {

class net_category final : public base::error_category {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "garrick.net"; }
  [[nodiscard]] std::string message(std::uint32_t code) const override {
    switch (static_cast<net_errc>(code)) {
      case net_errc::decode_failed: return "the bytes are no valid message";
      case net_errc::not_encodable: return "the value has no meaning for another process";
      case net_errc::too_large: return "it is larger than is allowed";
      case net_errc::incompatible: return "the other end is not compatible";
      case net_errc::not_garrick: return "the other end does not speak this protocol";
      case net_errc::refused: return "the connection was refused";
      case net_errc::unreachable: return "the other end cannot be reached";
      case net_errc::bad_endpoint: return "this is no endpoint";
      case net_errc::connection_lost: return "the connection was lost";
      case net_errc::peer_down: return "the other end is down";
      case net_errc::perhaps_delivered: return "it is not known whether the message was delivered";
      case net_errc::overload: return "a limit was reached";
      case net_errc::node_down: return "the actor's node is down";
      case net_errc::denied: return "that is not allowed";
      case net_errc::address_in_use: return "the address is in use";
      case net_errc::io: return "the operating system reported an error";
      case net_errc::owner_failed: return "a function of the link's owner has thrown";
    }
    return {};
  }
};

constinit const net_category category{};

}  // namespace

const base::error_category& error_category_of(net_errc) noexcept { return category; }

}  // namespace garrick::net
