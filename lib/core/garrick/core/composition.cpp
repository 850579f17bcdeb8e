// Implements the pipe `f * g`, the parts of `fan_out`, and `first_of`.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/composition.hpp>
#include <garrick/core/spawn.hpp>

namespace garrick::core::detail {

namespace {

/// Handles the current exception, which keeps `e` from being passed on to `to`: the requester gets
/// an error or, if there is no requester, `e` is a dead letter.
void fail_on_the_way(cell& to, const envelope* e, promise_base& request) noexcept {
  base::error why = exception_as_error(to.name());
  if (request.pending()) return request.fail(std::move(why));
  undelivered lost;
  lost.receiver = to.id();
  lost.type = e->type->name;
  lost.descriptor = e->type;
  lost.content = e;
  lost.reason = std::move(why);
  to.env().dead_letter(lost);
}

/// Sends g's answer to f, together with the duty to answer the requester.
class pipe_continuation final : public continuation {
 public:
  [[nodiscard]] static continuation* make(promise_base request, any_ref f) {
    return ::new (base::block_pool::allocate(sizeof(pipe_continuation)))
        pipe_continuation(std::move(request), std::move(f));
  }
  void on_response(cell& self, envelope* e) override {
    if (e->is(envelope_flag::failure))
      respond_error(promise_access::take(request_), *static_cast<const base::error*>(e->raw()));
    else
      pass_on(self, e);
    abandon();
  }
  void abandon() noexcept override {
    this->~pipe_continuation();
    base::block_pool::deallocate(this, sizeof(pipe_continuation));
  }

 private:
  pipe_continuation(promise_base request, any_ref f) noexcept
      : request_(std::move(request)), f_(std::move(f)) {}
  ~pipe_continuation() = default;

  void pass_on(cell& self, envelope* e) {
    envelope* next = nullptr;
    try {
      next = forward_content(e);
    } catch (...) { return fail_on_the_way(target_of(f_), e, request_); }
    cell& to = target_of(f_);
    const pending_request request = promise_access::take(request_);
    if (request.requester != nullptr) return hand_on(request, to, next);
    next->sender_id = self.id();
    to.deliver(next);
  }

  promise_base request_;
  any_ref f_;
};

/// The only case of a pipe's behavior: takes every message.
struct pipe_case {
  using garrick_case = void;
  using answer = void;  // f answers, not this case
  any_ref f;
  any_ref g;
  bool try_invoke(cell& self, envelope* e) {
    promise_base request(take_current_request(self));
    envelope* next = nullptr;
    try {
      next = forward_content(e);
    } catch (...) {
      fail_on_the_way(target_of(g), e, request);
      return true;
    }
    const std::uint64_t id = send_request(self, target_of(g), next);
    attach_continuation(self, id, pipe_continuation::make(std::move(request), f), false);
    return true;
  }
};

class pipe_actor final : public dynamic_actor {
 public:
  pipe_actor(any_ref f, any_ref g) { become(behavior(pipe_case{std::move(f), std::move(g)})); }
};

any_ref handle_to(cell& c) {
  c.add_strong();
  return handle_access::adopt<any_protocol>(&c);
}

class first_part final : public continuation {
 public:
  struct state {
    std::size_t left;
    promise_base whole;
    base::error last;  ///< the error for the whole; `not_handled` only if no part had another
  };
  [[nodiscard]] static continuation* make(std::shared_ptr<state> s) {
    return ::new (base::block_pool::allocate(sizeof(first_part))) first_part(std::move(s));
  }

  void on_response(cell&, envelope* e) override {
    --state_->left;
    if (state_->whole.pending()) {
      base::error why;
      if (e->is(envelope_flag::failure))
        why = *static_cast<const base::error*>(e->raw());
      else
        why = pass_on(e);
      if (why && (why != base::errc::not_handled || !state_->last)) state_->last = std::move(why);
      if (state_->left == 0 && state_->whole.pending())
        respond_error(promise_access::take(state_->whole), state_->last);
    }
    abandon();
  }
  void abandon() noexcept override {
    this->~first_part();
    base::block_pool::deallocate(this, sizeof(first_part));
  }

 private:
  explicit first_part(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}
  ~first_part() = default;

  /// Answers the whole with this value. Returns an error if the value cannot be moved.
  base::error pass_on(envelope* e) noexcept {
    try {
      envelope* const answer = forward_content(e);
      send_response(promise_access::take(state_->whole), answer);
      return {};
    } catch (...) { return exception_as_error("response"); }
  }

  std::shared_ptr<state> state_;
};

}  // namespace

cell* spawn_pipe(cell& f, cell& g) {
  const spawn_options options{.name = std::string(f.name()) + " * " + std::string(g.name()),
                              .hidden = true};
  any_ref pipe = spawn_class<pipe_actor>(g.env(), nullptr, &options, handle_to(f), handle_to(g));
  return handle_access::release(pipe);
}

void ask_part(cell& self, const handle& to, const message& m, continuation* k) {
  const std::uint64_t id = send_request(self, target_of(to), envelope_of(m));
  if (id != 0) self.ext().pending.at(id).inner = true;
  attach_continuation(self, id, k, false);
}

void ask_first(cell& self, const handle* const* targets, std::size_t count, const message& m,
               pending_request whole) {
  if (count == 0)
    return respond_error(
        whole, base::make_error(base::errc::not_handled, "first_of", "there are no targets"));
  const auto shared =
      std::make_shared<first_part::state>(first_part::state{count, promise_base(whole), {}});
  for (std::size_t i = 0; i < count; ++i) ask_part(self, *targets[i], m, first_part::make(shared));
}

}  // namespace garrick::core::detail
