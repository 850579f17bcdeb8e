// The writing and reading of values of each shape (encodable.hpp defines the shapes).
//
// Private: installed because templates need it.
//
// Thread safety: plain functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "garrick/base/types/fields.hpp"
#include "garrick/base/types/type_name.hpp"
#include "garrick/net/wire/byte_reader.hpp"
#include "garrick/net/wire/byte_writer.hpp"
#include "garrick/net/wire/encodable.hpp"

namespace garrick::net::detail {

template <class T, wire_shape Shape = shape_of<T>()>
struct coder;

/// The unsigned integer that is as wide as T.
template <class T>
using bits_of = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Returns true for elements that lie in memory as on the wire.
template <class T>
consteval bool lies_as_sent() {
  if constexpr (std::endian::native != std::endian::little)
    return false;
  else if constexpr (shape_of<T>() == wire_shape::enumeration)
    return shape_of<std::underlying_type_t<T>>() == wire_shape::fixed;
  else
    return shape_of<T>() == wire_shape::fixed;
}

/// Returns a quick lower bound of the bytes of `x`, so that a large part is seldom moved because
/// its length was guessed too short.
template <class T>
[[nodiscard]] constexpr std::size_t guessed_size(const T& x) noexcept {
  if constexpr (shape_of<T>() == wire_shape::sequence && requires { x.size(); })
    return 1 + x.size() * least_of(parts_of<T>{});
  else
    return least_size<T>();
}

// Ordinary functions for work that is the same for every type, so that it is compiled once.
void fail_valueless(byte_writer& out);
void fail_silent_codec(byte_writer& out, std::string_view type);

template <class T>
void encode_each(byte_writer& out, const T* from, std::size_t n) {
  if constexpr (lies_as_sent<T>()) {
    out.bytes(std::as_bytes(std::span(from, n)));
  } else {
    for (std::size_t i = 0; i != n; ++i) coder<T>::encode(out, from[i]);
  }
}
template <class T>
void decode_each(byte_reader& in, T* to, std::size_t n) {
  if constexpr (lies_as_sent<T>()) {
    const std::span<const std::byte> bytes = in.bytes(n * sizeof(T));
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  } else {
    for (std::size_t i = 0; i != n && !in.failed(); ++i) coder<T>::decode(in, to[i]);
  }
}

template <class T>
struct coder<T, wire_shape::opaque> {
  static void encode(byte_writer& out, const T& x) {
    const std::size_t before = out.size();
    codec<T>::encode(out, x);
    if (out.size() == before && !out.failure()) fail_silent_codec(out, base::type_name<T>);
  }
  static void decode(byte_reader& in, T& x) { codec<T>::decode(in, x); }
};

template <class T>
struct coder<T, wire_shape::boolean> {
  static void encode(byte_writer& out, bool x) { out.fixed(static_cast<std::uint8_t>(x ? 1 : 0)); }
  static void decode(byte_reader& in, bool& x) { x = in.flag(); }
};

template <class T>
struct coder<T, wire_shape::fixed> {
  static void encode(byte_writer& out, T x) { out.fixed(std::bit_cast<bits_of<T>>(x)); }
  static void decode(byte_reader& in, T& x) { x = std::bit_cast<T>(in.fixed<bits_of<T>>()); }
};

template <class T>
struct coder<T, wire_shape::varying> {
  static void encode(byte_writer& out, T x) {
    if constexpr (std::is_signed_v<T>)
      out.varint(zigzag(x));
    else
      out.varint(x);
  }
  static void decode(byte_reader& in, T& x) {
    const std::uint64_t bits = in.varint();
    if constexpr (std::is_signed_v<T>)
      x = static_cast<T>(from_zigzag(bits));
    else
      x = static_cast<T>(bits);
  }
};

template <class T>
struct coder<T, wire_shape::enumeration> {
  using number = std::underlying_type_t<T>;
  static void encode(byte_writer& out, T x) { coder<number>::encode(out, static_cast<number>(x)); }
  static void decode(byte_reader& in, T& x) {
    number n{};
    coder<number>::decode(in, n);
    x = static_cast<T>(n);
  }
};

template <class T>
struct coder<T, wire_shape::array> {
  static void encode(byte_writer& out, const T& x) {
    encode_each(out, std::data(x), array_extent<T>);
  }
  static void decode(byte_reader& in, T& x) { decode_each(in, std::data(x), array_extent<T>); }
};

/// The approximate overhead of a value in a block of its own, which counts against the limit.
inline constexpr std::size_t node_overhead = 48;

/// The bytes that a container allocates while it is empty: 0 for all but the deque of libstdc++,
/// which has a map of eight pointers and a block for 512 bytes of elements, or for one element.
template <class T>
inline constexpr std::size_t empty_container_cost = 0;
#ifdef __GLIBCXX__
template <class E, class A>
inline constexpr std::size_t empty_container_cost<std::deque<E, A>> =
    8 * sizeof(E*) + std::max(std::size_t{512} / sizeof(E), std::size_t{1}) * sizeof(E);
#endif

/// Returns the bytes that a default-made T allocates, as far as its type tells: the members'
/// initialisers and the constructors of classes with a codec are not known.
template <class T>
consteval std::size_t empty_cost();

template <class... Ts>
consteval std::size_t empty_cost_of(base::type_list<Ts...>) {
  return (std::size_t{0} + ... + empty_cost<Ts>());
}
template <class T>
consteval std::size_t empty_cost() {
  constexpr wire_shape shape = shape_of<T>();
  if constexpr (shape == wire_shape::sequence)
    return empty_container_cost<T>;
  else if constexpr (shape == wire_shape::array)
    return array_extent<T> * empty_cost_of(parts_of<T>{});
  else if constexpr (shape == wire_shape::product || shape == wire_shape::aggregate)
    return empty_cost_of(parts_of<T>{});
  else if constexpr (shape == wire_shape::variant)
    return empty_cost<std::variant_alternative_t<0, T>>();
  else
    return 0;
}
/// Returns the bytes of an element of a container, with those that it allocates while it is empty.
template <class T>
consteval std::size_t element_cost() {
  return sizeof(T) + empty_cost<T>();
}
/// Announces that an object is made inside another one. Returns false if that is too much.
template <class T>
[[nodiscard]] bool allow_inside(byte_reader& in) noexcept {
  if constexpr (constexpr std::size_t cost = empty_cost<T>(); cost != 0)
    return in.allow(1, cost);
  else
    return true;
}

template <class T>
struct coder<T, wire_shape::sequence> {
  using element = typename T::value_type;
  static constexpr bool contiguous = requires(T& x) { x.data(); };
  static constexpr bool is_list = !requires(T& x) { x[0]; };

