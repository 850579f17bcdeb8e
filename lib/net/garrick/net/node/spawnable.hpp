// Actors that other nodes may spawn here: the functions that make such an actor from bytes, and the
// functions that write these bytes in the other node.
//
//   node.allow<counting, std::vector<std::uint32_t>>("counter").value();   // in one node
//   const std::vector<std::uint32_t> divisors{2, 3, 5, 7};                 // in the other one
//   const ref<counter> far = node.spawn<counter>(where, "counter", divisors).value();
//
// Types need no registration. `node::allow<A, Args...>` instantiates a `spawnable` for A and the
// arguments of its constructor, and `node::spawn<P>` writes its arguments as a tuple; the schemas
// of both tuples are compared before any byte is decoded, as the schemas of protocols are.
//
// Thread safety: a `spawnable` is constant. The others serve one thread at a time.
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

/// For the framework: an actor that is ready to be made, with its arguments.
class prepared_spawn {
 public:
  virtual ~prepared_spawn() = default;
  prepared_spawn(const prepared_spawn&) = delete;
  prepared_spawn& operator=(const prepared_spawn&) = delete;
  /// Makes the actor and returns its handle; may be called once. Runs the constructor and
  /// `on_start`. Errors: those of `try_spawn`. Throws std::bad_alloc.
  [[nodiscard]] virtual base::result<core::any_ref> spawn(core::environment& env) = 0;

 protected:
  prepared_spawn() = default;
};

/// For the framework: a type of actors that a node lets others spawn.
class spawnable {
 public:
  virtual ~spawnable() = default;
  spawnable(const spawnable&) = delete;
  spawnable& operator=(const spawnable&) = delete;
  /// Returns the types of the constructor's parameters: one signature, a tuple. Errors: those of
  /// `schema_of`.
  [[nodiscard]] virtual const base::result<schema>& arguments() const = 0;
  /// Returns the protocol that other nodes may use.
  [[nodiscard]] virtual const protocol_table& protocol() const = 0;
  /// Returns the decoded arguments; null if the bytes are not such arguments, with the reason in
  /// the reader. Passes on exceptions of the types' constructors.
  [[nodiscard]] virtual std::unique_ptr<prepared_spawn> prepare(byte_reader& in) const = 0;

 protected:
  spawnable() = default;
};

/// For the framework: the constructor's arguments for an actor in another node.
class spawn_arguments {
 public:
  virtual ~spawn_arguments() = default;
  spawn_arguments(const spawn_arguments&) = delete;
  spawn_arguments& operator=(const spawn_arguments&) = delete;
  /// Returns the arguments' types: one signature, a tuple. Errors: those of `schema_of`.
  [[nodiscard]] virtual const base::result<schema>& types() const = 0;
  /// Appends the arguments. Failures stay in `out`. Throws std::bad_alloc, and passes on exceptions
  /// of a user's codec.
  virtual void write(byte_writer& out) const = 0;

 protected:
  spawn_arguments() = default;
};

namespace detail {

/// Returns the schema of arguments. Its signature's name is independent of the types, so that the
/// types are compared one by one, and the error has the number of the differing argument.
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

/// The type in which an argument travels: texts are strings.
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
