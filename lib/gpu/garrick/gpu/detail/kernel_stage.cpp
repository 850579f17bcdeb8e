#include "garrick/gpu/detail/kernel_stage.hpp"

#include <garrick/base/memory/shared_as.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace garrick::gpu::detail {

kernel_stage_actor::kernel_stage_actor(stage_seed s)
    : kernel_base(std::move(s.kernel), *s.facts), under_way_(s.under_way) {}

kernel_stage_actor::~kernel_stage_actor() {
  for (entry& e : waiting_)
    if (e.is == state::under_way) e.its_call->abandon();
}

void kernel_stage_actor::begin(std::unique_ptr<stage_call> next) {
  const std::shared_ptr<stage_call> c = std::move(next);
  waiting_.push_back({hold(), c});
  error why;
  try {
    why = prepare(*c, std::nullopt);
    if (!why) return launch(*this, c);
  } catch (...) {
    if (waiting_.empty() || waiting_.back().its_call != c)
      throw;  // the tuple has left the queue, so no failure of it can be reported
    try {
      why = thrown_by("a tuple", where());
    } catch (...) {
      waiting_.pop_back();
      throw;
    }
  }
  settled(c, why);
}

void kernel_stage_actor::settled(const std::shared_ptr<call>& c, const error& why) {
  // The search is short: the queue has at most as many entries as the stage has holds, and calls
  // end nearly in their order.
  const auto at = std::ranges::find(waiting_, c, &entry::its_call);
  if (at == waiting_.end() || at->is != state::under_way) return;
  at->why = why;
  if (!why) {
    try {
      at->its_call->take_answer();
    } catch (...) { at->why = thrown_by("the answer", where()); }
  }
  at->is = at->why ? state::failed : state::answered;
  while (!waiting_.empty() && waiting_.front().is != state::under_way) {
    const entry oldest = std::move(waiting_.front());
    waiting_.pop_front();
    if (oldest.is == state::answered)
      oldest.its_call->put_out(node(), *this);
    else
      oldest.its_call->lose(node(), oldest.why);
  }
}

kernel_stage_maker::kernel_stage_maker(const patterns::detail::tuple_type& t, stage_seed s)
    : actor_maker(t, {.say_what_failed = false, .restart = true}), seed_(std::move(s)) {}

result<ref<protocol<void(patterns::detail::go), void(patterns::detail::leave)>>>
kernel_stage_maker::make(actor_base& from, const spawn_options& o,
                         patterns::detail::stage_seat seat) const {
  using seated = patterns::detail::seated_actor<kernel_stage_actor, stage_seed>;
  auto made = from.try_spawn<seated>(o, std::move(seat), stage_seed(seed_));
  if (!made) return made.error();
  return ref<protocol<void(patterns::detail::go), void(patterns::detail::leave)>>(*std::move(made));
}

patterns::detail::any_actor_stage stage_of_actors(const kernel_stage_maker* made,
                                                  std::string name) {
  return {.maker = base::shared_as<const patterns::detail::actor_maker>(made),
          .name = std::move(name)};
}

}  // namespace garrick::gpu::detail
