// Assertions in two tiers.
//
// GARRICK_ASSERT(condition, "what to do about it") is always on: it costs one predicted branch and
// stops the process with the condition, the place and the advice. GARRICK_ASSERT_SLOW is for checks
// that cost more than a branch: it is on in debug builds (no NDEBUG), and wherever
// GARRICK_SLOW_ASSERTS is defined to 1.
//
// Thread safety: both may be used on any thread.
#pragma once

namespace garrick::base {

/// Prints what failed and where to the standard error stream, then aborts. `advice` may be null.
[[noreturn, gnu::cold]] void assertion_failed(const char* file, int line, const char* condition,
                                              const char* advice = nullptr) noexcept;

}  // namespace garrick::base

#define GARRICK_ASSERT(condition, ...)                                          \
  do {                                                                          \
    if (!(condition)) [[unlikely]]                                              \
      ::garrick::base::assertion_failed(__FILE__, __LINE__,                     \
                                        #condition __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

#ifndef GARRICK_SLOW_ASSERTS
#ifdef NDEBUG
#define GARRICK_SLOW_ASSERTS 0
#else
#define GARRICK_SLOW_ASSERTS 1
#endif
#endif

#if GARRICK_SLOW_ASSERTS
#define GARRICK_ASSERT_SLOW(condition, ...) GARRICK_ASSERT(condition __VA_OPT__(, ) __VA_ARGS__)
#else
#define GARRICK_ASSERT_SLOW(condition, ...) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
