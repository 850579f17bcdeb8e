// A cell with room for one user's object, and the dispatch that the compiler generates for its
// protocol.
//
// A message's type is known by an address. So a short protocol is dispatched by a chain of
// comparisons, and a long one by a look-up in a perfect hash, which the first dispatch to an actor
// of the class builds. The time hardly grows with the protocol, and no argument costs a virtual
// call (paper 001 §5.3).
//
// Private: installed because templates need it.
//
// Thread safety: that of `cell`.
#pragma once

#include <garrick/base/platform/diagnostics.hpp>
#include <garrick/core/actor.hpp>
#include <garrick/core/behavior.hpp>
#include <garrick/core/cell/cell_memory.hpp>
#include <garrick/core/detail/behavior_stack.hpp>
#include <garrick/core/detail/handlers.hpp>
#include <garrick/core/detail/invoke.hpp>
#include <garrick/core/detail/receive_timeout.hpp>
#include <garrick/core/life/signals.hpp>
#include <garrick/core/turn/running_cell.hpp>

#include <array>
#include <cstddef>
#include <new>
#include <type_traits>

namespace garrick::core {

/// For the framework: opens the behavior of an actor.
struct behavior_access {
  template <detail::uses_behaviors A>
  [[nodiscard]] static behavior& present(A& a) noexcept {
    return static_cast<typename A::garrick_uses_behaviors&>(a).behavior_;
  }
};

namespace detail {

template <class Actor, class Signature>
void handle_signature(cell& self, Actor& a, envelope* e) {
  if constexpr (handler_of<Actor, Signature>::exists && handler_of<Actor, Signature>::right_result)
    handle_content<typename signature<Signature>::content, typename signature<Signature>::answer>(
        self, e, on_caller<Actor>{a});
}

/// A hash over descriptor addresses, made perfect by trying multipliers. A very long protocol may
/// keep a few collisions: then the next slot is searched, too.
template <class Entry, std::size_t N>
class address_hash {
 public:
  static constexpr std::size_t slots = std::bit_ceil(2 * N);
  explicit address_hash(const std::array<std::pair<const void*, Entry>, N>& entries) noexcept {
    std::uint64_t m = 0x9e3779b97f4a7c15ull;
    for (int tries = 0; tries < most_tries;
         ++tries, m = m * 6364136223846793005ull + 1442695040888963407ull) {
      multiplier_ = m | 1;
      if (fill(entries, false)) return;
    }
    static_cast<void>(fill(entries, true));
  }
  [[nodiscard]] Entry find(const void* key) const noexcept {
    // The loop ends, since at least half of the slots are empty.
    for (std::size_t i = index(key);; i = (i + 1) % slots) {
      const auto& s = table_[i];
      if (s.first == key) return s.second;
      if (s.first == nullptr) return Entry{};
    }
  }

 private:
  [[nodiscard]] std::size_t index(const void* key) const noexcept {
    return static_cast<std::size_t>((reinterpret_cast<std::uint64_t>(key) * multiplier_) >>
                                    (64 - std::countr_zero(slots)));
  }
  bool fill(const std::array<std::pair<const void*, Entry>, N>& entries,
            bool with_collisions) noexcept {
    table_ = {};
    for (const auto& e : entries) {
      std::size_t i = index(e.first);
      if (table_[i].first != nullptr && !with_collisions) return false;
      while (table_[i].first != nullptr) i = (i + 1) % slots;
      table_[i] = e;
    }
    return true;
  }
  static constexpr int most_tries = 1000;
  std::uint64_t multiplier_ = 1;
  std::array<std::pair<const void*, Entry>, slots> table_{};
};

/// A signature that an actor understands, by the descriptors of its message and its answer.
struct understood_signature {
  const base::message_type* message;
  const base::message_type* answer;
};
[[nodiscard]] bool is_among(understood_signature x, const understood_signature* all,
                            std::size_t n) noexcept;

template <class Actor, class P>
struct dispatcher;

template <class Actor, class... Sigs>
struct dispatcher<Actor, protocol<Sigs...>> {
  static constexpr std::size_t longest_chain = 6;