  static void encode(byte_writer& out, const T& x) {
    out.varint(x.size());
    if constexpr (contiguous && !std::is_same_v<element, bool>)
      encode_each(out, x.data(), x.size());
    else
      for (const auto& each : x) coder<element>::encode(out, each);
  }
  static void decode(byte_reader& in, T& x) {
    x.clear();
    const std::size_t n = in.count(least_size<element>());
    if (n == 0 || !in.allow(n, element_cost<element>() + (is_list ? node_overhead : 0))) return;
    if constexpr (contiguous && lies_as_sent<element>()) {
      x.resize(n);
      decode_each(in, x.data(), n);
    } else {
      if constexpr (requires { x.reserve(n); }) x.reserve(n);
      for (std::size_t i = 0; i != n && !in.failed(); ++i) {
        if constexpr (std::is_same_v<element, bool>) {
          x.push_back(in.flag());
        } else {
          x.emplace_back();
          coder<element>::decode(in, x.back());
        }
      }
    }
  }
};

/// Counts the steps that a hash table's keys cause, and refuses keys that were chosen to fall into
/// one bucket.
template <class T>
class bucket_guard {
 public:
  explicit bucket_guard(std::size_t elements) noexcept : steps_(1024 + 32 * elements) {}
  /// Called after each insertion. Returns false, and fails, if too many keys share a bucket.
  [[nodiscard]] bool inserted(byte_reader& in, const T& table, typename T::const_iterator at) {
    std::size_t steps = 0;
    if constexpr (requires { at->second; } && requires { typename T::mapped_type; })
      steps = table.bucket_size(table.bucket(at->first));
    else
      steps = table.bucket_size(table.bucket(*at));
    if (steps <= steps_) [[likely]] {
      steps_ -= steps;
      return true;
    }
    in.fail("too many keys have one hash");
    return false;
  }

