// The parameters of a kernel as types: the signature for `spawn`.
//
//   std::vector<float>       elements that the kernel reads: `global const float*` or `constant`
//   device_ref<float>        the same, but already on the device
//   in_out<C>                elements that the kernel changes, which are part of the answer
//   float, int, my_struct    a value
//   local<float>             memory of each work-group, which is not part of the message
//
// The result type of the signature is the output, the kernel's last parameter. `result<A, B>`
// stands for two outputs, the last two parameters. With `void`, the in-out arguments are the whole
// answer.
//
// Containers are std::vector, std::array, std::basic_string, and pinned. Elements must be copyable
// byte by byte.
//
// Thread safety: only types.
#pragma once

#include <garrick/gpu/device_ref.hpp>
#include <garrick/gpu/pinned.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace garrick::gpu {

/// In a signature: a container, or a device_ref, with elements that the kernel changes. The answer
/// contains it, before the outputs.
template <class C>
struct in_out {};
/// In a signature: memory of each work-group, with elements of type T. The options set their
/// number.
template <class T>
struct local {};

/// The name of the type T in a kernel's source: `float`, or `float4` for std::array<float, 4> as an
/// element. If it is empty, the name is unknown, and any name is accepted. Specialise it for your
/// own type so that `spawn` compares the name.
///
///     template <>
///     inline constexpr std::string_view garrick::gpu::kernel_type_name<particle> = "particle";
template <class T>
inline constexpr std::string_view kernel_type_name = [] {
  using namespace std::string_view_literals;
  if constexpr (std::is_same_v<T, float>)
    return "float"sv;
  else if constexpr (std::is_same_v<T, double>)
    return "double"sv;
  else if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>)
    return ""sv;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? "char"sv : "uchar"sv;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? "short"sv : "ushort"sv;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? "int"sv : "uint"sv;
  else
    return std::is_signed_v<T> ? "long"sv : "ulong"sv;
}();

namespace detail {

/// The name of a vector type: "float4".
template <class T, std::size_t N>
struct vector_name {
  char text[kernel_type_name<T>.size() + 3]{};
  std::size_t size = 0;
  constexpr vector_name() noexcept {
    for (const char c : kernel_type_name<T>) text[size++] = c;
    if (N >= 10) text[size++] = '1';
    text[size++] = static_cast<char>('0' + N % 10);
  }
};
template <class T, std::size_t N>
inline constexpr vector_name<T, N> written_vector_name{};

/// A container in the host's memory.
template <class C>
struct host_container {
  static constexpr bool is = false;
};
template <class T>
struct growing_container {
  static constexpr bool is = true;
  static constexpr bool is_pinned = false;
  static constexpr std::size_t fixed = 0;  ///< elements; 0: any number
  using element = T;
};
template <class T, class A>
struct host_container<std::vector<T, A>> : growing_container<T> {};
template <class C, class T, class A>
struct host_container<std::basic_string<C, T, A>> : growing_container<C> {};
template <class T, std::size_t N>
struct host_container<std::array<T, N>> : growing_container<T> {
  static constexpr std::size_t fixed = N;
};
template <class T>
struct host_container<pinned<T>> : growing_container<T> {
  static constexpr bool is_pinned = true;
};

template <class R>
struct device_container {
  static constexpr bool is = false;
};
template <class T>
struct device_container<device_ref<T>> {
  static constexpr bool is = true;
  using element = T;
};

/// True if a device can hold a T.
template <class T>
inline constexpr bool is_plain =
    std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool> && !std::is_pointer_v<T>;

template <class C>
struct element_of {
  using type = C;
};
template <class C>
  requires(host_container<C>::is)
struct element_of<C> {
  using type = typename host_container<C>::element;
};
template <class T>
struct element_of<device_ref<T>> {
  using type = T;
};

}  // namespace detail

template <class T, std::size_t N>
  requires(N == 2 || N == 4 || N == 8 || N == 16)
inline constexpr std::string_view kernel_type_name<std::array<T, N>> =
    kernel_type_name<T>.empty() ? std::string_view()
                                : std::string_view(detail::written_vector_name<T, N>.text,
                                                   detail::written_vector_name<T, N>.size);

}  // namespace garrick::gpu
