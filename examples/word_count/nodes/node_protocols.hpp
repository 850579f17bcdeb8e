// The messages between the processes of `--nodes`.
//
// The coordinator hands out parts of the texts, with a few requests to each node under way, and
// adds the counts in the answers. A request has one answer or one error, so no part is added twice,
// and after an error the coordinator hands the part out again.
#pragma once

#include "../protocols.hpp"

#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace word_count {

/// The text of one unit.
struct piece_of_text {
  std::uint32_t file = 0;
  form how = form::plain;
  std::string text;
};

/// A few units to be counted.
struct count_part {
  std::vector<piece_of_text> pieces;
};
struct counted {
  std::vector<ranked_word> words;  ///< in no order
};
/// No work is left.
struct enough {};

using counting_protocol = garrick::protocol<counted(count_part), void(enough)>;

/// Reports that a node has started, and the number of its life.
struct join {
  std::uint32_t node = 0;
  std::uint32_t life = 0;
  garrick::ref<counting_protocol> who;
};
/// The coordinator's protocol for other nodes.
using office_protocol = garrick::protocol<void(join)>;

/// The name by which nodes find the coordinator.
inline constexpr const char* office_name = "office";

/// The settings for nodes of one machine, where a lost connection means that the process is lost.
[[nodiscard]] inline garrick::net::node_settings settings_of_node() {
  garrick::net::node_settings s;
  s.program = "word_count";
  s.link.session.interval = garrick::duration::milliseconds(200);
  s.link.session.resume_window = garrick::duration::milliseconds(500);
  s.link.session.down_after = garrick::duration::seconds(5);
  return s;
}

}  // namespace word_count
