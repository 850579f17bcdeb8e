// Stacks between which one thread switches: the threads of the simulated machine.
//
// On x86-64 (with ELF) a switch saves six registers and costs a few nanoseconds. Elsewhere, and
// under the sanitizers, which must be told when the stack changes, a switch calls swapcontext.
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
  /// Makes a fibre that runs `body(argument)` at the first switch to it. The body never returns: it
  /// ends with `switch_to(…, true)`, and no object on its stack is destroyed.
  fiber(std::size_t stack_bytes, void (*body)(void*), void* argument);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Switches from this fibre, which must be running, to another one. Returns when another fibre
  /// switches back, or never with `ends`.
  void switch_to(fiber& to, bool ends = false) noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace garrick::machine
