// The nodes of one running stream, their loops, and the actors that carry them.
//
// Private: installed because templates need it.
//
// Thread safety: `add_node`, `add_loop` and `launch` belong to the actor that spawns the stream;
// `nodes` is for any thread after that.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/node/ending.hpp>
#include <garrick/patterns/node/loop.hpp>
#include <garrick/patterns/node/node.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// The nodes of one running stream. The graph lives as long as one of its carriers, or the actor
/// behind the stream's handle.
class graph final : public ending, public std::enable_shared_from_this<graph> {
 public:
  graph() = default;
  ~graph() = default;

  /// Makes a node of the class Node.
  template <class Node, class... Args>
  Node& add_node(Args&&... args) {
    // not make_unique: a pointer type for each class of nodes would be much to compile
    Node* const made = new Node(*this, std::forward<Args>(args)...);
    nodes_.push_back(std::unique_ptr<node>(made));
    return *made;
  }
  /// Makes a loop with this many credits.
  loop& add_loop(std::size_t credits) {
    loops_.push_back(std::make_unique<loop>(credits));
    return *loops_.back();
  }
  /// Gives each node its carrier, and starts the nodes. The actor `told` is told of the stream's
  /// end. Throws std::runtime_error, and starts no node, if a carrier cannot be made, for example
  /// because there is no thread left for it.
  void launch(actor_base& from, weak_ref<protocol<void(all_ended)>> told);

  /// Returns all nodes, from the sinks to the sources.
  [[nodiscard]] const std::vector<std::unique_ptr<node>>& nodes() const noexcept { return nodes_; }
  /// Returns the value that the stream's handle yields at its end, if a stage keeps one for it.
  [[nodiscard]] std::shared_ptr<void>& value() noexcept { return value_; }

  /// Runs a node that waits for its turn on this thread, inside the caller. Returns false if none
  /// waits.
  bool help() noexcept;
  /// Lets other threads have the processor.
  static void yield() noexcept;
  /// Blocks the thread for some dozen microseconds.
  static void nap() noexcept;

 private:
  void wake_all() noexcept override;

  std::vector<std::unique_ptr<loop>> loops_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::shared_ptr<void> value_;
};

}  // namespace garrick::patterns::detail
