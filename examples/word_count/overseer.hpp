// The supervisor of all actors: restarts those that chaos has struck, as often as that happens, and
// gives up when actors fall for other reasons.
//
// A handler that has run out of memory runs out of it again: a restart gives back the memory of the
// object, and the work that is repeated takes as much once more. So a few failures that are not
// chaos, in all and not in some window of time, end the job, and the reason names the last one.
#pragma once

#include <garrick/garrick.hpp>

#include <memory>
#include <string>
#include <utility>

namespace word_count {

class overseer_actor : public garrick::supervisor {
 public:
  /// `verdict` gets the reason as a sentence, before any actor is told of the end.
  overseer_actor(const garrick::supervision& how, std::shared_ptr<std::string> verdict)
      : supervisor(how), verdict_(std::move(verdict)) {}

  using supervisor::on;
  void on(const garrick::child_failed& f);

 private:
  static constexpr int most_failures = 8;
  std::shared_ptr<std::string> verdict_;
  int failures_ = 0;
  bool memory_is_short_ = false;  ///< a failure was about it
};

}  // namespace word_count
