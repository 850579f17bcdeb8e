// A pointer to an object that a codec needs beside the bytes. The codec of a handle, for example,
// needs the node that sends or receives the handle.
//
// Thread safety: a value; the object that it points to has rules of its own.
#pragma once

#include <type_traits>

namespace garrick::net {

namespace detail {
template <class C>
inline constexpr char context_tag = 0;
}  // namespace detail

/// A pointer to an object of any class. It records the class, so that an object is never used as
/// one of another class. May be empty. The object must live as long as the reader or writer that
/// holds the context.
///
///     byte_reader in(bytes, limits, codec_context(my_node));
///     if (auto* where = in.context().as<node>()) …
class codec_context {
 public:
  /// Holds no object.
  constexpr codec_context() noexcept = default;
  /// Points to this object.
  template <class C>
    requires(!std::is_same_v<std::remove_const_t<C>, codec_context>)
  constexpr explicit codec_context(C& object) noexcept
      : object_(&object), tag_(&detail::context_tag<C>) {}
  /// Returns the object if it is a C, else null.
  template <class C>
  [[nodiscard]] constexpr C* as() const noexcept {
    return tag_ == &detail::context_tag<C> ? static_cast<C*>(const_cast<void*>(object_)) : nullptr;
  }

 private:
  const void* object_ = nullptr;  ///< `tag_` names its class, and whether the object is const
  const char* tag_ = nullptr;
};

}  // namespace garrick::net
