// Delays Ctrl-C until other processes have ended and a folder is removed. The signal then ends this
// process as usual.
//
// While an object lives, the signals that end a process (SIGINT, SIGTERM, SIGHUP) are blocked in
// its thread and in threads that this thread starts. Signals that the program ignores or handles
// are not changed.
//
// Thread safety: one thread makes, uses and destroys it.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace word_count {

class interruption {
 public:
  /// Blocks the signals. Call it before the program has another thread. Throws std::system_error.
  interruption();
  /// Unblocks the signals: a pending one ends the process here.
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// Returns the signals that were blocked before: the mask for a process that is started during
  /// this object's life.
  [[nodiscard]] const sigset_t& mask_before() const noexcept { return before_; }

  /// Returns true if a signal is pending.
  [[nodiscard]] bool has_come() const noexcept;
  /// Unblocks the signals like the destructor, before the end of this object's life.
  void let_it_end() const noexcept;

  /// While a watch lives, a thread waits for a signal, and then calls a function once.
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
  sigset_t waits_{};  ///< the signals that are blocked here
};

}  // namespace word_count
