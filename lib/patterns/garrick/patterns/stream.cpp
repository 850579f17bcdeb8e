#include <garrick/patterns/stream.hpp>

#include <stdexcept>
#include <string>

namespace garrick::patterns::detail {

void check(const stream_options& o) {
  if (o.capacity == 0 || o.capacity > (std::size_t{1} << 20))
    throw std::invalid_argument("garrick: stream_options::capacity is " +
                                std::to_string(o.capacity) + "; allowed are 1 to 2^20 tuples");
  if (o.replicas > most_replicas)
    throw std::invalid_argument("garrick: stream_options::replicas is " +
                                std::to_string(o.replicas) + "; allowed are at most " +
                                std::to_string(most_replicas));
}

stream_run::stream_run(std::shared_ptr<const any_pattern> pattern, const stream_options& o)
    : pattern_(std::move(pattern)), options_(o) {
  check(o);
}

stream_run::~stream_run() = default;

void stream_run::start(actor_base& self, told_of_end told, const tuple_type* takes, fed_by by) {
  auto made = std::make_shared<graph>();
  std::vector<std::unique_ptr<loose_end>> loose_ends;
  const builder b{
      .to = *made, .options = options_, .workers = self.workers(), .loose_ends = &loose_ends};
  const any_inlet_ptr in = pattern_->build(b);
  if (takes != nullptr) {
    feeder_ = &made->add_node<feeder_node>(node_options{.name = "input", .in_place = false}, *takes,
                                           most_kept * options_.capacity, std::move(by));
    feeder_->to(in->connect(*feeder_));
  }
  for (const auto& l : loose_ends) l->connect();
  made->launch(self, std::move(told));
  graph_ = std::move(made);  // last: `exit` leaves a graph alone that was not launched
}

void stream_run::exit(const exit_reason& why) {
  if (graph_ == nullptr) return;
  if (feeder_ != nullptr) feeder_->feeder_ended();
  if (!why.is_normal() && why.code() != exit_code::unreachable)
    graph_->cancel(make_error(errc::cancelled, "stream", why.to_string()));
}

error stream_run::feed(void* tuple, actor_base& self) {
  if (error why = refuses()) return why;
  feeder_->put(tuple, self);
  return {};
}

void stream_run::finish() {
  if (!std::exchange(finished_, true)) feeder_->finish();
}

void stream_run::run_feeder(actor_base& self) {
  if (feeder_->take_go()) feeder_->run(self, nullptr);
}

void stream_run::cancel() {
  if (!ended_) graph_->cancel(make_error(errc::cancelled, "stream", "it was cancelled"));
}

stream_report stream_run::report() const {
  stream_report r = report_of(*graph_, left_);
  r.ended = ended_;
  return r;
}

bool stream_run::ends(const all_ended& e,
                      void (*deliver)(core::promise_base& to, const void* value)) {
  if (graph_ == nullptr || e.stream != graph_->number()) return false;
  ended_ = true;
  for (const auto& n : graph_->nodes()) left_ += n->drop_inputs();
  for (auto& w : waiting_) {
    if (error why = graph_->failure())
      w.fail(std::move(why));
    else
      deliver(w, graph_->value().get());
  }
  waiting_.clear();
  return true;
}

exit_reason stream_run::why() const {
  const error why = graph_->failure();
  return why ? exit_reason(why) : exit_reason();
}

error stream_run::refuses() const {
  // A stream that does not stay has taken this tuple out of its mailbox, so the tuple is in the
  // stream. If the stream has failed since, the tuple is lost with it.
  if (options_.stays && (finished_ || ended_ || graph_->is_cancelled()))
    return make_error(errc::not_handled, "stream", "the stream has ended");
  if (feeder_->is_full())
    return make_error(errc::overload, "stream",
                      "it is too slow: " + std::to_string(most_kept * options_.capacity) +
                          " tuples wait for room in its first channel");
  return {};
}

}  // namespace garrick::patterns::detail
