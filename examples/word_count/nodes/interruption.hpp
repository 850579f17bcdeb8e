// Ctrl-C while other processes and a folder have to be cleared away: the signal waits until that is
// done, and then ends this process as it would have.
//
// While an object lives, the signals that ask a process to end (SIGINT, SIGTERM, SIGHUP) are
// blocked in its thread and in those that are started from there. Signals that the program ignores
// or handles are left alone.
//
// Thread safety: one thread makes, uses and destroys it.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace word_count {

class interruption {
 public:
  /// Before any other thread of the program. Throws std::system_error.
  interruption();
  /// A signal that has come ends the process here.
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// The signals that were blocked before: the mask for a process that is started meanwhile.
  [[nodiscard]] const sigset_t& mask_before() const noexcept { return before_; }

  /// Returns true if a signal has come.
  [[nodiscard]] bool has_come() const noexcept;
  /// As the destructor: for when all is cleared away, and the rest may go with the process.
  void let_it_end() const noexcept;

  /// While it lives, another thread waits for a signal, and then calls a function, once.
  class watch {
   public:
    /// Throws std::system_error.
    watch(const interruption& of, std::function<void()> give_up);
    ~watch();
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

   private:
    int signals_ = -1;
    int stop_ = -1;
    std::thread thread_;
  };

 private:
  sigset_t before_{};
  sigset_t waits_{};  ///< those that are blocked here
};

}  // namespace word_count
