// A node that counts: an actor that gets parts of texts, and the process around it.
#pragma once

#include "node_protocols.hpp"

#include <cstdint>
#include <string>

namespace word_count {

/// Counts parts, and ends when it gets `enough` or the coordinator has ended.
class counting_actor : public garrick::actor<counting_protocol> {
 public:
  /// Joins at `office`, if the handle is not empty.
  counting_actor(garrick::ref<office_protocol> office, std::uint32_t node, std::uint32_t life)
      : office_(std::move(office)), node_(node), life_(life) {}

  void on_start();
  counted on(const count_part& p);
  void on(enough) { quit(); }

 private:
  garrick::ref<office_protocol> office_;
  std::uint32_t node_;
  std::uint32_t life_;
};

/// The arguments that make a process a node: the words after the program's name.
struct node_arguments {
  static constexpr const char* option = "--as-node";

  std::string office;         ///< the coordinator's endpoint
  std::uint64_t family = 0;   ///< the id of the run, the same for all its nodes
  std::uint32_t node = 0;     ///< the node's number
  std::uint32_t life = 0;     ///< the number among this node's processes
  std::uint32_t workers = 0;  ///< threads; 0: one per core

  [[nodiscard]] std::vector<std::string> words() const;
  /// Reads the words. Returns false if they are not a node's arguments.
  [[nodiscard]] bool read(const std::vector<std::string_view>& words);
};

/// Runs a node's process until it is no longer needed. Returns the exit status.
int be_a_node(const node_arguments& a);

}  // namespace word_count
