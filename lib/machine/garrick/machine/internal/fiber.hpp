// Stacks that one thread switches between: they make the threads of the simulated machine.
//
// On x86-64 (with ELF) a switch saves six registers and costs a few nanoseconds; elsewhere, and
// under the sanitizers, which must be told when the stack changes, it is swapcontext.
//
// Thread safety: none; fibres that switch to each other belong to one thread.
#pragma once

#include <cstddef>
#include <memory>

namespace garrick::machine {

/// A stack, and the place where the code on it stopped.
class fiber {
 public:
  /// Represents the calling thread's own stack.
  fiber();
  /// Makes a fibre that runs `body(argument)` when a thread first switches to it. The body never
  /// returns: it ends with `switch_to(…, true)`, and nothing on its stack is destroyed.
  fiber(std::size_t stack_bytes, void (*body)(void*), void* argument);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Called on this fibre: it stops here until another fibre switches back. With `ends`, none will.
  void switch_to(fiber& to, bool ends = false) noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace garrick::machine
