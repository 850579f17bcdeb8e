// Macros that silence warnings of compilers that are wrong about some of our classes.
//
// Thread safety: macros, without effect at run time.
//
// Private to the framework: installed because templates need it.
#pragma once

// These macros enclose classes with virtual functions and no virtual destructor. Such a class is
// never destroyed through a base class, but GCC warns of it if it has a friend, although its
// destructor is protected.
#if defined(__GNUC__) && !defined(__clang__)
#define GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wnon-virtual-dtor\"")
#define GARRICK_NO_VIRTUAL_DESTRUCTORS_END _Pragma("GCC diagnostic pop")
#else
#define GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN
#define GARRICK_NO_VIRTUAL_DESTRUCTORS_END
#endif
