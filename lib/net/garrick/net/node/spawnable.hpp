// Actors that other nodes may spawn here: what a node has to know of such a type to make one from
// bytes, and what the other node has to know to write these bytes.
//
// Nobody registers a type. `node::allow<A, Args...>` instantiates a `spawnable` for A and what its
// constructor is given, and `node::spawn<P>` writes what it was given as a tuple; the schemas of
// both tuples are compared before anything is decoded, as those of protocols are.
//
// Thread safety: a `spawnable` is constant. The others are one thread's at a time.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/spawn.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/wire/codec.hpp>
#include <garrick/net/wire/schema.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::net {

/// For the framework: an actor that could be made, and what it will be made of.
class prepared_spawn {
 public:
  virtual ~prepared_spawn() = default;
  prepared_spawn(const prepared_spawn&) = delete;
  prepared_spawn& operator=(const prepared_spawn&) = delete;
  /// Makes it; once. Runs the constructor and `on_start`. Errors: as `try_spawn`. Throws
  /// std::bad_alloc.
  [[nodiscard]] virtual base::result<core::any_ref> spawn(core::environment& env) = 0;

 protected:
  prepared_spawn() = default;
};

/// For the framework: a type of actors on a node's list.
class spawnable {
 public:
  virtual ~spawnable() = default;
  spawnable(const spawnable&) = delete;
  spawnable& operator=(const spawnable&) = delete;
  /// What its constructor takes: one signature, a tuple. Errors: as `schema_of`.
  [[nodiscard]] virtual const base::result<schema>& arguments() const = 0;
  /// What others may say to it.
  [[nodiscard]] virtual const protocol_table& protocol() const = 0;
  /// Reads the arguments; null if the bytes are none, and the reader knows why. Throws what the
  /// types' constructors throw.
  [[nodiscard]] virtual std::unique_ptr<prepared_spawn> prepare(byte_reader& in) const = 0;

 protected:
  spawnable() = default;
};

/// For the framework: what an actor in another node is to be made of.
class spawn_arguments {
 public:
  virtual ~spawn_arguments() = default;
  spawn_arguments(const spawn_arguments&) = delete;
  spawn_arguments& operator=(const spawn_arguments&) = delete;
  /// Their types: one signature, a tuple. Errors: as `schema_of`.
  [[nodiscard]] virtual const base::result<schema>& types() const = 0;
  /// Appends them. Failures stay in `out`. Throws std::bad_alloc, and what a user's codec throws.
  virtual void write(byte_writer& out) const = 0;

 protected:
  spawn_arguments() = default;
};

namespace detail {

/// The description of arguments. The signature's name is not that of their types: so what is
/// compared are the types, one by one, and a difference has the number of the argument.
template <class... Args>
[[nodiscard]] const base::result<schema>& schema_of_arguments() {
  static const base::result<schema> made = [] {
    schema_builder b;
    const std::uint32_t place = b.add<std::tuple<Args...>>();
    b.sign("arguments", place);
    return std::move(b).finish();
  }();
  return made;
}

template <class A, class... Args>
class prepared_spawn_of final : public prepared_spawn {
 public:
  std::tuple<Args...> arguments{};

  base::result<core::any_ref> spawn(core::environment& env) override {
    auto made = std::apply(
        [&env](Args&... all) {
          return core::detail::try_spawn_with<A>(env, nullptr, std::move(all)...);
        },
        arguments);
    if (!made) return made.error();
    return core::any_ref(std::move(*made));
  }
};

template <class P, class A, class... Args>
class spawnable_as final : public spawnable {
 public:
  const base::result<schema>& arguments() const override { return schema_of_arguments<Args...>(); }
  const protocol_table& protocol() const override { return protocol_table_of<P>(); }
  std::unique_ptr<prepared_spawn> prepare(byte_reader& in) const override {
    auto made = std::make_unique<prepared_spawn_of<A, Args...>>();
    decode_value(in, made->arguments);
    in.expect_end();
    if (in.failed()) return nullptr;
    return made;
  }
};

template <class... Args>
class spawn_arguments_of final : public spawn_arguments {
 public:
  explicit spawn_arguments_of(Args... all) : all_(std::move(all)...) {}
  const base::result<schema>& types() const override { return schema_of_arguments<Args...>(); }
  void write(byte_writer& out) const override { encode_value(out, all_); }

 private:
  const std::tuple<Args...> all_;
};

/// The type as which an argument travels: texts are strings.
template <class T>
using travelling = std::conditional_t<std::is_same_v<T, const char*> || std::is_same_v<T, char*> ||
                                          std::is_same_v<T, std::string_view>,
                                      std::string, T>;

template <class... Args>
[[nodiscard]] std::unique_ptr<spawn_arguments> make_spawn_arguments(Args&&... all) {
  using made = spawn_arguments_of<travelling<std::decay_t<Args>>...>;
  return std::make_unique<made>(travelling<std::decay_t<Args>>(std::forward<Args>(all))...);
}

}  // namespace detail

}  // namespace garrick::net
