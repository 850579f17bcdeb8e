// A request to a data-parallel pattern: the work to be done, and the receiver of the result.
// Several actors work on it at once.
//
// An actor takes part for about a millisecond at a time; then others have a turn on its worker. The
// actor that was asked stops earlier if another request comes meanwhile.
//
// Private: installed because templates need it.
//
// Thread safety: `take_part` and `failed` may be called by several threads at once.
//
// Invariants
// W1 `end` is called once, by the thread that finishes the last part, when no part is being worked
//    on. Other threads may still be about to find that nothing is left, or be calling helpers.
// W2 After a failure the remaining parts are counted and not worked on.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/garrick.hpp>
#include <garrick/patterns/team/shares.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// Returns the text of the exception being handled.
[[nodiscard]] std::string what_was_thrown();
/// Returns the text of `why`.
[[nodiscard]] std::string what_was_thrown(const std::exception_ptr& why);

/// The place of a participant in the work.
struct seat {
  std::size_t who = 0;     ///< its number among the participants
  piece begun{};           ///< the rest of the piece that it works on
  std::size_t block = 1;   ///< the number of elements in its next block
  bool was_asked = false;  ///< it is the actor that was asked, and has to begin further requests
};

class shared_work;
/// Tells a participant to begin this work or, without work, to go on.
struct work_on {
  using garrick_sendable = void;
  using garrick_unreported = void;  ///< the others do the work
  std::shared_ptr<shared_work> work;
  seat at;
};
/// The handle of a participant. A participant's number is the index of its handle.
using hand = ref<protocol<void(work_on)>>;

/// The time of an element in picoseconds; 0: not yet known. Requests for the same function share
/// it.
using pace = std::atomic<std::uint64_t>;

/// The approximate cost of waking a helper. For less work than that a helper is of no use.
inline constexpr std::uint64_t wake_up_ns = 20'000;

/// Work that several actors share.
class shared_work : public std::enable_shared_from_this<shared_work> {
 public:
  virtual ~shared_work() = default;
  shared_work(const shared_work&) = delete;
  shared_work& operator=(const shared_work&) = delete;

  /// Works for a while, on a turn of `on`. Returns true if work was left for lack of time.
  [[nodiscard]] virtual bool take_part(seat& at, actor_base& on) noexcept = 0;
  /// Returns the number of its elements. With zero, only `end_at_once` is called.
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  /// Returns how many elements are worked on in all; an element that is worked on twice counts
  /// twice.
  [[nodiscard]] virtual std::uint64_t steps() const noexcept { return size(); }
  /// Returns how many participants could begin with it at once.
  [[nodiscard]] virtual std::size_t most_hands() const noexcept = 0;
  /// Sets the participants, of which the first `begin` take part from the start, and the actor that
  /// was asked, which stays until the end. With `takes_part`, it is also the first of `all`.
  virtual void belongs_to(std::vector<hand> all, std::size_t begin, hand asked, bool takes_part) {
    others_ = std::move(all);
    told_ = begin;
    asked_ = std::move(asked);
    asked_takes_part_ = takes_part;
  }
  /// Returns the place where participant `who` begins.
  [[nodiscard]] seat seat_of(std::size_t who, std::size_t block = 1) const noexcept {
    return {.who = who, .begun = {}, .block = block, .was_asked = who == 0 && asked_takes_part_};
  }
  /// Tells the participants that do not know of the work yet, if it has taken longer than a wake-up
  /// costs. Called on a turn of the actor that was asked, if a turn has not finished the work.
  void tell_others();
  /// Gives the work up, because its result is no longer wanted: the rest is left undone.
  void give_up() noexcept {
    has_failed_.store(true, std::memory_order_relaxed);  // order: relaxed: a hint
  }
  /// Sets the place where the time of an element is noted at the end.
  void notes_pace_in(std::shared_ptr<pace> to) noexcept { pace_ = std::move(to); }
  /// Ends work that has nothing to do.
  void end_at_once() noexcept { ended(); }

 protected:
  /// `name` is for errors.
  explicit shared_work(std::string name) : name_(std::move(name)) {}

