// Refuses, with a sentence, the platforms on which Garrick cannot work, and states its assumption
// about addresses. docs/portability.md lists the tested, the untested and the refused platforms.
//
// This header includes nothing, so that its sentence comes before errors of other headers.
//
// Thread safety: constants only.
#pragma once

#if defined(_WIN32)
#error "garrick: Windows is not supported, a POSIX system is needed: see docs/portability.md"
#endif

// A mailbox keeps a message's address, a count and flags in one word.
#if __SIZEOF_POINTER__ != 8
#error "garrick: pointers must have 64 bits, so build for a 64-bit system: see docs/portability.md"
#endif

// HWAddressSanitizer gives tags to addresses of memory from `new` and of global objects.
#if defined(__SANITIZE_HWADDRESS__)
#define GARRICK_TAGGED_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(hwaddress_sanitizer)
#define GARRICK_TAGGED_ADDRESSES 1
#endif
#endif
#if defined(GARRICK_TAGGED_ADDRESSES)
#error "garrick: -fsanitize=hwaddress does not work, use =address: see docs/portability.md"
#endif

namespace garrick::base {

/// Addresses of blocks have at most this many bits, and no tag above them: a mailbox uses the bits
/// above for a count. The block pool ends the process with a message if the system gives it other
/// addresses.
inline constexpr unsigned address_bits = 48;

}  // namespace garrick::base
