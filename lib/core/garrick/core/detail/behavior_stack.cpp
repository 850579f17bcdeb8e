// Behaviors of an actor: the present one, those below it, and its receive time-out.
#include <garrick/core/behavior.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/detail/behavior_stack.hpp>
#include <garrick/core/detail/receive_timeout.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/receive_timeout.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace garrick::core::detail {

/// Keeps the present behavior in memory while one of its cases runs, even if that case replaces it.
/// Takes over a reference only when the behavior is replaced, so an ordinary message touches no
/// reference count.
class running_behavior {
 public:
  explicit running_behavior(const behavior& present) noexcept
      : present_(present), impl_(*present.impl()), outer_(std::exchange(here.behavior, this)) {}
  ~running_behavior() { here.behavior = outer_; }
  running_behavior(const running_behavior&) = delete;
  running_behavior& operator=(const running_behavior&) = delete;

  [[nodiscard]] behavior_impl& impl() const noexcept { return impl_; }

  /// Keeps `old`, which the behavior in `present` has replaced, if a case of `old` runs here. A
  /// behavior of another actor is not kept: none of its cases runs, or this object would not be the
  /// innermost.
  void replaced(const behavior& present, behavior& old) noexcept {
    if (&present == &present_ && old.impl() == &impl_) kept_ = std::move(old);
  }

 private:
  const behavior& present_;
  behavior_impl& impl_;
  running_behavior* outer_;
  behavior kept_;
};

namespace {

/// The behaviors below an actor's present one, oldest first.
class behaviors_below final : public belongings {
 public:
  std::vector<behavior> all;

  /// Returns the behaviors below that of `self`, or null.
  [[nodiscard]] static behaviors_below* of(cell& self) noexcept {
    cell_extension* const x = self.ext_if();
    return x != nullptr ? static_cast<behaviors_below*>(x->behaviors_below.get()) : nullptr;
  }
  static void push(cell& self, behavior b) {
    std::unique_ptr<belongings>& mine = self.ext().behaviors_below;
    if (mine == nullptr) mine = std::make_unique<behaviors_below>();
    static_cast<behaviors_below&>(*mine).all.push_back(std::move(b));
  }
};

/// Returns the time that `b` waits for a message; zero without a limit.
base::duration idle_limit(const behavior& b) noexcept {
  return base::duration::nanoseconds(b ? b.impl()->timeout_ns() : 0);
}

/// Runs the behavior's time-out function if no message was handled for its time.
void on_timeout(cell& self, behavior& present) {
  if (!present || !receive_timeout_is_due(self)) return;
  running_behavior(present).impl().timed_out();
  set_receive_timeout(self, idle_limit(present));
}

/// Puts `next` in the place of `present`.
void replace(behavior& present, behavior next) noexcept {
  behavior old = std::exchange(present, std::move(next));
  if (here.behavior != nullptr) here.behavior->replaced(present, old);
}

/// Makes the behavior below the present one. Returns false if there is none.
bool return_to_below(cell& self, behavior& present) {
  behavior below;
  if (behaviors_below* const kept = behaviors_below::of(self);
      kept != nullptr && !kept->all.empty()) {
    below = std::move(kept->all.back());
    kept->all.pop_back();
  }
  replace(present, std::move(below));
  return static_cast<bool>(present);
}

void behavior_changed(cell& self, const behavior& present) {
  self.retry_skipped();
  set_receive_timeout(self, idle_limit(present));
}

dispatch_outcome on_unmatched(cell& self, envelope* e) {
  switch (self.on_unmatched()) {
    case unmatched::report: return dispatch_outcome::unexpected;
    case unmatched::skip: return dispatch_outcome::skipped;
    case unmatched::bounce:
      if (!e->is(envelope_flag::request)) return dispatch_outcome::unexpected;
      [[fallthrough]];
    case unmatched::drop:
      respond_error(e,
                    base::make_error(base::errc::unexpected_message, self.name(), e->type->name));
      return dispatch_outcome::handled;
  }
  return dispatch_outcome::unexpected;
}

}  // namespace

void push_behavior(cell& self, behavior& present, behavior b, bool keep) {
  if (!b) {
    if (!(keep ? static_cast<bool>(present) : return_to_below(self, present))) self.quit({});
  } else {
    if (keep && present) behaviors_below::push(self, std::move(present));
    replace(present, std::move(b));
  }
  behavior_changed(self, present);
}

void pop_behavior(cell& self, behavior& present) {
  if (!return_to_below(self, present)) self.quit({});
  behavior_changed(self, present);
}

bool offer_to_behavior(cell& self, behavior& present, envelope* e) {
  return present && running_behavior(present).impl().invoke(self, e);
}

dispatch_outcome dispatch_to_behavior(cell& self, behavior& present, envelope* e) {
  if (e->type == &base::message_type_of<receive_timeout>) [[unlikely]] {
    on_timeout(self, present);
    return dispatch_outcome::handled;
  }
  const void* const timing = receive_timeout_of(self);
  const dispatch_outcome outcome = offer_to_behavior(self, present, e) ? dispatch_outcome::handled
                                   : present                           ? on_unmatched(self, e)
                                             : dispatch_outcome::unexpected;
  // A skipped message has not been handled, so it does not end the silence, and the clock is not
  // read each time that it is tried again. A behavior that replaced the one with the time-out has
  // begun a silence of its own.
  if (timing != nullptr && outcome != dispatch_outcome::skipped) end_silence(self, timing);
  return outcome;
}

}  // namespace garrick::core::detail
