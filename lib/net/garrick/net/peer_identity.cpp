#include "garrick/net/peer_identity.hpp"

namespace garrick::net {
namespace {

void append_hex(std::string& to, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4)
    to.push_back("0123456789abcdef"[(number >> shift) & 0xf]);
}

}  // namespace

std::string node_id::to_string() const {
  std::string text;
  append_hex(text, high);
  append_hex(text, low);
  return text;
}

std::string peer_identity::to_string() const {
  std::string text = node.to_string() + "/";
  append_hex(text, incarnation);
  return text;
}

}  // namespace garrick::net
