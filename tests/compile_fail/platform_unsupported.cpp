// expect: garrick:
// expect: see docs/portability.md
// each: 64_bits posix plain_addresses
// A platform on which Garrick cannot work is refused with a sentence.
#if defined(GARRICK_WITHOUT_64_bits)
#undef __SIZEOF_POINTER__
#define __SIZEOF_POINTER__ 4
#elif defined(GARRICK_WITHOUT_posix)
#define _WIN32 1
#elif defined(GARRICK_WITHOUT_plain_addresses)
#define __SANITIZE_HWADDRESS__ 1
#endif
#include <garrick/base/platform/supported.hpp>

static_assert(garrick::base::address_bits == 48);
