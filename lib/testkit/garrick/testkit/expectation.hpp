// Expectations about the next message of an actor, written as one sentence:
//
//   kit.expect<deposit>().to(acc);                         // type and receiver
//   kit.expect<deposit>().to(acc).from(bob);               // and the sender
//   kit.expect<deposit>().to(acc).with(deposit{500});      // and the content
//   kit.expect<deposit>().to(acc).with([](const deposit& d) { return d.cents > 0; });
//   kit.expect<plus, int, int>().to(calculator);           // several arguments
//   if (kit.allow<tick>().to(acc)) …                       // delivered only if it is the next
//   kit.expect_none().to(acc);   kit.expect_none<tick>().to(acc);
//   kit.inject(deposit{5}).from(bob).to(acc);
//
// The sentence acts at its end: it checks the message that the actor would handle next (urgent mail
// before normal mail), and delivers exactly this message. Responses count as messages of their
// content's type. If the message does not match, the sentence throws a `testkit::failure` that
// prints the found message, field by field. Signals (down, exit) have a lane of their own and are
// not messages here: see `test_system::expect_down`.
//
// When a message is delivered to a blocking actor, the actor's thread runs until it waits again.
//
// Thread safety: the system's thread.
#pragma once

#include <garrick/base/types/message_type.hpp>
#include <garrick/core/detail/invoke.hpp>
#include <garrick/core/message.hpp>
#include <garrick/core/ref.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

namespace garrick::testkit {

namespace internal {
class deterministic_environment;
}

namespace detail {

enum class expecting : std::uint8_t { must, may };

class expectation_base {
 public:
  expectation_base(const expectation_base&) = delete;
  expectation_base& operator=(const expectation_base&) = delete;

 protected:
  expectation_base(internal::deterministic_environment& system, expecting mode,
                   const base::message_type& type, const std::source_location& where)
      : system_(system),
        mode_(mode),
        type_(type),
        where_(where),
        exceptions_(std::uncaught_exceptions()) {}
  ~expectation_base() = default;

  bool act();
  void act_at_end() {
    if (!done_ && std::uncaught_exceptions() == exceptions_) act();
  }

  internal::deterministic_environment& system_;
  const expecting mode_;
  const base::message_type& type_;
  const std::source_location where_;
  const int exceptions_;
  core::address to_;
  std::optional<std::uint64_t> from_;
  /// Returns true if the content fits. Otherwise sets the text to the wanted content.
  std::function<bool(const void*, std::string&)> check_;
  bool done_ = false;

 private:
  [[nodiscard]] std::string mismatch(const core::envelope* next) const;
  [[nodiscard]] std::string wanted() const;
};

template <class T>
[[nodiscard]] std::string printed(const T& x) {
  std::string out;
  base::message_type_of<T>.print(&x, out);
  return out;
}

class injection_base {
 public:
  injection_base(const injection_base&) = delete;
  injection_base& operator=(const injection_base&) = delete;

 protected:
  injection_base(internal::deterministic_environment& system, core::envelope* e) noexcept
      : system_(system), envelope_(e) {}
  ~injection_base();
  void deliver(const core::handle& to, const std::source_location& where);

  internal::deterministic_environment& system_;
  core::envelope_ptr envelope_;
  std::uint64_t sender_ = 0;
};

}  // namespace detail

/// The result of `test_system::expect` and `allow`: a sentence about the next message, which is
/// checked and delivered when the sentence ends.
///
///     kit.expect<deposit>().to(acc).from(bob).with(deposit{500});
template <class... Ts>
class expectation : public detail::expectation_base {
 public:
  using content = core::content_of<Ts...>;  ///< the content of an envelope with these parts

  /// For `test_system`.
  expectation(internal::deterministic_environment& system, detail::expecting mode,
              const std::source_location& where)
      : expectation_base(system, mode, base::message_type_of<content>, where) {}
  /// Ends the sentence. Throws a `failure` if the next message is another one or is not handled,
  /// unless another exception is already being thrown.
  ~expectation() noexcept(false) { act_at_end(); }

  /// Names the receiver. Every sentence needs this part.
  expectation& to(const core::handle& receiver) {
    to_ = receiver.address();
    return *this;
  }
  /// Names the sender.
  expectation& from(const core::handle& sender) {
    from_ = sender.id();
    return *this;
  }
  /// Requires that the test itself or an ordinary thread has sent the message.
  expectation& from_outside() {
    from_ = 0;
    return *this;
  }
  /// Checks the content by a function of the message's parts. The function returns bool, or it
  /// checks the parts itself and returns nothing.
  template <class F>
    requires(core::detail::content_access<content>::template reads<F>)
  expectation& with(F f) {
    check_ = [f = std::move(f)](const void* found, std::string& text) mutable {
      const auto call = [&]() -> decltype(auto) {
        return core::detail::content_access<content>::apply_const(
            f, *static_cast<const content*>(found));
      };
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return true;
      } else {
        text = "one that the given predicate takes";
        return static_cast<bool>(call());
      }
    };
    return *this;
  }
  /// Requires these parts as content. The parts are compared by `==` or, if the type has none, by
  /// their printed text.
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Ts) && sizeof...(Us) > 0 &&
             (std::convertible_to<Us, Ts> && ...))
  expectation& with(Us&&... values) {
    check_ = [wanted = make(std::forward<Us>(values)...)](const void* found, std::string& text) {
      text = detail::printed(wanted);
      const content& c = *static_cast<const content*>(found);
      if constexpr (std::equality_comparable<content>)
        return c == wanted;
      else
        return detail::printed(c) == text;
    };
    return *this;
  }

  /// For `allow`: ends the sentence now. Returns true if the message was delivered.
  explicit operator bool() { return this->act(); }

 private:
  template <class... Us>
  static content make(Us&&... values) {
    if constexpr (sizeof...(Us) == 1)
      return content(std::forward<Us>(values)...);
    else
      return content{std::tuple<Ts...>(std::forward<Us>(values)...)};
  }
};

/// The result of `test_system::expect_none`: checks that no message waits for an actor, or none of
/// a type.
class absence {
 public:
  /// For `test_system`. With a null `type`, no message of any type may wait.
  absence(internal::deterministic_environment& system, const base::message_type* type,
          const std::source_location& where)
      : system_(system), type_(type), where_(where) {}
  /// Throws a `failure` if such a message waits for this actor. No message waits for an ended
  /// actor.
  void to(const core::handle& receiver);

 private:
  internal::deterministic_environment& system_;
  const base::message_type* type_;
  const std::source_location where_;
};

/// The result of `test_system::inject`: a message that is sent and handled at once.
template <class Content>
class injection : public detail::injection_base {
 public:
  /// For `test_system`.
  injection(internal::deterministic_environment& system, core::envelope* e) noexcept
      : injection_base(system, e) {}
  /// Names the apparent sender; without this part, it is the test.
  injection& from(const core::handle& sender) {
    sender_ = sender.id();
    return *this;
  }
  /// Sends the message to this actor and lets the actor handle it. Throws a `failure` if another
  /// message waits for the actor, or if the actor does not handle this one.
  template <class P>
  void to(const core::ref<P>& receiver,
          std::source_location where = std::source_location::current()) {
    static_assert(P::template accepts<Content>,
                  "garrick: this message is not in the receiver's protocol");
    deliver(receiver, where);
  }
};

}  // namespace garrick::testkit
