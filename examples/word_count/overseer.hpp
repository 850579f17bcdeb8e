// The supervisor of all actors: restarts actors that chaos has struck without a limit, and gives up
// when actors fail for other reasons.
//
// A handler that has run out of memory would run out of it again: a restart frees the object's
// memory, and the repeated work needs as much again. So a few failures other than chaos end the
// job. They are counted over the whole run, and the reason names the last one.
#pragma once

#include <garrick/garrick.hpp>

#include <memory>
#include <string>
#include <utility>

namespace word_count {

class overseer_actor : public garrick::supervisor {
 public:
  /// Writes the reason to `verdict` as a sentence, before any actor gets a signal of the end.
  overseer_actor(const garrick::supervision& how, std::shared_ptr<std::string> verdict)
      : supervisor(how), verdict_(std::move(verdict)) {}

  using supervisor::on;
  void on(const garrick::child_failed& f);

 private:
  static constexpr int most_failures = 8;
  std::shared_ptr<std::string> verdict_;
  int failures_ = 0;
  bool memory_is_short_ = false;  ///< a failure was a lack of memory
};

}  // namespace word_count