  static dispatch_outcome dispatch(cell& self, Actor& a, envelope* e) {
    if constexpr (sizeof...(Sigs) <= longest_chain) {
      const bool taken = ((e->type == &base::message_type_of<typename signature<Sigs>::content> &&
                           (handle_signature<Actor, Sigs>(self, a, e), true)) ||
                          ...);
      return taken ? dispatch_outcome::handled : dispatch_outcome::unexpected;
    } else {
      using entry = void (*)(cell&, Actor&, envelope*);
      static constexpr std::array<std::pair<const void*, entry>, sizeof...(Sigs)> entries{
          std::pair<const void*, entry>{&base::message_type_of<typename signature<Sigs>::content>,
                                        &handle_signature<Actor, Sigs>}...};
      static const address_hash<entry, sizeof...(Sigs)> table(entries);
      const entry f = table.find(e->type);
      if (f == nullptr) return dispatch_outcome::unexpected;
      f(self, a, e);
      return dispatch_outcome::handled;
    }
  }

  static bool understands(const base::message_type* message,
                          const base::message_type* answer) noexcept {
    if constexpr (sizeof...(Sigs) == 0) {
      return static_cast<void>(message), static_cast<void>(answer), false;
    } else {
      static constexpr understood_signature all[] = {
          {&base::message_type_of<typename signature<Sigs>::content>,
           &base::message_type_of<typename signature<Sigs>::answer::content>}...};
      return is_among({message, answer}, all, sizeof...(Sigs));
    }
  }
};

/// Calls the hook for a Content, or starts it if it is a coroutine.
template <class Content, class A>
void call_hook(cell& self, A& a, const Content& c) {
  if constexpr (std::is_void_v<decltype(a.on(c))>)
    a.on(c);
  else if constexpr (is_task<decltype(a.on(c))>)
    start_hook(self, a.on(c));
  else
    static_cast<void>(a.on(c));
}

/// Offers a signal to the hook for a Content. A hook that is a coroutine takes its turn among the
/// mail: otherwise it would begin in the middle of another coroutine's wait.
template <class A, class Content>
bool offer(cell& self, A& a, envelope* e) {
  if constexpr (hears<A, Content>) {
    if (e->type != &base::message_type_of<Content>) return false;
    Content& c = *static_cast<Content*>(e->raw());
    // a `down` has its turn among the mail already
    if constexpr (is_task<decltype(a.on(c))> && !std::is_same_v<Content, down>) {
      if (!has_its_turn(e)) {
        put_behind_mail(self, make_envelope<Content>(std::move(c)));
        return true;
      }
    }
    call_hook<Content>(self, a, c);
    return true;
  } else {
    static_cast<void>(self), static_cast<void>(a), static_cast<void>(e);
    return false;
  }
}

template <class A, class Content>
bool skips_content(A& a, envelope* e) {
  if constexpr (may_skip<A, Content>)
    return e->type == &base::message_type_of<Content> &&
           content_access<Content>::apply_const(skips_caller<A>{a},
                                                *static_cast<const Content*>(content_pointer(e)));
  else
    return static_cast<void>(a), static_cast<void>(e), false;
}

/// Returns true if the object skips a message, which then waits. The object decides before the
/// handler runs, since the handler could move the content away.
template <class A, class P>
struct skipper;
template <class A, class... Sigs>
struct skipper<A, protocol<Sigs...>> {
  static bool skips(A& a, envelope* e) {
    return any_true({skips_content<A, typename signature<Sigs>::content>(a, e)...});
  }
};

template <class A>
inline constexpr bool hears_timeouts = hears<A, receive_timeout> && !uses_behaviors<A>;

/// Dispatches a message to a class that has a handler for its receive time-out.
template <class A, class P>
dispatch_outcome dispatch_with_timeout(cell& self, A& a, envelope* e) {
  if (e->type == &base::message_type_of<receive_timeout>) [[unlikely]] {
    if (receive_timeout_is_due(self)) {
      call_hook<receive_timeout>(self, a, *static_cast<const receive_timeout*>(e->raw()));
      renew_receive_timeout(self);
    }
    return dispatch_outcome::handled;
  }
  const void* const timing = receive_timeout_of(self);
  const dispatch_outcome outcome = dispatcher<A, P>::dispatch(self, a, e);
  if (timing != nullptr) end_silence(self, timing);
  return outcome;
}

/// Lets an object that is built on this thread find its cell, as long as the scope lives.
class constructing_scope {
 public:
  explicit constructing_scope(cell& c) noexcept;
  ~constructing_scope();
  constructing_scope(const constructing_scope&) = delete;
  constructing_scope& operator=(const constructing_scope&) = delete;

