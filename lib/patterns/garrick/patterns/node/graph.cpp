#include <garrick/base/platform/platform.hpp>
#include <garrick/patterns/node/graph.hpp>

#include <stdexcept>
#include <thread>

namespace garrick::patterns::detail {

/// A carrier's node, and the graph that keeps it alive.
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

void graph::launch(actor_base& from, weak_ref<protocol<void(all_ended)>> told) {
  begin(nodes_.size(), std::move(told));
  std::vector<ref<carrier_protocol>> carriers;  // if one fails, the others end with this vector
  carriers.reserve(nodes_.size());
  for (const auto& n : nodes_) {
    spawn_options o;
    o.name = n->name();
    o.detached = n->own_thread();
    // If it failed, `spawn` would return the handle of an ended actor: the node would never run.
    auto made = from.try_spawn<carrier>(o, carried{shared_from_this(), n.get()});
    if (!made) throw std::runtime_error(made.error().to_string());
    carriers.push_back(*std::move(made));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->carried_by(std::move(carriers[i]));
  for (const auto& n : nodes_) n->begin(from, shared_from_this());
  wake_all();
}

void graph::wake_all() noexcept {
  for (const auto& n : nodes_) n->wake(nullptr, 0);
}

bool graph::help() noexcept {
  for (const auto& n : nodes_)
    if (n->help()) return true;
  return false;
}

void graph::yield() noexcept { std::this_thread::yield(); }

void graph::nap() noexcept { base::platform::sleep_ns(50'000); }

}  // namespace garrick::patterns::detail
