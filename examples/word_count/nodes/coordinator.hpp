// Gives parts of the texts to nodes, and adds their counts together.
//
// A part waits, is under way to one node, or is counted. It waits again if its request fails, for
// instance by the loss of a node. Each node has at most `most_under_way` parts, which also bounds
// the memory.
//
// Node 1 is this process: its counting actor gets the same requests. The other nodes are processes,
// which are restarted a few times if they end too early.
#pragma once

#include "../chaos.hpp"
#include "../job.hpp"
#include "node_processes.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace word_count {

/// The coordinator's answer to `finish`.
struct counted_by_nodes {
  std::vector<ranked_word> words;  ///< the most frequent first
  shared_plan what;
  std::vector<problem> changed;  ///< files that have changed since the plan was made
  std::vector<node_work> nodes;
};
struct look_around {};

using coordinator_protocol = garrick::protocol<garrick::result<counted_by_nodes>(finish),
                                               progress(how_far), void(join), void(look_around)>;

/// The orders of a coordinator.
struct coordinator_orders {
  garrick::ref<walker_protocol> walker;
  garrick::ref<counting_protocol> here;  ///< node 1
  std::uint32_t nodes = 1;
  std::uint64_t seed = 1;  ///< the seed of the chaos
  bool chaos = false;      ///< kill one process
};

class coordinator_actor : public garrick::actor<coordinator_protocol> {
 public:
  coordinator_actor(coordinator_orders o, node_processes* others, chaos* fate);

  /// The first request begins the work, so publish the coordinator before.
  garrick::result<counted_by_nodes> on(finish);
  progress on(how_far);
  void on(const join& j);
  void on(look_around);

 private:
  static constexpr std::uint32_t most_under_way = 3;
  static constexpr std::uint64_t largest_part = 256 * 1024;  // bytes, unless a unit is larger
  static constexpr std::uint32_t least_parts = 32;  // for each node, if there is enough text
  static constexpr std::uint32_t most_lives = 4;

  struct part {
    std::uint32_t first = 0;  ///< unit
    std::uint32_t units = 0;
    std::uint64_t bytes = 0;
    bool stays_here = false;  ///< it is too large for a message to another process
  };
  struct node_state {
    garrick::ref<counting_protocol> who;  ///< empty: not joined
    std::uint32_t life = 1;
    std::uint32_t under_way = 0;
    node_work work;
  };

  void begin();
  void make_parts();
  void begin_if_all_are_there();
  void give_out();
  [[nodiscard]] bool take_part(const node_state& to, std::uint32_t& number);
  void hand(std::uint32_t node, std::uint32_t number);
  [[nodiscard]] count_part read(const part& p);
  void came_back(std::uint32_t node, std::uint32_t life, std::uint32_t number, const counted& c);
  void is_lost(std::uint32_t node, std::uint32_t life, std::uint32_t number,
               const garrick::error& why);
  void has_ended(std::uint32_t node);
  void strike();
  void look_for_changes();
  void complete(std::vector<problem> changed);

  coordinator_orders orders_;
  node_processes* others_;
  chaos* chaos_;

  bool has_begun_ = false;
  phase phase_ = phase::finding;
  shared_plan plan_;
  std::vector<node_state> nodes_;
  std::vector<part> parts_;
  std::deque<std::uint32_t> waiting_;  ///< parts that no node counts
  std::uint64_t parts_done_ = 0;
  std::uint64_t units_done_ = 0;
  bool has_struck_ = false;
  lexicon all_;
  std::map<std::string, std::string> unread_;  ///< files that could not be read, and why
  counted_by_nodes result_;                    ///< once complete
  std::vector<garrick::response_promise<counted_by_nodes>> asked_;
};

}  // namespace word_count
