// Assertions in two tiers: conditions that hold if the program and the framework have no bug. An
// operation that may fail in an expected way returns a `result` instead.
//
//   GARRICK_ASSERT(workers != 0, "a pool needs at least one worker");
//
// Thread safety: both may be used on any thread.
#pragma once

namespace garrick::base {

/// Prints the failed condition and its place to the standard error stream, then aborts. `advice`
/// may be null.
[[noreturn, gnu::cold]] void assertion_failed(const char* file, int line, const char* condition,
                                              const char* advice = nullptr) noexcept;

/// Prints "garrick: out of memory: " and the failed work to the standard error stream, then aborts.
/// For work that can neither go on without memory nor report an error. Allocates nothing.
[[noreturn, gnu::cold]] void out_of_memory(const char* what) noexcept;

/// Prints "garrick: the system refuses " and the refused service to the standard error stream, then
/// aborts. For services that were granted before and are indispensable. Allocates nothing.
[[noreturn, gnu::cold]] void refused_by_system(const char* what) noexcept;

}  // namespace garrick::base

/// Always on: unless the condition holds, ends the process with a message that has the condition,
/// the place and the advice. Costs one predicted branch.
#define GARRICK_ASSERT(condition, ...)                                          \
  do {                                                                          \
    if (!(condition)) [[unlikely]]                                              \
      ::garrick::base::assertion_failed(__FILE__, __LINE__,                     \
                                        #condition __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

/// 1 switches GARRICK_ASSERT_SLOW on, 0 off. The default is on unless NDEBUG is defined.
#ifndef GARRICK_SLOW_ASSERTS
#ifdef NDEBUG
#define GARRICK_SLOW_ASSERTS 0
#else
#define GARRICK_SLOW_ASSERTS 1
#endif
#endif

/// Like GARRICK_ASSERT, for checks that cost more than a branch. When it is off, the condition is
/// compiled but not evaluated.
#if GARRICK_SLOW_ASSERTS
#define GARRICK_ASSERT_SLOW(condition, ...) GARRICK_ASSERT(condition __VA_OPT__(, ) __VA_ARGS__)
#else
#define GARRICK_ASSERT_SLOW(condition, ...) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