 private:
  std::size_t steps_;
};
template <class T>
concept hash_table = requires(const T& x) { x.bucket_count(); };
/// True for `multiset` and `multimap`: their `insert` cannot refuse a key.
template <class T>
concept takes_duplicates =
    !requires(T& x, typename T::value_type&& v) { x.insert(std::move(v)).second; };

/// Reads the elements of a set or a map; `next` reads one and returns it.
template <class T, class Next>
void decode_unique(byte_reader& in, T& x, std::size_t n, Next&& next) {
  if constexpr (hash_table<T>) {
    x.reserve(n);
    bucket_guard<T> guard(n);
    for (std::size_t i = 0; i != n; ++i) {
      auto element = next();
      if (in.failed()) return;
      const auto [at, is_new] = x.insert(std::move(element));
      if (!is_new) return in.fail("a key that was there before");
      if (!guard.inserted(in, x, at)) return;
    }
  } else {
    for (std::size_t i = 0; i != n; ++i) {
      auto element = next();
      if (in.failed()) return;
      x.insert(x.end(), std::move(element));  // at its place: the end if the elements are sorted
      if (!takes_duplicates<T> && x.size() != i + 1) return in.fail("a key that was there before");
    }
  }
}

template <class T>
struct coder<T, wire_shape::set> {
  using key = typename T::value_type;
  static void encode(byte_writer& out, const T& x) {
    out.varint(x.size());
    for (const key& each : x) coder<key>::encode(out, each);
  }
  static void decode(byte_reader& in, T& x) {
    x.clear();
    const std::size_t n = in.count(least_size<key>());
    if (n == 0 || !in.allow(n, element_cost<key>() + node_overhead)) return;
    decode_unique(in, x, n, [&] {
      key k{};
      coder<key>::decode(in, k);
      return k;
    });
  }
};

template <class T>
struct coder<T, wire_shape::map> {
  using key = typename T::key_type;
  using mapped = typename T::mapped_type;
  static void encode(byte_writer& out, const T& x) {
    out.varint(x.size());
    for (const auto& each : x) {
      coder<key>::encode(out, each.first);
      coder<mapped>::encode(out, each.second);
    }
  }
  static void decode(byte_reader& in, T& x) {
    x.clear();
    const std::size_t n = in.count(least_size<key>() + least_size<mapped>());
    if (n == 0 || !in.allow(n, element_cost<std::pair<key, mapped>>() + node_overhead)) return;
    decode_unique(in, x, n, [&] {
      std::pair<key, mapped> element{};
      coder<key>::decode(in, element.first);
      coder<mapped>::decode(in, element.second);
      return element;
    });
  }
};

template <class T>
struct coder<T, wire_shape::product> {
  static void encode(byte_writer& out, const T& x) {
    std::apply([&]<class... Ts>(const Ts&... each) { (coder<Ts>::encode(out, each), ...); }, x);
  }
  static void decode(byte_reader& in, T& x) {
    std::apply([&]<class... Ts>(Ts&... each) { (coder<Ts>::decode(in, each), ...); }, x);
  }
};

template <class T>
struct coder<T, wire_shape::optional> {
  using inside = typename T::value_type;
  static void encode(byte_writer& out, const T& x) {
    coder<bool>::encode(out, x.has_value());
    if (x) coder<inside>::encode(out, *x);
  }
  static void decode(byte_reader& in, T& x) {
    x.reset();
    if (in.flag() && allow_inside<inside>(in)) coder<inside>::decode(in, x.emplace());
  }
};

template <class T>
struct coder<T, wire_shape::pointer> {
  using inside = std::remove_const_t<typename T::element_type>;
  static void encode(byte_writer& out, const T& x) {
    coder<bool>::encode(out, x != nullptr);
    if (x != nullptr) coder<inside>::encode(out, *x);
  }
  static void decode(byte_reader& in, T& x) {
    x.reset();
    if (!in.flag() || !in.allow(1, element_cost<inside>() + node_overhead)) return;
    auto made = std::make_unique<inside>();
    coder<inside>::decode(in, *made);
    x = std::move(made);
  }
};

template <class T>
struct coder<T, wire_shape::variant> {
  static void encode(byte_writer& out, const T& x) {
    if (x.valueless_by_exception()) return fail_valueless(out);
    out.varint(x.index());
    std::visit([&]<class U>(const U& held) { coder<U>::encode(out, held); }, x);
  }
  static void decode(byte_reader& in, T& x) {
    const std::uint64_t index = in.varint();
    if (in.failed()) return;
    const bool known = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return ((index == I ? (decode_alternative<I>(in, x), true) : false) || ...);
    }(std::make_index_sequence<std::variant_size_v<T>>());
    if (!known) in.fail("an alternative that the variant does not have", index);
  }

 private:
  template <std::size_t I>
  static void decode_alternative(byte_reader& in, T& x) {
    using inside = std::variant_alternative_t<I, T>;
    if (allow_inside<inside>(in)) coder<inside>::decode(in, x.template emplace<I>());
  }
};

template <class T>
struct coder<T, wire_shape::duration> {
  using rep = typename T::rep;
  static void encode(byte_writer& out, T x) { coder<rep>::encode(out, x.count()); }
  static void decode(byte_reader& in, T& x) {
    rep count{};
    coder<rep>::decode(in, count);
    x = T(count);
  }
};

template <class T>
struct coder<T, wire_shape::aggregate> {
  static void encode(byte_writer& out, const T& x) {
    std::size_t guess = 0;
    base::for_each_field(x, [&]<class F>(const F& f) { guess += guessed_size(f); });
    const byte_writer::part part = out.open_part(guess);
    if (!out.failure()) [[likely]]
      base::for_each_field(x, [&]<class F>(const F& f) { coder<F>::encode(out, f); });
    out.close_part(part);
  }
  static void decode(byte_reader& in, T& x) {
    const byte_reader::part part = in.open_part();
    std::size_t field = 0;
    base::for_each_field(x, [&]<class F>(F& f) {
      // Data may be older than this field: then the default stays. It stays after a failure, too.
      if (in.remaining() == 0) return;
      coder<F>::decode(in, f);
      if (in.failed()) [[unlikely]]
        in.blame(base::type_name<T>, field);
      ++field;
    });
    in.close_part(part);
  }
};

}  // namespace garrick::net::detail
