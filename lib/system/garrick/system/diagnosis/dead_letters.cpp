// Counts dead letters, and passes them on to subscribers that keep up.
#include <garrick/core/message.hpp>
#include <garrick/core/send.hpp>
#include <garrick/system/diagnosis/dead_letters.hpp>

#include <new>

namespace garrick::system {

void dead_letters::subscribe(core::ref<dead_letter_protocol> who) {
  static_cast<void>(core::detail::target_of(who, "subscribe()"));
  const std::lock_guard guard(mutex_);
  subscribers_.push_back(std::move(who));
  anybody_.store(true, std::memory_order_release);  // order: pairs with take
}

void dead_letters::unsubscribe(const core::handle& who) {
  core::ref<dead_letter_protocol> dropped;  // destroyed after the unlock, as it may run code
  const std::lock_guard guard(mutex_);
  for (auto at = subscribers_.begin(); at != subscribers_.end(); ++at) {
    if (!(*at == who)) continue;
    dropped = std::move(*at);
    subscribers_.erase(at);
    break;
  }
}

void dead_letters::count_other(const base::error& reason) noexcept {
  const std::lock_guard guard(mutex_);
  for (other_reason& r : others_)
    if (r.category == reason.category() && r.code == reason.code()) {
      ++r.count;
      return;
    }
  if (others_.size() == most_other_reasons) return;
  try {
    others_.push_back({reason.category(), reason.code(), 1});
  } catch (const std::bad_alloc&) {  // the letter counts only in the sum
  }
}

void dead_letters::keep(const core::undelivered& what) noexcept {
  const std::lock_guard guard(recent_lock_);
  recent_[kept_++ % most_recent] = {what.sender, what.receiver, what.descriptor,
                                    what.reason.category(), what.reason.code()};
}

std::vector<recent_letter> dead_letters::recent() const {
  std::vector<recent_letter> all;
  all.reserve(most_recent);  // before the lock, under which no thread allocates
  const std::lock_guard guard(recent_lock_);
  for (std::uint64_t n = kept_; n != 0 && all.size() != most_recent; --n)
    all.push_back(recent_[(n - 1) % most_recent]);
  return all;
}

void dead_letters::take(const core::undelivered& what) noexcept {
  const bool ours = what.reason.category() == &error_category_of(base::errc::user) &&
                    what.reason.code() < reasons;
  const std::size_t code = ours ? what.reason.code() : 0;
  if (!ours) count_other(what.reason);
  counts_[code].fetch_add(1, std::memory_order_relaxed);  // order: a statistic
  keep(what);
  if (!anybody_.load(std::memory_order_acquire)) return;  // order: pairs with subscribe
  if (what.descriptor == &base::message_type_of<dead_letter>) return;
  try {
    std::vector<core::ref<dead_letter_protocol>> to;
    {
      const std::lock_guard guard(mutex_);
      to = subscribers_;
    }
    dead_letter letter;
    letter.sender = what.sender;
    letter.receiver = what.receiver;
    letter.type = what.type;
    letter.content = core::print_content(what);
    letter.reason = what.reason;
    for (const auto& r : to) {
      core::cell& c = *core::handle_access::get(r);
      if (c.has_ended()) continue;
      if (c.mailbox_length() >= backlog_) {
        suppressed_.fetch_add(1, std::memory_order_relaxed);  // order: a statistic
        continue;
      }
      letter.suppressed = suppressed_.load(std::memory_order_relaxed);  // order: a statistic
      c.deliver_now(core::detail::make_envelope<dead_letter>(letter));
    }
  } catch (...) {
    // order: a statistic; the letter could not be printed or sent, and stays counted
    suppressed_.fetch_add(1, std::memory_order_relaxed);
  }
}

std::uint64_t dead_letters::count(base::errc reason) const noexcept {
  // order: a statistic
  return counts_[static_cast<std::size_t>(reason)].load(std::memory_order_relaxed);
}

std::uint64_t dead_letters::count(const base::error& reason) const {
  if (reason.category() == &error_category_of(base::errc::user))
    return reason.code() < reasons ? count(static_cast<base::errc>(reason.code())) : 0;
  const std::lock_guard guard(mutex_);
  for (const other_reason& r : others_)
    if (r.category == reason.category() && r.code == reason.code()) return r.count;
  return 0;
}

std::uint64_t dead_letters::count() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& c : counts_) sum += c.load(std::memory_order_relaxed);  // order: a statistic
  return sum;
}

void dead_letters::close() noexcept {
  std::vector<core::ref<dead_letter_protocol>> dropped;
  const std::lock_guard guard(mutex_);
  anybody_.store(false, std::memory_order_relaxed);  // order: late letters are counted only
  dropped.swap(subscribers_);
}

}  // namespace garrick::system
