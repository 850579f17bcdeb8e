// The open questions of this end to the peer: requests of local actors, and names.
//
// When a request is encoded, it leaves its envelope and goes into this table, also while the stack
// has not taken its frame yet. It ends here in one of four ways: the peer answers, the stack or the
// link gives it up, its time is over, or its requester withdraws it.
//
// Invariants
// Q1 A question is open from the moment when it leaves its envelope until it is answered or
//    withdrawn. Exactly one of the two happens to it, once (N1 of decision 0010).
// Q2 A requester's number for its request is known exactly while that request is open. So the
//    requester can withdraw it by this number.
// Q3 While a request is open, its answer is due from outside of its system (`outside_began`).
//
// Thread safety: for the thread in the link.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/seam/answers.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/core/seam/environment.hpp>
#include <garrick/net/layer/layer.hpp>
#include <garrick/net/node/name_answer.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/node/proxy/internal/peer_hash.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace garrick::net::internal {

/// The open questions of one link.
class questions {
 public:
  struct question {
    core::pending_request request;                 ///< of a local actor; or
    std::unique_ptr<name_answer> resolved;         ///< the caller of `resolve` or `spawn`
    const signature_codec* signature = nullptr;    ///< of a request
    const protocol_table* expected = nullptr;      ///< of a name, or of a spawned actor
    lane_number lane = 1;                          ///< of the request
    base::instant until = base::instant::never();  ///< the limit of the request, if it is known
  };
  /// A local requester, and its number for its request.
  struct asked_by {
    std::uint64_t requester = 0;
    std::uint64_t request = 0;
    bool operator==(const asked_by&) const = default;
  };
  using place = std::unordered_map<std::uint64_t, question>::iterator;

  /// `hash` has a secret: other peers choose the numbers of requests that this node passes on.
  questions(core::environment& env, const peer_hash& hash)
      : env_(env), numbers_(0, asked_by_hash{hash}) {}
  questions(const questions&) = delete;
  questions& operator=(const questions&) = delete;

  /// Takes a request out of its envelope, and opens the question.
  void ask(std::uint64_t number, core::envelope& e, const signature_codec& s, lane_number lane,
           base::instant until);
  /// Opens a question for a named actor, or for an actor of a named type. Takes `done`.
  void ask_name(std::uint64_t number, std::unique_ptr<name_answer>& done, const protocol_table& as);

  /// Returns the place of the question with this number, or a place that is not open.
  [[nodiscard]] place find(std::uint64_t number) { return open_.find(number); }
  [[nodiscard]] bool is_open(place at) { return at != open_.end(); }
  /// Returns true if the place is an open question of `ask_name`.
  [[nodiscard]] bool is_name(place at) { return is_open(at) && at->second.resolved != nullptr; }
  [[nodiscard]] place find(const asked_by& who);
  /// Removes a question, which the caller answers or withdraws.
  [[nodiscard]] question take(place at);
  /// Passes the answer, or an error, to the requester. Takes the envelope.
  void answer(question q, base::result<core::envelope*> with) noexcept;
  /// Ends a request without an answer, since its requester does not want one any more.
  void withdraw(const question& q) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
  /// Answers all open questions with `why`.
  void end(const base::error& why) noexcept;

 private:
  struct asked_by_hash {
    peer_hash of;
    std::size_t operator()(const asked_by& a) const noexcept {
      return of(watch_key{{}, a.requester, a.request});
    }
  };

  core::environment& env_;
  std::unordered_map<std::uint64_t, question> open_;
  std::unordered_map<asked_by, std::uint64_t, asked_by_hash> numbers_;  // of requests in open_
};

}  // namespace garrick::net::internal
