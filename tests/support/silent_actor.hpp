// An actor that never answers: for tests of the ends of waits.
#pragma once

#include <garrick/garrick.hpp>

#include <vector>

namespace garrick::tests {

struct ask {};
using silent = protocol<result<int>(ask)>;

/// Keeps each promise as long as it lives.
class silent_actor : public actor<silent> {
 public:
  result<int> on(ask) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }

 private:
  std::vector<response_promise<int>> kept_;
};

}  // namespace garrick::tests
