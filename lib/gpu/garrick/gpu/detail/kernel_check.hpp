// Compares a kernel's parameters with a signature.
//
// Private: installed because templates need it.
//
// Thread safety: plain functions.
#pragma once

#include <garrick/gpu/detail/built.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace garrick::gpu::detail {

/// A parameter of a signature.
struct expected_parameter {
  enum class kind : std::uint8_t { memory, local, value };
  kind what = kind::value;
  std::string_view type{};  ///< empty: any
  bool is_written = false;
  bool is_shared = false;  ///< other refs may share the memory: the kernel must not write it
  std::size_t bytes = 0;   ///< the size of an element or of the value
};

/// Returns a description of the first mismatch; empty if the kernel fits.
[[nodiscard]] std::string mismatch(const built_kernel& k,
                                   std::span<const expected_parameter> wanted);

}  // namespace garrick::gpu::detail
