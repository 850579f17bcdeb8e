#include <garrick/patterns/detail/panes.hpp>

#include <algorithm>

namespace garrick::patterns::detail {

pane_windows_base::pane_windows_base(const cut_times& times, time_map::destroy_function destroy)
    : times_(times), panes_(destroy) {}
pane_windows_base::pane_windows_base(const pane_windows_base& o)
    : times_(o.times_), panes_(o.panes_.as_empty()) {}
pane_windows_base::pane_windows_base(pane_windows_base&& o) noexcept = default;
pane_windows_base::~pane_windows_base() = default;

pane_windows_base::found_pane pane_windows_base::look_for_pane(std::int64_t t) noexcept {
  const std::int64_t begin = begin_of_pane(t);
  if (last_end(begin) <= watermark_) return {nullptr, true};
  auto* const there = static_cast<any_pane*>(panes_.find(begin));
  if (there != nullptr) here_ = there;
  return {there};
}

void pane_windows_base::add_pane(any_pane* p) {
  panes_.add(p);
  here_ = p;
  // the end of the first open window that the pane is in
  next_ = std::min(next_, end_behind(std::max(p->at, std::max(watermark_, -2 * most_time))));
}

std::int64_t pane_windows_base::end_behind(std::int64_t t) const noexcept {
  return floor_to(t - times_.length, times_.slide) + times_.slide + times_.length;
}

void pane_windows_base::forget_done(window_counts& counts) noexcept {
  while (!panes_.empty() && last_end(panes_.first()->at) <= end_) {
    const any_pane& p = *static_cast<any_pane*>(panes_.first());
    counts.lose(p.fresh);
    pieces_ -= p.pieces;
    panes_.erase_first();
  }
  next_ = panes_.empty() ? no_time : end_behind(std::max(end_, panes_.first()->at));
}

void pane_windows_base::forget_all() noexcept {
  panes_.clear();
  pieces_ = 0;
  here_ = nullptr;
  next_ = no_time;
}

void pane_windows_base::is_bad(std::size_t number) {
  bad_.push_back({number, std::current_exception()});
}

void pane_windows_base::rethrow_if_bad(std::size_t number) const {
  for (const auto& [which, why] : bad_)
    if (which == number) std::rethrow_exception(why);
}

}  // namespace garrick::patterns::detail
