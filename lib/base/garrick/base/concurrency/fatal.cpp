// Calls the hook once, also from std::terminate and from signals. All of this code may run in a
// signal's handler.
#include "garrick/base/concurrency/fatal.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>

#include "garrick/base/concurrency/thread_state.hpp"
#include "garrick/base/platform/platform.hpp"

namespace garrick::base {

namespace {

std::atomic<fatal_hook> present_hook{nullptr};
/// The thread that tells, or has told, the hook.
std::atomic<const thread_state*> teller{nullptr};
std::atomic<bool> told{false};

void wait_for_teller() noexcept {
  constexpr int most_milliseconds = 10'000;  // a hook that hangs must not keep the process
  // order: nothing that the hook has written is used
  for (int i = 0; i != most_milliseconds && !told.load(std::memory_order_relaxed); ++i)
    platform::sleep_ns(1'000'000);
}

void tell(fatal_cause cause, std::string_view reason) noexcept {
  // order: acquire pairs with set_fatal_hook: the installer's preparations
  const fatal_hook hook = present_hook.load(std::memory_order_acquire);
  if (hook == nullptr) return;
  const thread_state* first = nullptr;
  // order: chooses the thread that tells; nothing else is passed on
  if (!teller.compare_exchange_strong(first, &this_thread, std::memory_order_relaxed)) {
    // If this thread is the teller, the hook has failed, or abort() has raised its signal
    // afterwards.
    if (first != &this_thread) wait_for_teller();
    return;
  }
  fatal_end end{.cause = cause, .reason = reason};
  end.thread = platform::this_thread_id();
  if (this_thread.worker_of != nullptr) end.worker = this_thread.worker_index;
  // order: own thread's values
  end.actor = this_thread.actor_id.load(std::memory_order_relaxed);
  if (end.actor != 0) end.message = this_thread.handling.load(std::memory_order_relaxed);
  hook(end);
  told.store(true, std::memory_order_relaxed);  // order: nothing is passed on
}

constexpr std::array watched_signals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

std::string_view text_of(int signal) noexcept {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV: an access to memory that is not there";
    case SIGBUS: return "SIGBUS: an access to memory that cannot be had";
    case SIGILL: return "SIGILL: not an instruction";
    case SIGFPE: return "SIGFPE: a calculation without result";
    case SIGABRT: return "SIGABRT: the program aborts";
    default: return "a signal";
  }
}

void on_signal(int signal, siginfo_t*, void*) noexcept {
  const int before = errno;
  tell_of_signal(signal);
  end_of_signal(signal);
  errno = before;
}

std::terminate_handler terminate_before = nullptr;

[[noreturn]] void on_terminate() noexcept {
  fatal_line text;
  text.add("std::terminate");
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& x) {
      text.add(" after an exception: ");
      text.add(x.what());
    } catch (...) { text.add(" after an exception that is not a std::exception"); }
  }
  tell(fatal_cause::terminate, text.reason());
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

bool watch_ends() noexcept {
  // order: release pairs with end_process
  listens_to_ends.store(tell, std::memory_order_release);
  terminate_before = std::get_terminate();
  std::set_terminate(on_terminate);
  for (const int s : watched_signals) static_cast<void>(handle_signal(s, on_signal));
  return true;
}

}  // namespace

fatal_hook set_fatal_hook(fatal_hook hook) noexcept {
  // order: acq_rel: release pairs with tell(); acquire: the former hook's data, for chaining it
  const fatal_hook before = present_hook.exchange(hook, std::memory_order_acq_rel);
  if (hook != nullptr) { [[maybe_unused]] static const bool watched = watch_ends(); }
  return before;
}

void tell_of_signal(int signal) noexcept { tell(fatal_cause::signal, text_of(signal)); }

bool handle_signal(int signal, void (*handler)(int, siginfo_t*, void*)) noexcept {
  struct sigaction present{};
  if (::sigaction(signal, nullptr, &present) != 0) return false;
  const bool ours = (present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == on_signal;
  if (!ours && present.sa_handler != SIG_DFL) return false;
  struct sigaction wanted{};
  wanted.sa_sigaction = handler;
  wanted.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&wanted.sa_mask);
  return ::sigaction(signal, &wanted, nullptr) == 0;
}

void end_of_signal(int signal) noexcept {
  std::signal(signal, SIG_DFL);
  static_cast<void>(::raise(signal));  // blocked until its handler returns
}

}  // namespace garrick::base
