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

/// The nodes of one running stream. Lives as long as one of its carriers, or the actor behind the
/// stream's handle.
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
  /// Makes a loop with so many credits.
  loop& add_loop(std::size_t credits) {
    loops_.push_back(std::make_unique<loop>(credits));
    return *loops_.back();
  }
  /// Gives each node its carrier, and begins. `told` hears of the end.
  template <class Spawner>
  void launch(Spawner& from, weak_ref<protocol<void(all_ended)>> told);

  /// All nodes, from the sinks to the sources.
  [[nodiscard]] const std::vector<std::unique_ptr<node>>& nodes() const noexcept { return nodes_; }
  /// What the stream's handle yields at its end, if a stage keeps something for it.
  [[nodiscard]] std::shared_ptr<void>& value() noexcept { return value_; }

  /// Lets a node that waits for its turn here have it now, inside the caller. False: none does.
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

/// What a carrier gets: its node, and what keeps that alive.
struct carried {
  using garrick_sendable = void;
  std::shared_ptr<graph> owner;
  node* what;
};

/// The actor that runs a node when no other node does.
class carrier final : public actor<carrier_protocol> {
 public:
  explicit carrier(carried c) : carried_(std::move(c)) {}
  void on(go) { carried_.what->run(*this, nullptr); }
  void on(alarm) { carried_.what->wake(nullptr, 0); }
  void on(leave) { quit(); }

 private:
  carried carried_;
};

template <class Spawner>
void graph::launch(Spawner& from, weak_ref<protocol<void(all_ended)>> told) {
  begin(nodes_.size(), std::move(told));
  std::vector<ref<carrier_protocol>> carriers;  // if one cannot be made, they end with this
  carriers.reserve(nodes_.size());
  for (const auto& n : nodes_) {
    spawn_options o;
    o.name = n->name();
    o.detached = n->own_thread();
    carriers.push_back(from.template spawn<carrier>(o, carried{shared_from_this(), n.get()}));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->carried_by(std::move(carriers[i]));
  for (const auto& n : nodes_) n->begin(from, shared_from_this());
  wake_all();
}

}  // namespace garrick::patterns::detail
