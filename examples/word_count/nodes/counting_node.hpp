// A node that counts: an actor that is given parts of texts, and the process around it.
#pragma once

#include "node_protocols.hpp"

#include <cstdint>
#include <string>

namespace word_count {

/// Counts its parts, and ends when it hears `enough` or the coordinator is gone.
class counting_actor : public garrick::actor<counting_protocol> {
 public:
  /// Joins at `office`, if that is not empty.
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
  std::uint64_t family = 0;   ///< the same for all nodes of a run
  std::uint32_t node = 0;     ///< which one
  std::uint32_t life = 0;     ///< of this node's processes
  std::uint32_t workers = 0;  ///< threads; 0: one per core

  [[nodiscard]] std::vector<std::string> words() const;
  /// Returns false if these are not such words.
  [[nodiscard]] bool read(const std::vector<std::string_view>& words);
};

/// Runs such a process until it is no longer needed. Returns the program's exit status.
int be_a_node(const node_arguments& a);

}  // namespace word_count
