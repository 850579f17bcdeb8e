#include <garrick/net/node/link/internal/questions.hpp>

#include <garrick/core/send.hpp>

#include <utility>

namespace garrick::net::internal {

void questions::ask(std::uint64_t number, core::envelope& e, const signature_codec& s,
                    lane_number lane, base::instant until) {
  numbers_.emplace(asked_by{e.requester->id(), e.id()}, number);
  question& q = open_[number];
  q.request = core::take_request(&e);
  q.signature = &s;
  q.lane = lane;
  q.until = until;
  env_.outside_began();
}

void questions::ask_name(std::uint64_t number, std::unique_ptr<name_answer>& done,
                         const protocol_table& as) {
  question& q = open_[number];
  q.resolved = std::move(done);
  q.expected = &as;
}

questions::place questions::find(const asked_by& who) {
  const auto known = numbers_.find(who);
  return known != numbers_.end() ? open_.find(known->second) : open_.end();
}

questions::question questions::take(place at) {
  question q = std::move(at->second);
  open_.erase(at);
  if (const core::cell* const who = q.request.requester) numbers_.erase({who->id(), q.request.id});
  return q;
}

void questions::answer(question q, base::result<core::envelope*> with) noexcept {
  if (q.resolved != nullptr) return q.resolved->failed(with.error());
  if (q.request.requester == nullptr) return;
  if (with)
    core::detail::send_response(q.request, *with);
  else if (with.error() == base::errc::timeout && q.until <= env_.clock->now())
    // The stack or the other node has reported the time-out just before the requester's own clock.
    core::respond_timed_out(q.request);
  else
    core::respond_error(q.request, with.error());
  env_.outside_ended();
}

void questions::withdraw(const question& q) noexcept {
  q.request.requester->drop_strong();
  env_.outside_ended();
}

void questions::end(const base::error& why) noexcept {
  for (auto& [number, q] : std::exchange(open_, {})) answer(std::move(q), why);
  numbers_.clear();
}

}  // namespace garrick::net::internal
