#include "garrick/gpu/detail/kernel_check.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace garrick::gpu::detail {
namespace {

constexpr std::array<std::string_view, 11> scalars{
    "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half"};

/// Returns one name for each type: "unsigned int" and "uint" are the same.
std::string_view normal(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> longer{{
      {"unsigned char", "uchar"},
      {"unsigned short", "ushort"},
      {"unsigned int", "uint"},
      {"unsigned long", "ulong"},
  }};
  for (const auto& [from, to] : longer)
    if (type == from) return to;
  return type;
}

/// Returns true if the name means the same type in every source.
bool is_built_in(std::string_view type) {
  const std::size_t letters = std::min(type.find_first_of("0123456789"), type.size());
  const std::string_view n = type.substr(letters);
  return std::ranges::count(scalars, type.substr(0, letters)) != 0 &&
         (n.empty() || n == "2" || n == "3" || n == "4" || n == "8" || n == "16");
}

/// Returns the bytes of a value of a built-in type.
std::size_t size_of(std::string_view type) {
  constexpr std::array<std::size_t, scalars.size()> bytes{1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2};
  const std::size_t letters = std::min(type.find_first_of("0123456789"), type.size());
  const auto at = std::ranges::find(scalars, type.substr(0, letters)) - scalars.begin();
  std::size_t n = 0;
  for (const char digit : type.substr(letters)) n = n * 10 + static_cast<std::size_t>(digit - '0');
  if (n == 3) n = 4;  // as OpenCL lays it out
  return bytes[static_cast<std::size_t>(at)] * std::max<std::size_t>(n, 1);
}

std::string_view name_of(address_space s) {
  switch (s) {
    case address_space::global: return "global memory";
    case address_space::constant: return "constant memory";
    case address_space::local: return "local memory";
    case address_space::value: break;
  }
  return "a value";
}

bool fits(address_space s, const expected_parameter& w) {
  using kind = expected_parameter::kind;
  switch (w.what) {
    case kind::memory:
      return s == address_space::global || (s == address_space::constant && !w.is_written);
    case kind::local: return s == address_space::local;
    case kind::value: break;
  }
  return s == address_space::value;
}

std::string_view name_of(const expected_parameter& w) {
  using kind = expected_parameter::kind;
  if (w.what == kind::local) return "local memory";
  if (w.what == kind::value) return "a value";
  return w.is_written ? "memory that it can write" : "memory";
}

}  // namespace

std::string mismatch(const built_kernel& k, std::span<const expected_parameter> wanted) {
  if (k.parameters.size() != wanted.size())
    return "it takes " + std::to_string(k.parameters.size()) + " arguments, the signature has " +
           std::to_string(wanted.size()) + " (outputs are the last ones)";
  if (!k.types_known) return {};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const parameter& p = k.parameters[i];
    const expected_parameter& w = wanted[i];
    const std::string which = "parameter " + std::to_string(i + 1) + " ";
    if (!fits(p.space, w))
      return which + "is " + std::string(name_of(p.space)) + ", the signature wants " +
             std::string(name_of(w));
    if (w.is_written && p.is_const) return which + "is const, the signature has it written";
    if (w.is_shared && p.space == address_space::global && !p.is_const)
      return which +
             "is not const, and others may hold the same device_ref: declare it const, or "
             "name it in_out";
    const std::string_view there = normal(p.type);
    if (!w.type.empty() && is_built_in(there) && is_built_in(w.type) && there != w.type)
      return which + "is of " + std::string(there) + ", the signature has " + std::string(w.type);
    if (w.what == expected_parameter::kind::value && w.type.empty() && is_built_in(there) &&
        size_of(there) != w.bytes)
      return which + "is of " + std::string(there) + ", the signature has a value of " +
             std::to_string(w.bytes) + " bytes";
  }
  return {};
}

}  // namespace garrick::gpu::detail
