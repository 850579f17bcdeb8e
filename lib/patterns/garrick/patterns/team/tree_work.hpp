// Work that divides itself: a problem is solved, or divided into parts that are put together when
// all are solved.
//
// Each participant has a lane of problems. It adds the parts of a problem that it divides, and
// takes the newest problem; with an empty lane it takes the oldest of another lane, which is the
// largest. A participant that finds no problem goes away, and is called back when a problem is
// divided. The lanes have one lock, which is held for a few instructions. A problem that is worth
// dividing takes much longer.
//
// Private: installed because templates need it.
//
// Thread safety: as in shared_work.hpp.
//
// Invariants
// T1 A problem is in one lane, or in the hands of a participant, or divided.
// T2 The participant that solves a problem's last part merges the parts, and sees the writes of the
//    others.
// T3 A participant that goes away has seen, under the lock, that no problem waits; a participant
//    that adds a problem sees, under the lock, which participants are away.
#pragma once

#include <garrick/patterns/team/shared_work.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// A problem, or a part of one.
struct tree_node {
  tree_node* parent = nullptr;
  std::atomic<std::size_t> unsolved{0};  ///< the number of its parts that are not solved
};

/// Frees the parts of `whole`, and their parts, the last ones first. Works in a loop, since a tree
/// that is dropped half-way may be too deep for the stack. Node is a tree_node with its parts in a
/// std::vector, `of_parts`; each part that has parts itself knows its parent.
template <class Node>
void forget_tree(Node& whole) noexcept {
  Node* n = &whole;
  while (n != &whole || !n->of_parts.empty()) {
    if (n->of_parts.empty())
      n = static_cast<Node*>(n->parent);
    else if (n->of_parts.back().of_parts.empty())
      n->of_parts.pop_back();
    else
      n = &n->of_parts.back();
  }
  std::vector<Node>().swap(whole.of_parts);
}

/// Work that divides itself.
class tree_work : public shared_work {
 public:
  [[nodiscard]] bool take_part(seat& at, actor_base& on) noexcept final;
  [[nodiscard]] std::size_t most_hands() const noexcept final { return 1; }  // others as it divides
  void belongs_to(std::vector<hand> all, std::size_t begin, hand asked, bool takes_part) final;

 protected:
  explicit tree_work(std::string name) : shared_work(std::move(name)) {}

  /// Returns the whole problem.
  [[nodiscard]] virtual tree_node& root() noexcept = 0;
  /// Solves `n`, or divides it and returns its parts. Throws the exceptions of the user's
  /// functions.
  virtual std::vector<tree_node*> solve_or_divide(tree_node& n) = 0;
  /// Merges the parts of `n`, which are all solved. Throws the exceptions of the user's function.
  virtual void put_together(tree_node& n) = 0;
  /// Frees the parts of `n`, by forget_tree.
  virtual void forget_parts(tree_node& n) noexcept = 0;
  /// Returns the place of `n`, for errors: its first element, or the number of divisions that led
  /// to it.
  [[nodiscard]] virtual std::size_t place_of(const tree_node& n) const noexcept = 0;
  /// Returns true if `place_of` is the number of divisions.
  [[nodiscard]] virtual bool goes_by_depth() const noexcept = 0;

 private:
  struct lane {
    std::vector<tree_node*> waiting;
    std::size_t first = 0;  ///< problems before it were taken by others
    bool away = true;       ///< its owner is not there
    [[nodiscard]] bool empty() const noexcept { return first == waiting.size(); }
  };

  /// Returns the next problem for `who`; null if there is none, and then `who` is away.
  tree_node* take(std::size_t who) noexcept;
  /// Adds problems to `who`'s lane and calls other participants back. Throws std::bad_alloc, and
  /// then has added none.
  void add(std::size_t who, const std::vector<tree_node*>& some);
  /// Works on `n` for participant `who`. Returns true if the whole problem is solved now.
  [[nodiscard]] bool work_at(std::size_t who, tree_node& n) noexcept;

  std::mutex lock_;
  std::vector<lane> lanes_;
  std::vector<hand> hands_;  ///< does not change: a participant that divides calls them without the
                             ///< lock
};

}  // namespace garrick::patterns::detail
