// The end of a loop, its way back, and its gate (feedback.hpp).
#include <garrick/patterns/feedback.hpp>

#include <algorithm>
#include <exception>

namespace garrick::patterns::detail {

// ---- the end of a loop

loop_end::loop_end(loop& l, std::unique_ptr<output> on) : loop_(l), on_(std::move(on)) {}

void loop_end::take_back() noexcept {
  if (fresh_) return;
  on_->take_back();
  back_->take_back();
  blocked_ = on_->is_blocked();
}

std::size_t loop_end::pending() const noexcept { return on_->pending() + back_->pending(); }

std::size_t loop_end::publish(turn& t) {
  // Results that go on have left the loop, even while they find no room: in a loop around this one,
  // that room may come only when this loop's gate opens.
  const std::size_t going = on_->pending();
  if (going != gone_) loop_.remove(going - gone_);
  const std::size_t left = going == 0 ? 0 : on_->publish(t);
  gone_ = on_->pending();
  blocked_ = on_->is_blocked();
  return left + (back_->pending() == 0 ? 0 : back_->publish(t));
}

bool loop_end::sleep() noexcept {
  const bool on_sleeps = on_->sleep();
  return back_->sleep() && on_sleeps;
}

std::size_t loop_end::close(turn& t) noexcept { return on_->close(t) + back_->close(t); }
std::size_t loop_end::waiting() noexcept { return on_->waiting(); }
bool loop_end::is_unwanted() noexcept { return on_->is_unwanted(); }

namespace {

class way_back final : public loose_end {
 public:
  way_back(loop_end& end, node& producer, std::shared_ptr<any_inlet_ptr> entrance, loop& l)
      : end_(end), producer_(producer), entrance_(std::move(entrance)), loop_(l) {}
  void connect() override { end_.back_to((*entrance_)->connect(producer_, &loop_)); }

 private:
  loop_end& end_;
  node& producer_;
  std::shared_ptr<any_inlet_ptr> entrance_;
  loop& loop_;
};

}  // namespace

loop_inlet::loop_inlet(loop& l, any_inlet_ptr on,
                       std::vector<std::unique_ptr<loose_end>>& loose_ends)
    : loop_(l),
      on_(std::move(on)),
      loose_ends_(loose_ends),
      entrance_(std::make_shared<any_inlet_ptr>()) {}

std::unique_ptr<output> loop_inlet::connect(node& producer, const loop* back_edge) {
  std::unique_ptr<loop_end> made = end_of(loop_, on_->connect(producer, back_edge));
  loose_ends_.push_back(std::make_unique<way_back>(*made, producer, entrance_, loop_));
  return made;
}

// ---- the gate of a loop

gate_node::gate_node(graph& of, const node_options& o, const stage_type& type,
                     const void* prototype, const tuple_type& takes, loop& l)
    : reading_node(of, o, on_failure::fail, type, prototype, takes), loop_(l) {
  l.gated_by(*this);
}

step_outcome gate_node::step(turn& t) {
  if (!catches_up(t)) return blocked();
  start();
  if (out_->is_unwanted()) in_.leave();
  const std::size_t credits = loop_.credits();
  if (credits == 0) {
    loop_.gate_sleeps();
    return loop_.has_enough_credits() ? step_outcome::worked : step_outcome::blocked;
  }
  const some_tuples batch = in_.next(std::min(credits, this->batch()));
  if (batch.empty()) return nothing(t);
  const std::size_t before = out_->pending();
  stage_batch b{.first = batch.first, .size = batch.count, .stream = stream()};
  std::exception_ptr bad_route;
  try {
    while (b.done < b.size) {  // also without room: these tuples are within the credits
      out_->begin_input();
      type().consume(stage(), b, *out_);
    }
  } catch (...) {
    bad_route = std::current_exception();
    out_->take_back();
    count_failure();
    ++b.done;
  }
  const std::size_t n = b.done;
  count_in(n);
  const std::size_t put = out_->pending() - before;  // more than n if each goes to several
  into_loops(put);
  loop_.add(put);
  const bool all = publish(t);
  in_.done(n);
  out_of_loops(n);
  if (bad_route) std::rethrow_exception(bad_route);
  return all ? step_outcome::worked : blocked();
}

step_outcome gate_node::nothing(turn& t) {
  if (!in_.ended()) return in_.sleep() ? step_outcome::starved : step_outcome::worked;
  loop_.gate_sleeps();
  if (!loop_.is_empty()) {
    if (loop_.stands_still()) loop_.flush();
    return step_outcome::starved;
  }
  loop_.end();
  stop();
  return ended(t);
}

any_inlet_ptr gate_of_loop(const builder& b, loop& l, loop_inlet& end,
                           const any_inlet_ptr& entrance, const stage_type& type,
                           const void* prototype, const tuple_type& takes) {
  end.enters(entrance);
  auto& gate = b.to.add_node<gate_node>(b.node("gate"), type, prototype, takes, l);
  gate.to(entrance->connect(gate));
  return inlet_of(gate, gate.in(), b.options.capacity);
}

}  // namespace garrick::patterns::detail
