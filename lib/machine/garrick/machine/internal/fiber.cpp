// The switch of stacks: in assembly on x86-64, through swapcontext elsewhere.
#include <garrick/machine/internal/fiber.hpp>

#include <ucontext.h>

#include <cstdint>

// The sanitizers must be told when the stack changes.
#if defined(__SANITIZE_ADDRESS__)
#define GARRICK_ASAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GARRICK_ASAN_FIBERS 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define GARRICK_TSAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GARRICK_TSAN_FIBERS 1
#endif
#endif
#if defined(GARRICK_ASAN_FIBERS)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(GARRICK_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__x86_64__) && defined(__ELF__) && !defined(GARRICK_ASAN_FIBERS) && \
    !defined(GARRICK_TSAN_FIBERS)
#define GARRICK_FAST_FIBERS 1
#endif

#if defined(GARRICK_FAST_FIBERS)
// Saves the registers that a function must preserve on the present stack, and loads those of the
// other one. Leaves the signal mask alone, for which swapcontext needs two system calls.
extern "C" void garrick_machine_switch_stacks(void** save, void* load) noexcept;
asm(R"(
.text
.p2align 4
.globl garrick_machine_switch_stacks
.hidden garrick_machine_switch_stacks
.type garrick_machine_switch_stacks,@function
garrick_machine_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size garrick_machine_switch_stacks,.-garrick_machine_switch_stacks
)");
#endif

namespace garrick::machine {

struct fiber::state {
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
  std::unique_ptr<std::byte[]> stack;  ///< null: the thread's own
#if defined(GARRICK_FAST_FIBERS)
  void* top = nullptr;
#else
  ucontext_t context{};
#endif
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* asan_stack = nullptr;
  void* tsan_fiber = nullptr;

  static thread_local state* from;  ///< set just before a switch, for a fibre that begins
  static thread_local state* to;

  static void enter() noexcept {
    state& me = *to;
#if defined(GARRICK_ASAN_FIBERS)
    const bool known = from->bottom != nullptr;
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    if (!known) {
      from->bottom = bottom;
      from->size = size;
    }
#endif
    me.body(me.argument);
  }
};

thread_local fiber::state* fiber::state::from = nullptr;
thread_local fiber::state* fiber::state::to = nullptr;

fiber::fiber() : state_(std::make_unique<state>()) {
#if defined(GARRICK_TSAN_FIBERS)
  state_->tsan_fiber = __tsan_get_current_fiber();
#endif
}

fiber::fiber(std::size_t stack_bytes, void (*body)(void*), void* argument)
    : state_(std::make_unique<state>()) {
  state& made = *state_;
  made.body = body;
  made.argument = argument;
  made.stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  made.bottom = made.stack.get();
  made.size = stack_bytes;
#if defined(GARRICK_FAST_FIBERS)
  const auto end =
      reinterpret_cast<std::uintptr_t>(made.stack.get() + stack_bytes) & ~std::uintptr_t{15};
  // six registers, the address of the entry, and a null return address
  auto* const words = reinterpret_cast<std::uintptr_t*>(end) - 8;
  for (int i = 0; i < 8; ++i) words[i] = 0;
  words[6] = reinterpret_cast<std::uintptr_t>(&state::enter);
  made.top = words;
#else
  getcontext(&made.context);
  made.context.uc_stack.ss_sp = made.stack.get();
  made.context.uc_stack.ss_size = stack_bytes;
  made.context.uc_link = nullptr;
  makecontext(&made.context, reinterpret_cast<void (*)()>(&state::enter), 0);
#endif
#if defined(GARRICK_TSAN_FIBERS)
  made.tsan_fiber = __tsan_create_fiber(0);
#endif
}

fiber::~fiber() {
#if defined(GARRICK_TSAN_FIBERS)
  if (state_->stack != nullptr) __tsan_destroy_fiber(state_->tsan_fiber);
#endif
}

void fiber::switch_to(fiber& other, [[maybe_unused]] bool ends) noexcept {
  state& me = *state_;
  state& next = *other.state_;
  state::from = &me;
  state::to = &next;
#if defined(GARRICK_ASAN_FIBERS)
  __sanitizer_start_switch_fiber(ends ? nullptr : &me.asan_stack, next.bottom, next.size);
#endif
#if defined(GARRICK_TSAN_FIBERS)
  __tsan_switch_to_fiber(next.tsan_fiber, 0);
#endif
#if defined(GARRICK_FAST_FIBERS)
  garrick_machine_switch_stacks(&me.top, next.top);
#else
  swapcontext(&me.context, &next.context);
#endif
#if defined(GARRICK_ASAN_FIBERS)
  __sanitizer_finish_switch_fiber(me.asan_stack, nullptr, nullptr);
#endif
}

}  // namespace garrick::machine
