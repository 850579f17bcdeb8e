// The messages between two nodes. How they become bytes is compiled in shop.cpp alone.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <string>

namespace shop {

struct order {
  std::string what;
};
using counter_type = garrick::protocol<std::string(order)>;
class counter : public garrick::actor<counter_type> {
 public:
  std::string on(const order& o) { return "one " + o.what; }
};

}  // namespace shop

GARRICK_PROTOCOL_TABLE_ELSEWHERE(shop::counter_type);
