#include <garrick/net/node/internal/remote_cell.hpp>

#include <garrick/core/cell/handle.hpp>
#include <garrick/core/cell/respond.hpp>
#include <garrick/core/cell/running_cell.hpp>
#include <garrick/core/cell/signals.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/internal/link_port.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace garrick::net::internal {

namespace {

/// A message or a signal that visits a link: if the visit is not made, its sender is told.
template <bool IsSignal>
class parcel {
 public:
  parcel(remote_cell& to, core::envelope_ptr e) noexcept
      : keeps_(to.address()), to_(&to), e_(std::move(e)) {}
  parcel(parcel&&) noexcept = default;
  parcel& operator=(parcel&&) = delete;
  ~parcel() {
    if (e_ == nullptr) return;
    constexpr std::string_view why = "the link to its node is over, or has no room";
    if constexpr (IsSignal)
      to_->lost_signal(e_, base::make_error(net_errc::node_down, to_->name(), why));
    else
      to_->lost(std::move(e_), base::make_error(base::errc::not_handled, to_->name(), why));
  }
  [[nodiscard]] remote_cell& to() const noexcept { return *to_; }
  [[nodiscard]] core::address take_address() noexcept { return std::move(keeps_); }
  [[nodiscard]] core::envelope_ptr take() noexcept { return std::move(e_); }

 private:
  core::address keeps_;
  remote_cell* to_;
  core::envelope_ptr e_;
};

/// Messages wait in a line that has an end. What was asked for, and what is said about lives, does
/// not count there: the tables of both ends bound it, and nobody could answer for it if it was
/// lost.
enum class line : bool { with_an_end, without };

template <class F>
void visit(const connection& link, line where, F f) noexcept {
  auto visit = [f = std::move(f)](hosted& h) mutable { f(static_cast<link_port&>(h)); };
  try {
    static_cast<void>(where == line::without ? link.insist(std::move(visit))
                                             : link.run(std::move(visit)));
  } catch (const std::exception&) {
    // No memory for a visit in line: it goes as one to a link that has ended.
  }
}

}  // namespace

// Those that were withdrawn do not count among the open ones, and an actor may keep them for long.
answering_cell::answering_cell(core::environment& env, connection link, const node_settings& s)
    : proxy_cell(env), link_(std::move(link)), wanted_(2 * std::size_t{s.most_questions}) {
  need_credit(s.most_under_way, s.patience);
}

void answering_cell::take_credit() noexcept { core::running_cell::take_or_owe(*this); }

void answering_cell::forward(core::envelope_ptr e, base::instant) noexcept {
  if (!e->is(core::envelope_flag::response)) return;  // nobody has a handle to send anything else
  visit(link_, line::without, [e = std::move(e)](link_port& l) mutable { l.answer(std::move(e)); });
}

void answering_cell::forward_signal(core::envelope_ptr e) noexcept {
  if (e->type != &base::message_type_of<core::signals::handed_on>) return;
  visit(link_, line::without, [e = std::move(e)](link_port& l) {
    const auto& h = *static_cast<const core::signals::handed_on*>(e->raw());
    l.handed_on(h.request(), h.proxy());
  });
}

remote_cell::remote_cell(connection link, answering_cell& link_credit, const actor_id& id,
                         base::duration patience)
    : proxy_cell(link_credit.env()), link_(std::move(link)), link_credit_(link_credit), id_(id) {
  need_credit(first_credit, patience);
  link_credit.add_strong();
}

void remote_cell::seen_as(const protocol_table& t) {
  if (std::find(tables_.begin(), tables_.end(), &t) == tables_.end()) tables_.push_back(&t);
}

const signature_codec* remote_cell::by_content(const base::message_type* m) const noexcept {
  for (const protocol_table* t : tables_)
    if (const signature_codec* const s = t->by_content(m)) return s;
  return nullptr;
}

const signature_codec* remote_cell::by_type(std::uint64_t type) const noexcept {
  for (const protocol_table* t : tables_)
    if (const signature_codec* const s = t->by_type(type)) return s;
  return nullptr;
}

void remote_cell::forward(core::envelope_ptr e, base::instant until) noexcept {
  link_credit_.take_credit();
  visit(link_, line::with_an_end,
        [p = parcel<false>(*this, std::move(e)), until](link_port& l) mutable {
          l.send(p.to(), p.take_address(), p.take(), until);
        });
}

void remote_cell::overdue(const core::envelope_ptr& e) noexcept {
  link_credit_.give_back(1);
  grant(1);
  core::respond_timed_out(core::take_request(e.get()));
}

void remote_cell::forward_signal(core::envelope_ptr e) noexcept {
  visit(link_, line::without, [p = parcel<true>(*this, std::move(e))](link_port& l) mutable {
    l.signal(p.to(), p.take());
  });
}

void remote_cell::lost_signal(const core::envelope_ptr& e, const base::exit_reason& why) noexcept {
  if (link_.is_over()) {
    end(why);
    return answer_as_ended(e);
  }
  if (e->type != &base::message_type_of<core::signals::watch>) return;
  const auto& w = *static_cast<const core::signals::watch*>(e->raw());
  if (w.monitor != 0)
    tell_down(w.watcher, address(), why, w.monitor);
  else
    tell_exit(w.watcher, address(), why);
}

void remote_cell::nobody_holds_it() noexcept {
  visit(
      link_, line::without,
      [keeps = core::handle_access::make_address(this), this](link_port& l) { l.released(*this); });
}

}  // namespace garrick::net::internal