  /// Called when everything is done.
  virtual void end() noexcept = 0;
  /// Calls `end`, on the turn of the actor that has finished the last part.
  void ended() noexcept;
  /// Adds time that was spent on the work.
  void spent(std::int64_t ns) noexcept {
    // order: relaxed: the count of the parts orders it
    busy_ns_.fetch_add(static_cast<std::uint64_t>(ns), std::memory_order_relaxed);
  }
  /// Returns the nanoseconds spent on the work so far. A hint.
  [[nodiscard]] std::uint64_t spent() const noexcept {
    return busy_ns_.load(std::memory_order_relaxed);  // order: relaxed: a hint
  }
  /// Records that the exception being handled was thrown at that place, for example at "element 7".
  /// The first call counts.
  void failed(const char* where, std::size_t number) noexcept;
  /// Returns true if a part has failed. A hint until the end.
  [[nodiscard]] bool has_failed() const noexcept {
    return has_failed_.load(std::memory_order_relaxed);  // order: relaxed: a hint
  }
  /// Returns the failure; no error if there is none. Called after the end.
  [[nodiscard]] const error& failure() const noexcept { return why_; }
  /// Returns the error for the exception being handled, which was thrown when the result was made.
  [[nodiscard]] error why_no_result() const noexcept;

 private:
  const std::string name_;
  hand asked_;
  bool asked_takes_part_ = false;  ///< does not change
  std::vector<hand> others_;       ///< used on turns of the actor that was asked
  std::size_t told_ = 0;           ///< this many of them know of the work
  std::atomic<bool> has_failed_{false};
  error why_;  ///< written by the thread that has set `has_failed_`, read after the end
  std::shared_ptr<pace> pace_;
  std::atomic<std::uint64_t> busy_ns_{0};
};

/// Tells the actor of a stage that its work has ended.
template <class Out>
struct work_done;

/// The receiver of the result of work, an Out.
template <class Out>
class awaited_work {
 public:
  virtual ~awaited_work() = default;
  awaited_work(const awaited_work&) = delete;
  awaited_work& operator=(const awaited_work&) = delete;

  /// Lets `p` get the result or the failure.
  void answers(response_promise<Out> p) noexcept { promise_ = std::move(p); }
  /// Lets `stage`, the actor of a stage, be told of the end instead. It then calls `outcome`.
  void answers(ref<protocol<void(work_done<Out>)>> stage) noexcept { stage_ = std::move(stage); }
  /// Returns the result or the failure. Called once, after the end.
  [[nodiscard]] virtual result<Out> outcome() = 0;
  /// Returns this object, as its other base.
  [[nodiscard]] virtual shared_work& work() noexcept = 0;

 protected:
  awaited_work() = default;
  response_promise<Out> promise_;
  ref<protocol<void(work_done<Out>)>> stage_;
};

/// Work of the kind Work with an Out as its result.
template <class Out, class Work>
class answered_work : public Work, public awaited_work<Out> {
 public:
  [[nodiscard]] result<Out> outcome() final {
    if (this->failure()) return this->failure();
    try {
      return take();
    } catch (...) { return this->why_no_result(); }
  }
  [[nodiscard]] shared_work& work() noexcept final { return *this; }

 protected:
  using Work::Work;
  /// Returns the result. Called once.
  virtual Out take() = 0;
  void end() noexcept final {
    if (this->has_failed() && !this->failure()) return;  // given up
    if (this->stage_) {
      // A lack of memory for the message ends the program: otherwise the stage would wait for ever.
      const std::shared_ptr<awaited_work<Out>> me(this->shared_from_this(), this);
      return send(std::exchange(this->stage_, {}), work_done<Out>{me});
    }
    try {
      if (result<Out> r = outcome())
        this->promise_.deliver(std::move(r).value());
      else
        this->promise_.fail(r.error());
    } catch (...) {  // no memory for the answer
      this->promise_.fail(this->why_no_result());
    }
  }
};

/// Shares new work by its awaited part; see base::shared_as.
template <class Out>
[[nodiscard]] std::shared_ptr<awaited_work<Out>> share_work(awaited_work<Out>* made) {
  return {base::shared_as<shared_work>(&made->work()), made};
}

template <class Out>
struct work_done {
  using garrick_sendable = void;
  using garrick_unreported = void;  ///< an actor that has ended has given the work up
  std::shared_ptr<awaited_work<Out>> what;
};

}  // namespace garrick::patterns::detail
