// Finds the files and remembers them. A new incarnation finds them again. At the end the walker
// reports the files that have changed since.
#pragma once

#include "chaos.hpp"
#include "protocols.hpp"

#include <string>
#include <vector>

namespace word_count {

class walker_actor : public garrick::actor<walker_protocol> {
 public:
  walker_actor(std::vector<std::string> paths, std::uint32_t unit_bytes, chaos* fate)
      : paths_(std::move(paths)), unit_bytes_(unit_bytes), chaos_(fate) {}

  shared_plan on(find_files) {
    chaos_->handling(role::walker);
    if (found_ == nullptr) found_ = std::make_shared<const plan>(make_plan(paths_, unit_bytes_));
    chaos_->midway(role::walker);
    return found_;
  }

  std::vector<problem> on(const look_again& l) {
    chaos_->handling(role::walker);
    return changes(*l.known);
  }

 private:
  std::vector<std::string> paths_;
  std::uint32_t unit_bytes_;
  chaos* chaos_;
  shared_plan found_;
};

}  // namespace word_count
