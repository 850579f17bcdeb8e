// Answers that leave in the order of their requests, for each sender (G6 of
// docs/decisions/0012-gpu.md).
//
// Private: installed because templates need it.
//
// Invariants
// O1 A sender is in the table exactly while it has an unanswered request, so these requests bound
//    the table.
// O2 The oldest request of a sender is unsettled, except while `settle` runs.
//
// Thread safety: one actor's turns.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/gpu/detail/kernel_base.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace garrick::gpu::detail {

/// The result type of a request with these values.
template <class... As>
struct answer_for {
  using type = result<As...>;
};
template <>
struct answer_for<> {
  using type = result<void>;
};
template <class... As>
using answer_of = typename answer_for<As...>::type;

/// The place of a request among those of its sender.
struct ticket {
  std::uint64_t sender = 0;
  std::uint64_t number = 0;
};

/// A request's call.
class placed_call : public kernel_call {
 public:
  ticket place;
};

/// Fulfils a promise with a result. Never throws: if memory for the answer is short, the answer is
/// an error.
template <class... As>
void fulfil(response_promise<As...>&& p, answer_of<As...>&& r) noexcept {
  if (!r) return p.fail(r.error());
  try {
    if constexpr (sizeof...(As) == 0)
      p.deliver();
    else if constexpr (sizeof...(As) == 1)
      p.deliver(*std::move(r));
    else
      std::apply([&](auto&&... xs) { p.deliver(std::forward<decltype(xs)>(xs)...); },
                 *std::move(r));
  } catch (...) { p.fail(make_error(errc::receiver_failed, "no memory for the answer")); }
}

/// The answers of one actor, each sender's in the order of its requests.
template <class... As>
class ordered_answers {
 public:
  ordered_answers() = default;
  ordered_answers(const ordered_answers&) = delete;
  ordered_answers& operator=(const ordered_answers&) = delete;
  /// Abandons the calls that are under way.
  ~ordered_answers() {
    for (auto& [sender, l] : senders_)
      for (slot& s : l.slots)
        if (s.under_way != nullptr) s.under_way->abandon();
  }

  /// Adds the newest request of this sender, and returns its ticket.
  [[nodiscard]] ticket enter(std::uint64_t sender, response_promise<As...> p) {
    lane& l = senders_[sender];
    l.slots.push_back({std::move(p), nullptr, {}});
    return {sender, l.first + l.slots.size() - 1};
  }
  /// Records the call that will settle the request.
  void waits_for(const ticket& t, std::shared_ptr<call> c) {
    if (slot* const s = find(t)) s->under_way = std::move(c);
  }
  /// Sets the answer of a request, and sends it as soon as the sender's older requests have been
  /// answered.
  void settle(const ticket& t, answer_of<As...> r) {
    slot* const s = find(t);
    if (s == nullptr || s->answer) return;
    s->answer.emplace(std::move(r));
    s->under_way.reset();
    const auto at = senders_.find(t.sender);
    for (lane& l = at->second; !l.slots.empty() && l.slots.front().answer; ++l.first) {
      slot oldest = std::move(l.slots.front());
      l.slots.pop_front();
      fulfil<As...>(std::move(oldest.promise), *std::move(oldest.answer));
    }
    if (at->second.slots.empty()) senders_.erase(at);
  }
  /// Returns the number of senders with unanswered requests.
  [[nodiscard]] std::size_t senders() const noexcept { return senders_.size(); }

 private:
  struct slot {
    response_promise<As...> promise;
    std::shared_ptr<call> under_way;
    std::optional<answer_of<As...>> answer;
  };
  struct lane {
    std::deque<slot> slots;
    std::uint64_t first = 0;  ///< the number of slots.front()
  };

  slot* find(const ticket& t) noexcept {
    const auto at = senders_.find(t.sender);
    if (at == senders_.end() || t.number < at->second.first) return nullptr;
    const std::uint64_t i = t.number - at->second.first;
    return i < at->second.slots.size() ? &at->second.slots[static_cast<std::size_t>(i)] : nullptr;
  }

  std::map<std::uint64_t, lane> senders_;
};

}  // namespace garrick::gpu::detail