 private:
  cell* outer_;
};

/// Builds the object for a restart.
void rebuild_with_factory(cell& self, void* storage);

}  // namespace detail

GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN

/// The cell of an actor of class A, with room for its object.
template <class A>
class actor_cell final : public running_cell {
 public:
  using protocol_type = typename A::protocol_type;

  actor_cell(environment& env, cell_kind kind, bool starts_lazily) noexcept
      : running_cell(env, kind, starts_lazily) {}

  /// Builds the object; the caller has set the constructing cell.
  template <class... Args>
  void build(Args&&... args) {
    ::new (static_cast<void*>(storage_)) A(std::forward<Args>(args)...);
    set_has_object(true);
  }
  [[nodiscard]] A& object() noexcept { return *std::launder(reinterpret_cast<A*>(storage_)); }

  std::string_view type_name() const noexcept override { return base::shown_name<A>; }

 protected:
  [[gnu::hot]] dispatch_outcome dispatch(envelope* e) override {
    constexpr bool by_behavior = detail::handlers_of<A, protocol_type>::by_behavior;
    if constexpr (detail::skips_some<A, protocol_type>)
      if (detail::skipper<A, protocol_type>::skips(object(), e)) return dispatch_outcome::skipped;
    if constexpr (detail::uses_behaviors<A>) {
      behavior& present = behavior_access::present(object());
      if (present || by_behavior) return detail::dispatch_to_behavior(*this, present, e);
    }
    if constexpr (by_behavior)
      return dispatch_outcome::unexpected;  // a blocking actor takes messages in `receive`
    else if constexpr (detail::hears_timeouts<A>)
      return detail::dispatch_with_timeout<A, protocol_type>(*this, object(), e);
    else
      return detail::dispatcher<A, protocol_type>::dispatch(*this, object(), e);
  }

  bool dispatch_system(envelope* e) override {
    if (!has_object()) return false;
    A& a = object();
    if (detail::offer<A, down>(*this, a, e) || detail::offer<A, exit_signal>(*this, a, e) ||
        detail::offer<A, signals::child_failed>(*this, a, e))
      return true;
    if constexpr (detail::uses_behaviors<A>)
      return detail::offer_to_behavior(*this, behavior_access::present(a), e);
    else
      return false;
  }

  understanding understands(const base::message_type* message,
                            const base::message_type* answer) noexcept override {
    const auto told = [](bool yes) { return yes ? understanding::yes : understanding::no; };
    if constexpr (!std::is_same_v<protocol_type, any_protocol>) {
      return told(detail::dispatcher<A, protocol_type>::understands(message, answer));
    } else if constexpr (detail::uses_behaviors<A>) {
      if (!has_object()) return understanding::not_yet;
      const behavior& present = behavior_access::present(object());
      if (!present) return understanding::not_yet;
      return told(present.impl()->understands(message, answer));
    } else {
      return told(false);  // a blocking actor may take anything, or nothing
    }
  }

  void start() override {
    if constexpr (detail::has_body<A>) {
      if (has_object()) A::live(object());
    } else if constexpr (detail::has_start<A>) {
      if (!has_object()) return;
      if constexpr (std::is_void_v<decltype(object().on_start())>)
        object().on_start();
      else
        detail::start_hook(*this, object().on_start());
    }
  }
  void object_exits(const base::exit_reason& reason) override {
    static_cast<void>(reason);
    if constexpr (detail::has_exit<A>)
      if (has_object()) object().on_exit(reason);
  }
  void destroy_object() noexcept override {
    if (!has_object()) return;
    set_has_object(false);
    object().~A();
  }
  void rebuild_object() override {
    detail::rebuild_with_factory(*this, storage_);
    set_has_object(true);
  }
  void free_self() noexcept override {
    this->~actor_cell();
    detail::deallocate_cell(this, sizeof(actor_cell));
  }

 private:
  ~actor_cell() = default;
  alignas(A) std::byte storage_[sizeof(A)];
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_END

}  // namespace garrick::core
